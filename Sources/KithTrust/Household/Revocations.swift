/// What ends the additions of a household, and from which number on it voids what the revoked devices said.
///
/// Nothing takes back a revocation: whoever was ever added, by whatever records, may revoke. That is no more than the one who added it
/// can do itself, and it keeps anybody from silencing a member by adding a second one under the same number. Of all that name one
/// addition one is kept, the one that leaves the least standing, with the additions that lead to its author.
struct Revocations: Sendable {
    /// By the addition that each names.
    private(set) var byAddition: [MembershipRecord.ID: MembershipRecord] = [:]
    /// For each of these the additions that lead to its author and are not in the tree, the first one first.
    private(set) var witnesses: [MembershipRecord.ID: [MembershipRecord]] = [:]

    init(in tree: RecordTree, _ signed: SignedRevocations) {
        for chain in tree.chains {
            let all = signed.byAddition[chain.addition.id]?.filter { $0.action == .revoke(chain.device) } ?? []
            // Beyond the last number that there can be all seals say the same. Otherwise one device could replace its revocation by another
            // one tens of thousands of times, and everybody would have to write down each of them and tell it.
            func seal(_ record: MembershipRecord) -> Int { min(record.terms.seal, chain.nextMax) }
            guard let strictest = all.min(by: { (seal($0), $0.id) < (seal($1), $1.id) }) else { continue }
            byAddition[chain.addition.id] = strictest
            witnesses[strictest.id] = signed.path(to: strictest).filter { tree.places[$0.id] == nil }
        }
    }
}
