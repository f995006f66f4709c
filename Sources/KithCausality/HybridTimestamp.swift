/// A hybrid timestamp: 48 bits of milliseconds since 1970, then 16 bits of counter.
///
/// Later than everything its author had seen. It chooses which of several *concurrent* writes is shown;
/// it never decides what supersedes what. See Kulkarni et al., "Logical Physical Clocks", 2014.
public struct HybridTimestamp: Hashable, Sendable, Comparable {
    /// The 64 bits; order of timestamps is order of raw values.
    public let rawValue: UInt64

    /// Earlier than every commit.
    package static let zero = HybridTimestamp(rawValue: 0)

    /// The first timestamp of the year 2200. One at or past it, in anything received, is a protocol error.
    package static let limit = HybridTimestamp(milliseconds: 7_258_118_400_000)

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A reading of a wall clock, `milliseconds` since 1970, limited to 0 ..< 2⁴⁸.
    package init(milliseconds: Int64) {
        let bounded = min(max(milliseconds, 0), (1 << 48) - 1)
        self.init(rawValue: UInt64(bounded) << 16)
    }

    /// Milliseconds since 1970.
    public var milliseconds: Int64 { Int64(rawValue >> 16) }

    /// 0 if the author's wall clock showed ``milliseconds`` (or, once in 65,536 times, by counting). Else the author's store counted on from its
    /// last write, or from a time that it had heard of, and the author wrote at ``milliseconds`` or earlier.
    public var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

    /// The next timestamp; a counter that overflows advances the millisecond.
    package var next: HybridTimestamp {
        HybridTimestamp(rawValue: rawValue == .max ? .max : rawValue + 1)
    }

    public static func < (left: HybridTimestamp, right: HybridTimestamp) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension HybridTimestamp: CustomStringConvertible {
    public var description: String { "\(milliseconds)ms+\(counter)" }
}
