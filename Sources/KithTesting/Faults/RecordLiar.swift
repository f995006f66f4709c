import KithTrust

/// A device of the household that means ill, and signs with its own key whatever it likes.
struct RecordLiar {
    var random: SplitMix64
    /// Which machine it is.
    let machine: Int
    let signer: RecordSigner
    /// What its machine knows, and what the other side has.
    let membership: Membership
    let peer: [MembershipRecord.ID]
    let machineCount: Int
    /// The machines that may be put out.
    let victims: [Int]

    /// What a lie is about.
    enum Kind: CaseIterable {
        /// A record in another member's name; a known one that says something else; one by a device that was never added.
        case signature, changed, stranger
        /// Less than the liar has, or more; single records, in any order.
        case cut
        /// Another record under a number that has one, which two members may hear differently.
        case fork
        /// As many records as it has room for.
        case flood
        /// A device that is a member, or another one, added as one that was never out.
        case addition
        /// Another machine is out; the liar itself; the liar under another key.
        case expulsion, departure, renewal
    }

    /// What it has lied about.
    private(set) var kind = Kind.cut
    /// Records that no member has signed.
    private(set) var forged: [MembershipRecord.ID] = []
    /// Which machine is out as soon as anybody hears it, and from which of its memberships.
    private(set) var expulsion: (machine: Int, round: Int, records: [MembershipRecord.ID])?

    init(
        random: SplitMix64, machine: Int, signer: RecordSigner, membership: Membership, peer: [MembershipRecord.ID], machineCount: Int,
        victims: [Int]
    ) {
        (self.random, self.machine, self.signer, self.membership) = (random, machine, signer, membership)
        (self.peer, self.machineCount, self.victims) = (peer, machineCount, victims)
    }

    /// The messages of one lie; none if the liar knows too little to tell one.
    mutating func lie() -> [HouseholdMessage] {
        kind = random.pick(Kind.allCases) ?? .cut
        switch kind {
        case .signature: return show(forged(by: RecordSigner(id: someone, publicKeyBytes: [2] + someone.bytes, sign: signer.sign)))
        case .stranger: return show(forged(by: SimulatedAuthority(device: Array("stranger".utf8)).signer))
        case .changed: return changed()
        case .cut: return cut()
        case .fork: return show(sign(.rename(someone, name: "x\(random.int(in: 0...99))"), own(after: random.pick(said)), by: signer))
        case .flood: return flood()
        case .addition:
            let device = random.chance(percent: 50) ? someone : puppet()
            return show(sign(.add(device, name: ""), own(after: said.last), by: signer))
        case .expulsion: return putOut(random.pick(victims.filter { $0 != machine }))
        case .departure: return putOut(victims.first { $0 == machine })
        case .renewal: return victims.contains(machine) ? renew() : []
        }
    }

    // MARK: What it knows

    /// A machine that is not the liar's.
    private var someone: DeviceID { HouseholdCourse.id(of: (machine + 1) % machineCount) }

    private func addition(of device: DeviceID) -> MembershipRecord? {
        membership.records.filter { record in
            if case .add(device, _) = record.action { true } else { false }
        }.max { $0.terms.round < $1.terms.round }
    }

    /// What the liar has said under its newest addition, as far as its machine knows.
    private var said: [MembershipRecord] {
        let warrant = addition(of: signer.id)?.id
        return membership.records.filter { record in
            if case .replace = record.action { return false }
            return record.author == signer.id && record.terms.warrant == warrant && record.terms.number > 0
        }
    }

    private mutating func puppet() -> DeviceID { SimulatedAuthority(device: Array("puppet\(random.int(in: 0...9_999))".utf8)).id }

    // MARK: Records

    /// On what the liar's next record stands.
    private func own(after previous: MembershipRecord?) -> RecordTerms {
        var terms = RecordTerms()
        terms.warrant = addition(of: signer.id)?.id
        terms.previous = previous?.id ?? terms.warrant
        terms.number = previous?.terms.next ?? 1
        return terms
    }

    private func sign(_ action: MembershipAction, _ terms: RecordTerms, by signer: RecordSigner) -> MembershipRecord? {
        if terms.warrant == nil { return nil }
        return try? MembershipRecord(action, terms, household: membership.household.bytes, by: signer, milliseconds: 0)
    }

    private func show(_ record: MembershipRecord?) -> [HouseholdMessage] { record.map { [.records([$0.bytes])] } ?? [] }

    /// A record of a device that has not signed it, or may sign none.
    private mutating func forged(by author: RecordSigner) -> MembershipRecord? {
        let subject = HouseholdCourse.id(of: random.int(in: 0...machineCount - 1))
        var terms = RecordTerms()
        // A stranger stands on what was said of others.
        terms.warrant = (addition(of: author.id) ?? addition(of: random.chance(percent: 50) ? signer.id : subject))?.id
        terms.previous = terms.warrant
        terms.number = 1
        var action = MembershipAction.rename(subject, name: "forged")
        switch random.int(in: 0...3) {
        case 0, 1:
            action = .revoke(subject)
            terms.addition = addition(of: subject)?.id
            terms.seal = random.int(in: 0...6)
        case 2: action = .add(puppet(), name: "")
        default: break
        }
        let record = sign(action, terms, by: author)
        forged += record.map { [$0.id] } ?? []
        return record
    }

    private mutating func changed() -> [HouseholdMessage] {
        guard let record = random.pick(membership.records) else { return [] }
        var bytes = record.bytes
        bytes[random.int(in: 0...bytes.count - 1)] ^= 1 << UInt8(random.int(in: 0...7))
        // Another signature of the same record makes no other one.
        if let claim = try? RecordClaim(bytes: bytes, SimulatedAuthority.verifier), claim.id != record.id { forged.append(claim.id) }
        return [.records([bytes])]
    }

    private mutating func cut() -> [HouseholdMessage] {
        switch random.int(in: 0...3) {
        case 0: return [.digest((0..<32).map { _ in UInt8(random.int(in: 0...255)) })]
        case 1: return [.have([], from: .lowest, through: .highest)]
        case 2: return [.have(peer, from: .lowest, through: .highest)]
        default:
            var records = membership.records.filter { _ in random.chance(percent: 50) }
            if random.chance(percent: 50) { records.reverse() }
            return records.isEmpty ? [] : [.records(records.map(\.bytes))]
        }
    }

    private mutating func flood() -> [HouseholdMessage] {
        var full = membership
        for number in 0..<Self.floodMax {
            let action = random.chance(percent: 20) ? .add(puppet(), name: "") : MembershipAction.rename(signer.id, name: "n\(number)")
            if (try? full.say(action, by: signer, milliseconds: 0)) == nil { break }
        }
        let records = full.records(besides: Set(membership.records.map(\.id)))
        return records.isEmpty ? [] : [.records(records.map(\.bytes))]
    }

    /// More than there is room for.
    private static let floodMax = 64

    // MARK: Who is out

    private mutating func putOut(_ victim: Int?) -> [HouseholdMessage] {
        guard let victim, let addition = addition(of: HouseholdCourse.id(of: victim)) else { return [] }
        var terms = RecordTerms()
        terms.warrant = self.addition(of: signer.id)?.id
        terms.addition = addition.id
        terms.seal = random.int(in: 0...6)
        return note(sign(.revoke(HouseholdCourse.id(of: victim)), terms, by: signer), victim, addition)
    }

    private mutating func renew() -> [HouseholdMessage] {
        guard let addition = addition(of: signer.id) else { return [] }
        return note(sign(.replace(by: puppet()), own(after: random.chance(percent: 80) ? said.last : nil), by: signer), machine, addition)
    }

    private mutating func note(_ record: MembershipRecord?, _ victim: Int, _ addition: MembershipRecord) -> [HouseholdMessage] {
        if let record { expulsion = (victim, addition.terms.round, [record.id]) }
        return show(record)
    }
}
