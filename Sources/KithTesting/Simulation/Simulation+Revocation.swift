import KithCausality
import KithTrust

/// Machines that are no longer members, or were none for a while.
extension Simulation {
    /// A member revokes a node. At least two remain.
    func revoke(_ node: SimulatedNode) throws {
        guard let course = household, !node.isRevoked, course.spares(node.index, of: nodes.count) else { return }
        let authors = members.filter { $0 !== node && $0.generation > 0 && !$0.isAsleep && $0.trusts(node) }
        guard let author = household?.random.pick(authors) else { return }
        let said = author.household?.say(.revoke(node.authority.id), by: author.authority.signer, milliseconds: now) ?? []
        if said.isEmpty { return }
        note(.revocation)
        trace.note(now, "\(author.name) revokes \(node.name)")
        let records = Set(said.map(\.id))
        putOut(Belonging.Place(machine: node.index, round: course.belonging.round(of: node.index)), by: records, mayComeBack: false)
        household?.belonging.hear(records, author.index)
        try householdChanged(author)
    }

    /// These records put a machine out, unless it was let in again meanwhile.
    func putOut(_ place: Belonging.Place, by records: Set<MembershipRecord.ID>, mayComeBack: Bool) {
        household?.belonging.putOut(place, by: records)
        let node = nodes[place.machine]
        guard !node.isRevoked, household?.belonging.round(of: place.machine) == place.round else { return }
        node.isRevoked = true
        household?.doomed.insert(place.machine)
        for member in members { allowAll(of: member) }
        guard mayComeBack, household?.random.chance(percent: 60) == true else { return }
        household?.leaving.insert(place.machine)
        plan(.letIn(node: place.machine), at: now + (household?.random.int64(in: 0...Self.absenceMillisecondsMax) ?? 0))
    }

    /// Members may hold what this one does.
    private func allowAll(of member: SimulatedNode) {
        for known in member.forgotten + [member.known] { revokedContents.allow(known) }
        // What was copied before may come back.
        if let backup = member.backup { revokedContents.allow(backup.known) }
    }

    private static let absenceMillisecondsMax: Int64 = 20_000

    /// A member that has heard that a machine is out lets it in again. If there is none yet, that is tried once more at the end.
    func letIn(_ node: SimulatedNode) throws {
        guard let course = household, course.leaving.contains(node.index), node.isAwake else { return }
        let (id, rounds) = (node.authority.id, course.belonging.round(of: node.index) + 1)
        let hosts = members.filter { $0.isAwake && $0.household?.roundsEnded(of: id) == rounds }
        if let host = household?.random.pick(hosts) { try letIn(node, at: host) }
    }

    /// If the host of a machine that came back was put out before it told the other members, none of these knows that the machine is back.
    /// The machine's user pairs it once more then, as docs/household.md says.
    func letInOnceMore(_ node: SimulatedNode) throws {
        guard let belonging = household?.belonging, !node.isRevoked, node.isAwake else { return }
        let others = members.filter { $0 !== node && $0.isAwake }
        guard !others.contains(where: { belonging.isMember(node.index, for: $0.index) }) else { return }
        if let host = household?.random.pick(others) { try letIn(node, at: host) }
    }

    private func letIn(_ node: SimulatedNode, at host: SimulatedNode) throws {
        trace.note(now, "\(host.name) lets \(node.name) in again")
        try household?.letIn(node, at: host, milliseconds: now)
        node.isRevoked = false
        // Another machine that was out, too, may have brought it something.
        allowAll(of: node)
        for other in nodes where other.isRunning { try introduce(other) }
        try householdChanged(host)
        try householdChanged(node)
    }

    /// The nodes that were not revoked.
    var members: [SimulatedNode] { nodes.filter { !$0.isRevoked } }

    /// The members that may send what they hold.
    var speakers: [SimulatedNode] { members.filter { !isSilent($0) } }

    /// Whether the machine has the disk of another that was stopped, with commits which that has signed for nobody: it receives, and sends nothing
    /// until they are proven. See docs/threats.md.
    func isSilent(_ node: SimulatedNode) -> Bool { node.mayHoldUnproven && node.proofs?.isComplete == false }

    private var revoked: Set<Int> { Set(nodes.filter(\.isRevoked).map(\.index)) }

    // MARK: What must hold

    /// A member that has heard of a revocation exchanges nothing with the machine.
    func checkMeeting(_ end: EndID) throws {
        guard revokedContents.mayMeet(node(of: end).index, node(of: end.other).index) else {
            throw Violation(
                .revokedContent, "\(node(of: end).name) goes on with \(node(of: end.other).name), although one of them was revoked.")
        }
    }

    /// `node` has taken something over a connection: nothing of a revoked machine, unless that is the peer, and may still be one.
    func checkTaken(_ node: SimulatedNode, from peer: SimulatedNode) throws {
        if node.isRevoked || members.count == nodes.count { return }
        if peer.isRevoked, revokedContents.mayMeet(node.index, peer.index) { return revokedContents.allow(node.known) }
        try checkNothingRevoked(node)
    }

    /// A member holds no commit of a revoked machine but what members took before they heard of it.
    func checkNothingRevoked(_ node: SimulatedNode) throws {
        // Who was told that he knows it, and does not, holds nothing of it.
        guard let event = revokedContents.excess(in: node.known, of: revoked, ledger), !taint.covers(event) else { return }
        throw Violation(
            .revokedContent,
            "\(node.name) holds \(ledger.name(of: event)) of a machine that was revoked, and no member took it while it was allowed to.")
    }

    /// Who is no member any more brings nothing, nor who sends nothing, not even what others had begun to receive.
    func loseWhatNobodySends() {
        guard speakers.count < nodes.count else { return }
        var whole = Knowledge()
        for member in speakers { whole.join(member.known.common) }
        ledger.lose(beyond: whole)
    }
}
