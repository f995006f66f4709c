extension Membership {
    /// Signs `action` with `key`, and takes it in.
    /// - Throws: `.notAMember`, `.tooMany`, `.forked`, `.malformed`.
    @discardableResult
    package mutating func say(_ action: MembershipAction, by key: DeviceKey, milliseconds: Int64) throws(MembershipError)
        -> MembershipRecord
    {
        try say(action, by: RecordSigner(key), milliseconds: milliseconds)
    }

    @discardableResult
    package mutating func say(_ action: MembershipAction, by signer: RecordSigner, milliseconds: Int64) throws(MembershipError)
        -> MembershipRecord
    {
        // What was begun is gone on with.
        let warrants = warrants(of: signer.id).sorted { ($1.next, $0.addition.id) < ($0.next, $1.addition.id) }
        guard let warrant = warrants.first else { throw .notAMember }
        var said: [MembershipRecord] = []
        if case .revoke(let device) = action {
            for (chain, seal) in toBeEnded(of: device, by: signer.id) {
                var terms = RecordTerms()
                terms.warrant = warrant.addition.id
                terms.addition = chain.addition.id
                terms.seal = seal
                said.append(try record(action, terms, by: signer, milliseconds))
            }
        } else {
            let terms = try terms(of: action, under: warrants)
            said.append(try record(action, terms, by: signer, milliseconds))
        }
        guard let last = said.last else { throw .notAMember }
        try insert(said)
        return last
    }

    /// The additions that a revocation of `device` names, the one by which it is a member last, and their seals.
    ///
    /// It names those that another member revoked before once more. Otherwise what the device said under them would go: a member that ends
    /// only a later addition counts as one that did not know of them.
    private func toBeEnded(of device: DeviceID, by author: DeviceID) -> [(chain: RecordChain, seal: Int)] {
        let warrants = warrants(of: device).map { ($0, $0.next) }
        if warrants.isEmpty { return [] }
        let earlier = (chains[device] ?? []).compactMap { chain -> (RecordChain, Int)? in
            guard let seal = seals[chain.addition.id], seal > 0,
                revocations.byAddition[chain.addition.id]?.author != author
            else { return nil }
            return (chain, min(seal, chain.next))
        }
        return earlier + warrants
    }

    /// Whether a member has signed two different things in the same place, wherever it could say more.
    func isForked(_ device: DeviceID) -> Bool {
        let warrants = warrants(of: device)
        return !warrants.isEmpty && warrants.allSatisfy(\.isForked)
    }

    private func record(
        _ action: MembershipAction, _ terms: RecordTerms, by signer: RecordSigner, _ milliseconds: Int64
    ) throws(MembershipError) -> MembershipRecord {
        try MembershipRecord(action, terms, household: household.bytes, by: signer, milliseconds: milliseconds)
    }

    /// On what the next record of a device stands that is a member by `warrants`.
    private func terms(of action: MembershipAction, under warrants: [RecordChain]) throws(MembershipError) -> RecordTerms {
        var refusal = MembershipError.tooMany
        for chain in warrants {
            var terms = RecordTerms()
            terms.warrant = chain.addition.id
            terms.number = chain.next
            terms.previous = chain.tip
            switch action {
            case .found: throw .malformed
            case .add(let device, _):
                terms.round = endedRound(of: device) + 1
                terms.edition = min(edition(of: device) + 1, RecordTerms.numberMax)
                let left = chain.room - (terms.next - 1)
                terms.room = max(0, left) / Self.handedOn
                guard left >= 0, chain.depth < Self.depthMax else { continue }
            case .rename(let device, _):
                terms.edition = min(edition(of: device) + 1, RecordTerms.numberMax)
                guard chain.room >= terms.number else { continue }
            case .replace: guard chain.depth < Self.depthMax else { continue }
            case .revoke: break
            }
            // A new key settles which of two records counts; anything else would be void with them.
            if chain.isForked, action.isRenewal == false { refusal = .forked } else { return terms }
        }
        throw refusal
    }
}

extension MembershipAction {
    fileprivate var isRenewal: Bool {
        if case .replace = self { true } else { false }
    }
}
