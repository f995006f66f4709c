import TestSupport

@testable import KithTrust

extension RecordSigner {
    /// A device whose signatures cost nothing and prove nothing: the rules of households do not look at them, and judge sets of
    /// records that nobody could forge in the same way.
    static func standIn(_ number: Int) -> RecordSigner {
        let seed = (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        let bytes = PairingHash.sha256(seed)
        guard let id = DeviceID(bytes: bytes) else { preconditionFailure("a hash has the length of an id") }
        return RecordSigner(id: id, publicKeyBytes: [2] + bytes) { _ in [UInt8](repeating: 0, count: 64) }
    }
}

extension Membership {
    static func founded(by signer: RecordSigner, nonce: UInt64 = 1) throws -> Membership {
        var random = SplitMix64(seed: nonce)
        let record = try MembershipRecord(
            .found(name: "founder"), RecordTerms(), household: random.bytes(32), by: signer, milliseconds: 0)
        return try Membership(foundedBy: record)
    }

    /// Any record at all, whether it fits or not.
    func record(_ action: MembershipAction, _ terms: RecordTerms, by signer: RecordSigner, milliseconds: Int64 = 0) throws
        -> MembershipRecord
    {
        try MembershipRecord(action, terms, household: household.bytes, by: signer, milliseconds: milliseconds)
    }

    /// Takes in what it can of `other`, as two do that meet.
    mutating func hear(_ other: Membership) {
        _ = try? insert(other.records(besides: Set(records.map(\.id))))
    }

    /// Hears `records` in the order in which they come, in pieces, again and again until nothing is new. With a revocation come the
    /// additions that lead to its author, as in the messages of a member.
    mutating func hear(_ records: [MembershipRecord], inPiecesOf sizes: ClosedRange<Int>, _ random: inout SplitMix64) -> Bool {
        let known = Dictionary(records.map { ($0.id, $0) }) { first, _ in first }
        for _ in 0..<40 {
            let before = digest
            var rest = records[...]
            while !rest.isEmpty {
                let size = Int.random(in: sizes, using: &random)
                _ = try? insert(rest.prefix(size).flatMap { $0.line(in: known) })
                rest = rest.dropFirst(size)
            }
            if digest == before { return true }
        }
        return false
    }
}

extension MembershipRecord {
    /// The record, and before a revocation the additions that lead to its author.
    fileprivate func line(in known: [ID: MembershipRecord]) -> [MembershipRecord] {
        guard case .revoke = action else { return [self] }
        var line = [self]
        while let warrant = line[0].terms.warrant.flatMap({ known[$0] }) { line.insert(warrant, at: 0) }
        return line
    }
}
