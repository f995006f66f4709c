/// Reads what ``ByteWriter`` writes, from bytes that may be anything.
struct ByteReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count - offset }

    mutating func byte() throws(TextError) -> UInt8 {
        guard offset < bytes.count else { throw .malformed("it ends too early") }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// One way to write each number: no superfluous zero bytes at the end.
    mutating func varint() throws(TextError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            let bits = UInt64(next & 0x7F)
            guard shift < 63 || bits <= 1 else { throw .malformed("a number exceeds 64 bits") }
            value |= bits << shift
            if next < 0x80 {
                guard next > 0 || shift == 0 else { throw .malformed("a number is written with needless bytes") }
                return value
            }
            shift += 7
            guard shift < 64 else { throw .malformed("a number exceeds 64 bits") }
        }
    }

    /// A number from 0 to `maximum`.
    mutating func count(atMost maximum: Int, _ limit: String) throws(TextError) -> Int {
        let value = try varint()
        guard value <= UInt64(maximum) else {
            throw .limitExceeded(limit: limit, value: Int(clamping: value), maximum: maximum)
        }
        return Int(value)
    }

    mutating func signed() throws(TextError) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func take(_ count: Int) throws(TextError) -> ArraySlice<UInt8> {
        guard count <= remaining else { throw .malformed("it ends too early") }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    func finish() throws(TextError) {
        guard remaining == 0 else { throw .malformed("\(remaining) bytes follow the end") }
    }
}
