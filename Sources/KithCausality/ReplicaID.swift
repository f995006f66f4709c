/// The name of one incarnation of one store: 128 random bits.
///
/// A store that was copied or restored is a *new* replica, so that a dot never names two contents.
/// Replica ids are compared as bytes, first byte first.
public struct ReplicaID: Hashable, Sendable, Comparable {
    /// Length of an id in bytes.
    public static let byteCount = 16

    private let high: UInt64
    private let low: UInt64

    /// The id with these two big-endian halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id with these 16 bytes; `nil` for any other length.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for (offset, byte) in bytes.enumerated() {
            if offset < 8 {
                halves.0 = halves.0 << 8 | UInt64(byte)
            } else {
                halves.1 = halves.1 << 8 | UInt64(byte)
            }
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// A fresh id from `generator`.
    public static func random(using generator: inout some RandomNumberGenerator) -> ReplicaID {
        ReplicaID(high: generator.next(), low: generator.next())
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

    public static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension ReplicaID: CustomStringConvertible {
    /// 32 hexadecimal digits.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
