import Crypto

/// What two devices that meet make of each other's messages. Nothing of it is stored here.
extension Household {
    /// Equal where records and secrets are.
    package var digest: [UInt8] {
        var hash = SHA256()
        hash.update(data: membership.digest)
        for secret in secrets { hash.update(data: secret.bytes) }
        return Array(hash.finalize())
    }

    /// All records, each after those that it needs.
    package var allRecords: [HouseholdMessage] { HouseholdMessage.messages(membership.records, of: membership) }

    /// What to answer a peer that says how its household stands; nothing to what it tells of it.
    func answers(to message: HouseholdMessage) -> [HouseholdMessage] {
        switch message {
        case .digest(let digest):
            return digest == self.digest ? [] : HouseholdMessage.have(all: membership.records.map(\.id)) + [.secrets(secrets)]
        case .have(let ids, let from, let through):
            let missing = membership.records(besides: Set(ids)).filter { from <= $0.id && $0.id <= through }
            return HouseholdMessage.messages(missing, of: membership)
        case .records, .secrets: return []
        }
    }

    /// Those of `records` that are of this household, new here and signed by their authors.
    func verified(_ records: [[UInt8]], by verifier: RecordVerifier = .devices) -> [MembershipRecord] {
        records.compactMap { bytes in
            guard let claim = try? RecordClaim(bytes: bytes, verifier), claim.household == membership.household,
                !membership.contains(claim.id)
            else { return nil }
            return try? claim.verified(by: verifier)
        }
    }

    /// Takes in what can be taken. Returns whether anything is different now.
    mutating func take(_ records: [MembershipRecord], _ secrets: [HouseholdSecret]) -> Bool {
        let digest = digest
        _ = try? membership.insert(records)
        note(secrets)
        return self.digest != digest
    }

    /// Takes in what a peer says, as a device does that keeps its household in a file.
    ///
    /// - Returns: the answers, and whether anything is different now.
    package mutating func hear(_ message: HouseholdMessage, _ verifier: RecordVerifier) -> (answers: [HouseholdMessage], hasChanged: Bool) {
        switch message {
        case .digest, .have: return (answers(to: message), false)
        case .records(let records):
            let hasChanged = take(verified(records, by: verifier), [])
            return (hasChanged ? [.digest(digest)] : [], hasChanged)
        case .secrets(let secrets): return ([], take([], secrets))
        }
    }
}
