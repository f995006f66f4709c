import KithTrust

/// Who belongs to the household, as the oracle has it: it knows what was signed and who has heard of it, and judges no records.
///
/// A machine that was put out is let in again in the next *round*. Who has heard of its newest round goes by that.
struct Belonging {
    /// By machine and round the records that put it out.
    private var expulsions: [Place: Set<MembershipRecord.ID>] = [:]
    /// The records that let a machine in again, with the round that begins so.
    private var returns: [Place: MembershipRecord.ID] = [:]
    /// What each machine has heard of these.
    private var heard: [Int: Set<MembershipRecord.ID>] = [:]
    /// What each record does that somebody signed and nobody may have heard of yet.
    private(set) var signed: [MembershipRecord.ID: Place] = [:]
    /// What no device has signed, or one that was never added.
    private(set) var forged: Set<MembershipRecord.ID> = []

    struct Place: Hashable {
        let machine: Int
        let round: Int
    }

    /// In which of its memberships a machine is, or was last.
    func round(of machine: Int) -> Int {
        var round = 0
        while returns[Place(machine: machine, round: round + 1)] != nil { round += 1 }
        return round
    }

    /// Whether `observer` has to take the machine for a member, by what it has heard.
    func isMember(_ machine: Int, for observer: Int) -> Bool {
        let heard = heard[observer] ?? []
        let newest = round(of: machine)
        let known = (1...max(1, newest)).last { returns[Place(machine: machine, round: $0)].map(heard.contains) ?? false } ?? 0
        return !(known...newest).contains { expulsions[Place(machine: machine, round: $0)]?.isDisjoint(with: heard) == false }
    }

    /// A device has signed that the machine is out, in this round.
    mutating func sign(_ records: [MembershipRecord.ID], against machine: Int, round: Int) {
        for record in records { signed[record] = Place(machine: machine, round: round) }
    }

    mutating func forge(_ records: [MembershipRecord.ID]) { forged.formUnion(records) }

    /// The records count, because a member has heard of them.
    mutating func putOut(_ place: Place, by records: Set<MembershipRecord.ID>) {
        expulsions[place, default: []].formUnion(records)
    }

    mutating func letIn(_ machine: Int, by record: MembershipRecord.ID) {
        returns[Place(machine: machine, round: round(of: machine) + 1)] = record
    }

    /// A machine has heard of these, as far as they matter.
    mutating func hear(_ records: some Sequence<MembershipRecord.ID>, _ machine: Int) {
        let all = expulsions.values.reduce(into: Set(returns.values)) { $0.formUnion($1) }
        heard[machine, default: []].formUnion(all.intersection(records))
    }
}
