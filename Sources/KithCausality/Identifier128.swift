/// A name of 128 bits, compared as bytes, first byte first.
///
/// Distinct names are distinct types (``ReplicaID``, row ids), so that one is never taken for the other.
public protocol Identifier128: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The first eight bytes, big-endian.
    var high: UInt64 { get }
    /// The last eight bytes, big-endian.
    var low: UInt64 { get }

    init(high: UInt64, low: UInt64)
}

extension Identifier128 {
    /// Length in bytes.
    @inlinable public static var byteCount: Int { 16 }

    /// The id with these 16 bytes; `nil` for any other length.
    @inlinable
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var halves: (high: UInt64, low: UInt64) = (0, 0)
        for byte in bytes {
            halves = (halves.high << 8 | halves.low >> 56, halves.low << 8 | UInt64(byte))
        }
        self.init(high: halves.high, low: halves.low)
    }

    /// A fresh id from `generator`.
    public static func random(using generator: inout some RandomNumberGenerator) -> Self {
        Self(high: generator.next(), low: generator.next())
    }

    /// The 16 bytes.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            for index in 0..<8 {
                buffer[index] = UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * index))
                buffer[index + 8] = UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * index))
            }
            count = Self.byteCount
        }
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }

    /// 32 hexadecimal digits.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
