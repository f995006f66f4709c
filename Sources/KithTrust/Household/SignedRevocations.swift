/// The revocations among some records whose authors were added by somebody who was added, and so on from the first device, whether
/// any of that counts or not.
struct SignedRevocations: Sendable {
    /// By the addition that each names.
    private(set) var byAddition: [MembershipRecord.ID: [MembershipRecord]] = [:]
    private let known: [MembershipRecord.ID: MembershipRecord]

    init(of household: HouseholdID, _ known: [MembershipRecord.ID: MembershipRecord]) {
        self.known = known
        var chains: [MembershipRecord.ID: RecordChain?] = [:]
        if let root = MembershipRecord.ID(bytes: household.bytes), let first = known[root] { chains[root] = RecordChain(foundedBy: first) }
        for record in known.values {
            guard case .revoke = record.action, let addition = record.terms.addition, let warrant = record.terms.warrant,
                chain(of: warrant, &chains)?.device == record.author
            else { continue }
            byAddition[addition, default: []].append(record)
        }
    }

    /// The additions that lead to the author of `revocation`, the first one first.
    func path(to revocation: MembershipRecord) -> [MembershipRecord] {
        var path: [MembershipRecord] = []
        var record = revocation
        while let earlier = record.terms.warrant.flatMap({ known[$0] }), path.count <= Membership.depthMax {
            path.append(earlier)
            record = earlier
        }
        return path.reversed()
    }

    /// What `addition` would let its device say.
    private func chain(
        of addition: MembershipRecord.ID, _ chains: inout [MembershipRecord.ID: RecordChain?]
    ) -> RecordChain? {
        // Each is found once; a line is never longer than the longest that may be.
        var open: [MembershipRecord] = []
        var id = addition
        while chains[id] == nil, open.count <= Membership.depthMax, let record = known[id], record.isAddition,
            let warrant = record.terms.warrant
        {
            open.append(record)
            id = warrant
        }
        var chain = chains[id] ?? nil
        for record in open.reversed() {
            chain = chain.flatMap { $0.mayHold(record) ? $0.following(record) : nil }
            chains[record.id] = .some(chain)
        }
        return chain
    }
}
