import KithTrust

/// The household of a run: begun by a phone that lies in a drawer, which is taken out to let somebody in.
struct HouseholdCourse {
    private let signer = SimulatedAuthority(device: Array("phone".utf8)).signer
    /// What the phone knows, and its last record.
    private(set) var phone: Membership
    private var last: MembershipRecord
    private let founding: MembershipRecord.ID
    /// How many records each machine may sign.
    private let room: Int
    var random: SplitMix64
    var belonging = Belonging()
    /// Machines that are out, or will be when a record arrives that was signed.
    var doomed: Set<Int> = []
    /// Machines that are out and will be let in again.
    var leaving: Set<Int> = []

    init(seed: UInt64, nodeCount: Int) throws {
        var random = SplitMix64(seed: seed, .household)
        room = min(Self.roomMax, (Membership.recordsMax - Self.returnsRoom) / nodeCount - 1)
        let nonce = (0..<4).flatMap { _ in withUnsafeBytes(of: random.next().bigEndian, Array.init) }
        self.random = random
        last = try MembershipRecord(.found(name: "phone"), RecordTerms(), household: nonce, by: signer, milliseconds: 0)
        founding = last.id
        phone = try Membership(foundedBy: last)
        for node in 0..<nodeCount { try add(node, round: 0, milliseconds: 0) }
    }

    /// Each machine may fill as much, and the phone keeps as much to let machines in again.
    private static let (roomMax, returnsRoom) = (40, 200)

    /// What a machine that was paired holds.
    func share(of node: Int) -> SimulatedHousehold { SimulatedHousehold(of: Self.id(of: node), phone) }

    static func id(of node: Int) -> DeviceID { SimulatedAuthority(device: Array(nodeName(node).utf8)).id }

    private mutating func add(_ node: Int, round: Int, milliseconds: Int64) throws {
        var terms = RecordTerms()
        terms.warrant = founding
        terms.number = max(1, last.terms.next)
        terms.previous = last.id
        (terms.room, terms.round, terms.edition) = (room, round, 1)
        last = try MembershipRecord(
            .add(Self.id(of: node), name: nodeName(node)), terms, household: phone.household.bytes, by: signer, milliseconds: milliseconds)
        try phone.insert([last])
    }

    /// Whether a household of two at least remains without the machine.
    func spares(_ machine: Int, of count: Int) -> Bool { count - doomed.union([machine]).count >= 2 }

    /// The phone lets a machine in again, at the side of `host`, and both hear of all that it knows.
    mutating func letIn(_ machine: SimulatedNode, at host: SimulatedNode, milliseconds: Int64) throws {
        guard let own = machine.household, let other = host.household else { return }
        _ = try? phone.insert(other.membership.records)
        try add(machine.index, round: belonging.round(of: machine.index) + 1, milliseconds: milliseconds)
        belonging.letIn(machine.index, by: last.id)
        for (node, household) in [(machine, own), (host, other)] {
            household.hear(phone)
            belonging.hear(phone.records.map(\.id), node.index)
        }
        leaving.remove(machine.index)
        doomed.remove(machine.index)
    }
}
