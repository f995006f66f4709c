/// Which household: the hash of the record that founded it. Not secret.
package struct HouseholdID: Hashable, Sendable, Comparable {
    /// Length in bytes.
    static let byteCount = 32

    /// The 32 bytes of the hash.
    package let bytes: [UInt8]

    /// The id with these 32 bytes; `nil` for any other length.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// The household that `record` founds, whether or not it may.
    init(foundedBy record: MembershipRecord.ID) {
        bytes = record.bytes
    }

    package static func < (left: HouseholdID, right: HouseholdID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension HouseholdID: CustomStringConvertible {
    /// The first 60 bits as twelve base32 characters in groups of four (RFC 4648): enough to tell households apart, for people.
    package var description: String {
        let symbols = Base32.symbols(of: Array(bytes.prefix(8))).prefix(12)
        return stride(from: 0, to: 12, by: 4).map { Base32.text(symbols[$0..<$0 + 4]) }.joined(separator: "-")
    }
}
