/// Writes numbers as variable-length integers (LEB128: seven bits a byte, lowest first).
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// A count or length, which is never negative.
    mutating func count(_ value: Int) { varint(UInt64(value)) }

    /// A number of either sign, small ones short (zigzag).
    mutating func signed(_ value: Int64) { varint(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
}
