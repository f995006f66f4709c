import KithCausality

/// Reads the primitives of the wire format. Every length is checked before anything is allocated; nothing traps.
package struct ByteReader: Sendable {
    private let bytes: [UInt8]
    private var offset: Int
    private let end: Int
    /// Entries that lists may still have, all together: what is small in bytes may be large in memory.
    private var entriesLeft: Int
    /// The highest sequence named of each replica, by its number in the table; empty where nobody asks.
    private(set) var highest: [UInt64] = []

    /// What the frame's vectors are differences from; `nil` where they are spelled out.
    var bases: WireBases?
    /// Whether the frame names all that its sender has said that it knows.
    var namesSender = false

    package init(_ bytes: [UInt8], entriesMax: Int = .max) {
        self.init(bytes, from: 0, to: bytes.count, entriesLeft: entriesMax)
    }

    private init(_ bytes: [UInt8], from offset: Int, to end: Int, entriesLeft: Int) {
        self.bytes = bytes
        self.offset = offset
        self.end = end
        self.entriesLeft = entriesLeft
    }

    /// From now on notes which commits are named of so many replicas.
    mutating func noteClaims(of replicas: Int) {
        highest = Array(repeating: 0, count: replicas)
    }

    /// A commit was named.
    mutating func claim(_ sequence: UInt64, of number: Int) {
        if number < highest.count, highest[number] < sequence { highest[number] = sequence }
    }

    /// Bytes not read yet.
    package var remaining: Int { end - offset }

    package var isAtEnd: Bool { offset == end }

    package mutating func byte() throws(WireError) -> UInt8 {
        guard offset < end else { throw .truncated }
        defer { offset += 1 }
        return bytes[offset]
    }

    package mutating func varint() throws(WireError) -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            if shift == 63, next > 1 { throw .malformed("number past 64 bits") }
            result |= UInt64(next & 0x7f) << shift
            if next < 0x80 { return result }
            shift += 7
        }
    }

    /// A count of things that take at least `eachBytes` each, so that a lie cannot make the reader allocate.
    package mutating func count(eachBytes: Int = 1, limit: Int = .max, _ name: String) throws(WireError) -> Int {
        let count = try bounded(eachBytes: eachBytes, limit: limit, name)
        guard count <= entriesLeft else { throw .limitExceeded("entriesMax") }
        entriesLeft -= count
        return count
    }

    /// The same, where the lowest bits of the number are flags.
    mutating func count(
        flagBits: UInt64, eachBytes: Int = 1, limit: Int, _ name: String
    ) throws(WireError) -> (count: Int, flags: UInt64) {
        let value = try varint()
        let count = try bounded(value >> flagBits, eachBytes: eachBytes, limit: limit, name)
        guard count <= entriesLeft else { throw .limitExceeded("entriesMax") }
        entriesLeft -= count
        return (count, value & ((1 << flagBits) - 1))
    }

    private mutating func bounded(eachBytes: Int, limit: Int, _ name: String) throws(WireError) -> Int {
        // Before anything is compared with what is left.
        let value = try varint()
        return try bounded(value, eachBytes: eachBytes, limit: limit, name)
    }

    private func bounded(_ value: UInt64, eachBytes: Int, limit: Int, _ name: String) throws(WireError) -> Int {
        guard value <= UInt64(limit) else { throw .limitExceeded(name) }
        guard value <= UInt64(remaining / max(eachBytes, 1)) else { throw .truncated }
        return Int(value)
    }

    /// A number that must be below `bound`.
    package mutating func index(below bound: Int, _ name: String) throws(WireError) -> Int {
        let value = try varint()
        guard value < UInt64(max(bound, 0)) else { throw .malformed("\(name) out of range") }
        return Int(value)
    }

    package mutating func signed() throws(WireError) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    package mutating func fixed64() throws(WireError) -> UInt64 {
        guard remaining >= 8 else { throw .truncated }
        var result: UInt64 = 0
        for index in offset..<offset + 8 { result = result << 8 | UInt64(bytes[index]) }
        offset += 8
        return result
    }

    package mutating func raw(_ count: Int) throws(WireError) -> [UInt8] {
        guard count >= 0, remaining >= count else { throw .truncated }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    package mutating func blob(limit: Int = .max, _ name: String) throws(WireError) -> [UInt8] {
        try raw(bounded(eachBytes: 1, limit: limit, name))
    }

    /// Reads a section: its length, then what `body` reads of it. What `body` leaves of the section is skipped.
    mutating func section<Content>(
        _ name: String, _ body: (inout ByteReader) throws(WireError) -> Content
    ) throws(WireError) -> Content {
        let length = try bounded(eachBytes: 1, limit: .max, name)
        var inner = ByteReader(bytes, from: offset, to: offset + length, entriesLeft: entriesLeft)
        // Moved there and back, so that it is not copied.
        swap(&inner.highest, &highest)
        let content = try body(&inner)
        swap(&inner.highest, &highest)
        offset += length
        entriesLeft = inner.entriesLeft
        return content
    }

    package mutating func identifier<ID: Identifier128>(_: ID.Type = ID.self) throws(WireError) -> ID {
        let high = try fixed64()
        return ID(high: high, low: try fixed64())
    }

    package mutating func value() throws(WireError) -> ColumnValue {
        let tag = try byte()
        guard let value = try value(tag: tag) else { throw .malformed("value of unknown type") }
        return value
    }

    /// SQLite keeps no NaN, but NULL.
    private static func real(_ bits: UInt64) -> ColumnValue { Double(bitPattern: bits).isNaN ? .null : .real(bitPattern: bits) }

    /// The value that follows its tag; `nil` for a tag that is not a value's.
    mutating func value(tag: UInt8) throws(WireError) -> ColumnValue? {
        switch tag {
        case ValueTag.null: .null
        case ValueTag.integer: .integer(try signed())
        case ValueTag.real: Self.real(try fixed64())
        case ValueTag.text: .text(try blob(limit: WireLimits.valueBytesMax, "valueBytesMax"))
        case ValueTag.blob: .blob(try blob(limit: WireLimits.valueBytesMax, "valueBytesMax"))
        default: nil
        }
    }
}
