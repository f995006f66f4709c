import KithCausality

/// Appends the primitives of the wire format to a buffer. See docs/protocol.md, "Primitives".
package struct ByteWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    /// The highest sequence named of each replica, by its number in the table; `nil` where nobody asks.
    private(set) var highest: [UInt64]?

    /// What the frame's vectors may be said as differences from; `nil` where they are spelled out.
    var bases: WireBases?

    package init(reservingCapacity capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// From now on notes which commits are named.
    mutating func noteClaims() {
        highest = []
    }

    /// A commit was named.
    mutating func claim(_ sequence: UInt64, of number: Int) {
        guard let count = highest?.count else { return }
        if number >= count { highest?.append(contentsOf: repeatElement(0, count: number + 1 - count)) }
        if let known = highest?[number], known < sequence { highest?[number] = sequence }
    }

    /// What was written into another writer with the same table was named here.
    mutating func takeClaims(of other: ByteWriter) {
        for (number, sequence) in (other.highest ?? []).enumerated() { claim(sequence, of: number) }
    }

    package var count: Int { bytes.count }

    /// Makes room for so many bytes more.
    mutating func reserve(_ capacity: Int) {
        bytes.reserveCapacity(bytes.count + capacity)
    }

    /// Empties the buffer, which keeps its room.
    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
    }

    package mutating func byte(_ value: UInt8) {
        bytes.append(value)
    }

    /// An unsigned LEB128 number, 1 to 10 bytes.
    @inlinable
    package mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// A count or index, which is never negative.
    @inlinable
    package mutating func count(_ value: Int) {
        varint(UInt64(max(0, value)))
    }

    /// A signed number, zigzag then LEB128.
    package mutating func signed(_ value: Int64) {
        varint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// Eight bytes, big-endian.
    package mutating func fixed64(_ value: UInt64) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Bytes as they are, with no length.
    package mutating func raw(_ value: some Collection<UInt8>) {
        bytes.append(contentsOf: value)
    }

    /// A length, then the bytes.
    package mutating func blob(_ value: [UInt8]) {
        count(value.count)
        bytes.append(contentsOf: value)
    }

    /// The 16 bytes of an id.
    @inlinable
    package mutating func identifier(_ id: some Identifier128) {
        append(id.high, id.low)
    }

    package mutating func value(_ value: ColumnValue) {
        switch value {
        case .null:
            byte(ValueTag.null)
        case .integer(let number):
            byte(ValueTag.integer)
            signed(number)
        case .real(let bitPattern):
            byte(ValueTag.real)
            fixed64(bitPattern)
        case .text(let text):
            byte(ValueTag.text)
            blob(text)
        case .blob(let content):
            byte(ValueTag.blob)
            blob(content)
        }
    }

    @usableFromInline
    mutating func append(_ high: UInt64, _ low: UInt64) {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { bytes.append(contentsOf: $0) }
    }

    @usableFromInline
    mutating func append(_ value: UInt8) {
        bytes.append(value)
    }
}

/// The first byte of an encoded value.
enum ValueTag {
    static let null: UInt8 = 0
    static let integer: UInt8 = 1
    static let real: UInt8 = 2
    static let text: UInt8 = 3
    static let blob: UInt8 = 4
    /// The value stands in the user's table. Only in a store's own records, never on the wire.
    static let elsewhere: UInt8 = 5
}
