import Foundation

extension UUID {
    /// A version-7 UUID (RFC 9562, 5.7): the time in front, so that ids sort by age, and 74 random bits.
    ///
    /// - Parameter milliseconds: since 1970; limited to 0 ..< 2⁴⁸.
    public static func version7(milliseconds: Int64, using generator: inout some RandomNumberGenerator) -> UUID {
        let time = UInt64(min(max(milliseconds, 0), (1 << 48) - 1))
        let high = time << 16 | 0x7000 | generator.next() & 0x0fff
        let low = 1 << 63 | generator.next() >> 2
        func byte(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - 8 * index)) }
        return UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6), byte(high, 7),
                byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }

    /// The 16 bytes.
    var bytes: [UInt8] {
        withUnsafeBytes(of: uuid) { Array($0) }
    }
}
