/// The attributes of an announcement: short ASCII keys with byte values, in the form of RFC 6763, section 6.
///
/// Keys are case-insensitive and kept in lower case. A key without a value (`key`) and one with an empty value (`key=`) read the same.
package struct TXTRecord: Hashable, Sendable {
    /// The most bytes a whole record may take on the wire: what still fits one Ethernet packet (RFC 6763, section 6.2).
    package static let bytesMax = 1300
    /// The most bytes one `key=value` string may take: its length is one byte.
    static let entryBytesMax = 255

    package struct Entry: Hashable, Sendable {
        package let key: String
        package let value: [UInt8]
    }

    /// In the order of their keys.
    package private(set) var entries: [Entry] = []

    package init() {}

    /// The value of `key`, or nil if the record does not have it.
    package subscript(key: String) -> [UInt8]? {
        guard let key = Self.normalized(key.utf8) else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// Adds `key`, or replaces its value. The record is unchanged when this throws.
    ///
    /// - Throws: `invalidTextKey` unless the key is 1 or more printable ASCII characters other than `=`;
    ///   `textTooLong` when the entry would pass 255 bytes or the record 1300.
    package mutating func set(_ key: String, to value: [UInt8]) throws(DiscoveryError) {
        guard let normalized = Self.normalized(key.utf8) else { throw .invalidTextKey(key) }
        var changed = entries.filter { $0.key != normalized }
        changed.insert(Entry(key: normalized, value: value), at: changed.firstIndex { $0.key > normalized } ?? changed.endIndex)
        let entryBytes = normalized.utf8.count + 1 + value.count
        guard entryBytes <= Self.entryBytesMax else { throw .textTooLong(bytes: entryBytes, limit: Self.entryBytesMax) }
        let recordBytes = changed.reduce(0) { $0 + $1.key.utf8.count + $1.value.count + 2 }
        guard recordBytes <= Self.bytesMax else { throw .textTooLong(bytes: recordBytes, limit: Self.bytesMax) }
        entries = changed
    }

    /// The record on the wire. A record without entries is one empty string, as RFC 6763 asks.
    package var wire: [UInt8] {
        guard !entries.isEmpty else { return [0] }
        return entries.flatMap { entry in
            [UInt8(truncatingIfNeeded: entry.key.utf8.count + 1 + entry.value.count)] + entry.key.utf8 + [UInt8(ascii: "=")] + entry.value
        }
    }

    /// Reads a record from the wire. As RFC 6763 asks, strings with an unusable key are skipped and the first of several equal keys counts.
    ///
    /// - Throws: `textTooLong` past 1300 bytes, `malformedText` when a string reaches past the end.
    package init(wire: some Collection<UInt8>) throws(DiscoveryError) {
        guard wire.count <= Self.bytesMax else { throw .textTooLong(bytes: wire.count, limit: Self.bytesMax) }
        var rest = wire[...]
        while let length = rest.popFirst() {
            guard Int(length) <= rest.count else { throw .malformedText }
            let string = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            let keyBytes = string.prefix { $0 != UInt8(ascii: "=") }
            guard let key = Self.normalized(keyBytes), !entries.contains(where: { $0.key == key }) else { continue }
            entries.append(Entry(key: key, value: Array(string.dropFirst(keyBytes.count + 1))))
        }
        entries.sort { $0.key < $1.key }
    }

    /// `key` in lower case, or nil unless it is printable ASCII without `=`. ASCII keys are the same text exactly when their bytes are equal.
    private static func normalized(_ key: some Collection<UInt8>) -> String? {
        guard !key.isEmpty, key.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }) else { return nil }
        return String(decoding: key.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
