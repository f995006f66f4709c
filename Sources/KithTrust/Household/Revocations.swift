/// What ends the additions of a household, and from which number on it voids what the revoked devices said.
///
/// Nothing takes back a revocation: whoever was ever added, by whatever records, may revoke. That is no more than the one who added it
/// can do itself, and it keeps anybody from silencing a member by adding a second one under the same number. Of all that name one
/// addition one is kept, the one that leaves the least standing, with the additions that lead to its author. If several
/// leave equally little, that of the member is kept that has ended most of the device's later additions.
struct Revocations: Sendable {
    /// By the addition that each names.
    private(set) var byAddition: [MembershipRecord.ID: MembershipRecord] = [:]
    /// For each of these the additions that lead to its author and are not in the tree, the first one first.
    private(set) var witnesses: [MembershipRecord.ID: [MembershipRecord]] = [:]

    init(in tree: RecordTree, _ signed: SignedRevocations) {
        for chains in Dictionary(grouping: tree.chains, by: \.device).values {
            keepStrictest(of: chains, signed, tree)
        }
    }

    private mutating func keepStrictest(of chains: [RecordChain], _ signed: SignedRevocations, _ tree: RecordTree) {
        var ended: [DeviceID: Int] = [:]
        for chain in chains.sorted(by: { ($1.round, $0.addition.id) < ($0.round, $1.addition.id) }) {
            let all = signed.byAddition[chain.addition.id]?.filter { $0.action == .revoke(chain.device) } ?? []
            // Beyond the last number that there can be all seals say the same. Otherwise one device could replace its revocation by another
            // one tens of thousands of times, and everybody would have to write down each of them and tell it.
            func seal(_ record: MembershipRecord) -> Int { min(record.terms.seal, chain.nextMax) }
            func rank(_ record: MembershipRecord) -> (Int, Int, MembershipRecord.ID) {
                (seal(record), -ended[record.author, default: 0], record.id)
            }
            guard let strictest = all.min(by: { rank($0) < rank($1) }) else { continue }
            ended[strictest.author, default: 0] += 1
            byAddition[chain.addition.id] = strictest
            witnesses[strictest.id] = signed.path(to: strictest).filter { tree.places[$0.id] == nil }
        }
    }
}
