/// What one addition lets a device say: its records, one after the other.
struct RecordChain: Sendable {
    /// The record that makes the device a member.
    let addition: MembershipRecord
    let device: DeviceID
    /// How many numbers its author has, and how many additions it is away from the first device.
    let room: Int
    let depth: Int
    /// The records up to the first number that was used twice.
    fileprivate(set) var path: [MembershipRecord] = []
    /// Of the records that share the first number used twice the two with the lowest ids.
    fileprivate(set) var evidence: [MembershipRecord] = []
    /// The record by which the device took another key; two if it took two, and then neither counts.
    fileprivate(set) var renewals: [MembershipRecord] = []
    /// The renewal that counts if the addition does.
    fileprivate(set) var renewal: MembershipRecord?

    var round: Int { addition.terms.round }
    /// The number from which on nothing counts because the device took two other keys.
    var ambiguousNumber: Int? { renewals.count > 1 ? renewals[0].terms.number : nil }
    var isForked: Bool { !evidence.isEmpty }
    /// The number of the next record, and what it follows.
    var next: Int { path.last?.terms.next ?? 1 }
    /// The highest that it can have: a new key may take the number after the last.
    var nextMax: Int { room + 2 }
    var tip: MembershipRecord.ID { path.last?.id ?? addition.id }
    /// What is kept of it.
    var records: [MembershipRecord] { path + evidence + renewals }
    /// The records that make other devices members, if they count.
    var additions: [MembershipRecord] { path.filter(\.isAddition) + (renewal.map { [$0] } ?? []) }
}

/// What the records of a household say before anything is revoked: who let in whom, and in which order each said what it said.
///
/// Each device has numbers for its records and hands on a part of them to a device that it adds. So there is an end to what can be
/// said, and nobody uses up what another one has. Two records that follow the same one void each other and what comes after them;
/// but a device with a new key names its last record under the old one, and nothing else that the old key signed is heeded then.
struct RecordTree: Sendable {
    /// Each after the one to which its addition belongs.
    private(set) var chains: [RecordChain] = []
    /// Where the chain of each addition is.
    private(set) var places: [MembershipRecord.ID: Int] = [:]

    /// The tree of some of `known`: others do not fit, yet or for ever.
    init(
        of household: HouseholdID, _ known: [MembershipRecord.ID: MembershipRecord], _ revocations: SignedRevocations
    ) {
        guard let root = MembershipRecord.ID(bytes: household.bytes), let first = known[root].flatMap(RecordChain.init(foundedBy:)) else {
            return
        }
        var said: [MembershipRecord.ID: [MembershipRecord]] = [:]
        for record in known.values where record.terms.number > 0 {
            if let warrant = record.terms.warrant { said[warrant, default: []].append(record) }
        }
        append(first)
        var place = 0
        while place < chains.count {
            var chain = chains[place]
            let isRevoked = revocations.byAddition[chain.addition.id]?.contains { $0.action == .revoke(chain.device) } ?? false
            fill(&chain, with: said[chain.addition.id] ?? [], known, isRevoked)
            chains[place] = chain
            for addition in chain.additions { append(chain.following(addition)) }
            place += 1
        }
    }

    subscript(_ addition: MembershipRecord.ID) -> RecordChain? { places[addition].map { chains[$0] } }

    private mutating func append(_ chain: RecordChain?) {
        guard let chain else { return }
        places[chain.addition.id] = chains.count
        chains.append(chain)
    }

    private func fill(
        _ chain: inout RecordChain, with records: [MembershipRecord], _ known: [MembershipRecord.ID: MembershipRecord],
        _ isRevoked: Bool
    ) {
        let fitting = records.filter(chain.mayHold)
        let renewals = fitting.filter(\.isRenewal).sorted { ($0.terms.number, $0.id) < ($1.terms.number, $1.id) }
        chain.renewals = Array(renewals.prefix(2))
        let isAmbiguous = renewals.count > 1
        let following = Dictionary(grouping: fitting.filter { !$0.isRenewal || isRevoked && !isAmbiguous }, by: \.terms.previous)
        // Who is revoked could choose by a new key, afterwards, what the revoking one is to have known.
        guard !isAmbiguous, !isRevoked, let renewal = renewals.first else {
            return walk(&chain, following, below: .max)
        }
        chain.renewal = renewal
        // What the device itself says came before counts, whatever the old key signs besides.
        let branch = branch(before: renewal, in: chain, known)
        let first = branch.first ?? renewal
        if first.terms.previous != chain.addition.id { walk(&chain, following, below: first.terms.number) }
        chain.evidence = []
        chain.path += branch
    }

    /// Follows the records from the addition on.
    private func walk(
        _ chain: inout RecordChain, _ following: [MembershipRecord.ID?: [MembershipRecord]], below limit: Int
    ) {
        while true {
            let next = (following[chain.tip] ?? []).filter { $0.terms.number == chain.next }
            guard next.count == 1 else {
                chain.evidence = Array(next.sorted { $0.id < $1.id }.prefix(2))
                return
            }
            guard next[0].terms.next <= limit else { return }
            if next[0].isRenewal {
                chain.renewal = next[0]
                return
            }
            chain.path += next
        }
    }

    /// What is known of the records before `renewal`, the last ones at least.
    private func branch(
        before renewal: MembershipRecord, in chain: RecordChain, _ known: [MembershipRecord.ID: MembershipRecord]
    ) -> [MembershipRecord] {
        var branch: [MembershipRecord] = []
        var record = renewal
        while let id = record.terms.previous, let earlier = known[id], earlier.terms.next == record.terms.number,
            earlier.terms.warrant == chain.addition.id, !earlier.isRenewal, earlier.terms.number > 0, chain.mayHold(earlier)
        {
            branch.append(earlier)
            record = earlier
        }
        return branch.reversed()
    }
}

extension RecordChain {
    /// What the first record of a household lets its author say; `nil` for any other record.
    init?(foundedBy record: MembershipRecord) {
        guard record.isFirst else { return nil }
        self.init(addition: record, device: record.author, room: Membership.recordsMax, depth: 0)
    }

    /// Whether its device may say `record` at all.
    func mayHold(_ record: MembershipRecord) -> Bool {
        // To take another key needs no room.
        record.author == device && record.terms.next - 1 <= room + (record.isRenewal ? 1 : 0)
            && (!record.isAddition || depth < Membership.depthMax)
    }

    /// What `addition`, which is one of its records, lets another device say.
    func following(_ addition: MembershipRecord) -> RecordChain? {
        switch addition.action {
        case .add(let device, _): RecordChain(addition: addition, device: device, room: addition.terms.room, depth: depth + 1)
        case .replace(let device):
            RecordChain(addition: addition, device: device, room: max(0, room - addition.terms.number), depth: depth + 1)
        default: nil
        }
    }
}

extension MembershipRecord {
    var isFirst: Bool {
        if case .found = action { true } else { false }
    }

    /// Whether another device is a member by it, if it counts.
    var isAddition: Bool {
        switch action {
        case .add, .replace: true
        default: false
        }
    }

    var isRenewal: Bool {
        if case .replace = action { true } else { false }
    }
}
