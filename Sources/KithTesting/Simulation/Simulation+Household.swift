import KithSync
import KithTrust

/// Records of the household, which travel in the sessions of machines as in those of nodes, and by which each machine judges for itself.
extension Simulation {
    /// Whether one side of the link takes a side for no member any more.
    func isRefused(_ link: Int) -> Bool {
        let (one, other) = (nodes[links[link].nodes[0]], nodes[links[link].nodes[1]])
        return !one.trusts(other) || !other.trusts(one)
    }

    /// A session has met its peer.
    func tellHousehold(_ end: EndID) throws {
        if let digest = node(of: end).household?.digest { try handle(.household(HouseholdMessage.digest(digest).encoded), end) }
    }

    /// A peer says something of the household.
    func hearOfHousehold(_ bytes: [UInt8], _ end: EndID) throws {
        let node = node(of: end)
        guard let own = node.household, let message = HouseholdMessage(bytes) else { return }
        let (answers, hasChanged) = own.hear(message)
        if case .records(let records) = message { noteHeard(records, node, isPlain: isPlain(end)) }
        if hasChanged { try householdChanged(node, except: links[end.link].ends[end.side]?.id) }
        for answer in answers where isOpen(end) { try handle(.household(answer.encoded), end) }
    }

    /// Whether nobody has lied on the connection, so that what is told is all that was missing.
    private func isPlain(_ end: EndID) -> Bool {
        let link = links[end.link]
        return ![link.damagedEpoch, link.liedEpoch, link.recordsLiedEpoch].contains(end.epoch)
    }

    /// What a liar has signed counts as soon as one machine holds it.
    private func noteHeard(_ records: [[UInt8]], _ node: SimulatedNode, isPlain: Bool) {
        guard let own = node.household else { return }
        let ids = Self.ids(of: records)
        let held = ids.filter(own.contains)
        for id in held {
            if let place = household?.belonging.signed[id] { putOut(place, by: [id], mayComeBack: true) }
        }
        household?.belonging.hear(isPlain ? ids : held, node.index)
    }

    private static func ids(of records: [[UInt8]]) -> [MembershipRecord.ID] {
        records.compactMap { try? RecordClaim(bytes: $0, SimulatedAuthority.verifier).id }
    }

    /// A machine holds other records than before.
    func householdChanged(_ node: SimulatedNode, except session: SessionRouter.SessionID? = nil) throws {
        guard let own = node.household else { return }
        try checkMembers(node)
        for link in linksOfNode[node.index] {
            let end = end(of: node, link)
            if !node.trusts(self.node(of: end.other)) { try cut(end) }
        }
        for other in nodes where other !== node {
            revokedContents.note(member: node.index, refuses: other.index, !node.trusts(other))
        }
        route(.tell(.household(HouseholdMessage.digest(own.digest).encoded), session.map { .allBut($0) } ?? .all), node)
        try speakAgain(node)
        dialAgain(node)
    }

    /// A side does not trust the other one any more. It takes nothing more of it; what it has sent may have arrived before, but does not arrive
    /// from now on, also if its own end is closed.
    private func cut(_ end: EndID) throws {
        guard isOpen(end) || isOpen(end.other) else { return }
        links[end.link].ends[end.side]?.inbound = []
        try breakConnection(end.link)
        for one in [end, end.other] where isOpen(one) { try close(one) }
    }

    /// A machine that was none for a while goes on under another id.
    func speakAgain(_ node: SimulatedNode) throws {
        guard node.isAwake, node.isInAnotherRound else { return }
        let before = node.summary
        do {
            try node.speakAgain()
        } catch  where excuses(error, node) {
            if node.isWithoutPower { try losePower(node) }
            return
        }
        guard node.summary.replica != before.replica, node.summary.vector == before.vector, node.summary.clock >= before.clock else {
            throw Violation(.dotReused, "\(node.name) was no member for a while, and goes from \(before) to \(node.summary).")
        }
        storeMoved(node)
    }

    // MARK: Lies

    /// What a liar shows of the household ahead of a frame of its store.
    func recordLies(_ end: EndID) -> [[UInt8]] {
        let node = node(of: end)
        guard links[end.link].recordLies[end.side] > 0, let course = household, let own = node.household,
            links[end.link].ends[end.side]?.session.capabilities.contains(.household) == true
        else { return [] }
        let victims = nodes.indices.filter { !course.doomed.contains($0) && course.spares($0, of: nodes.count) }
        var liar = RecordLiar(
            random: SplitMix64(seed: hostility.next()), machine: node.index, signer: node.authority.signer, membership: own.membership,
            peer: self.node(of: end.other).household?.membership.records.map(\.id) ?? [], machineCount: nodes.count, victims: victims)
        let messages = liar.lie()
        if messages.isEmpty { return [] }
        household?.belonging.forge(liar.forged)
        if let expulsion = liar.expulsion {
            household?.belonging.sign(expulsion.records, against: expulsion.machine, round: expulsion.round)
            household?.doomed.insert(expulsion.machine)
        }
        links[end.link].recordLies[end.side] -= 1
        note(.forgery)
        trace.note(now, "\(node.name) lies about the household: \(liar.kind)")
        return messages.map { FrameCodec.encode(.household($0.encoded)) }
    }

    /// Records that were changed under way, which nobody has signed.
    func noteForged(_ told: Frame?, insteadOf meant: Frame?) {
        guard case .household(let told) = told, case .records(let records)? = HouseholdMessage(told) else { return }
        var known: Set<MembershipRecord.ID> = []
        if case .household(let meant) = meant, case .records(let records)? = HouseholdMessage(meant) { known = Set(Self.ids(of: records)) }
        household?.belonging.forge(Self.ids(of: records).filter { !known.contains($0) })
    }

    // MARK: What must hold

    /// By the records that a machine holds those are members, and no others, that are by what it has heard.
    private func checkMembers(_ node: SimulatedNode) throws {
        guard let course = household, let membership = node.household?.membership else { return }
        for other in nodes {
            let isMember = course.belonging.isMember(other.index, for: node.index)
            guard (membership.member(other.authority.id) != nil) != isMember else { continue }
            throw Violation(
                .wrongMembers, "\(node.name) takes \(other.name) for \(isMember ? "no" : "a") member, and has not heard why.")
        }
        guard !course.belonging.forged.contains(where: membership.contains) else {
            throw Violation(.wrongMembers, "\(node.name) takes in a record that no member has signed.")
        }
    }

    /// Whether all members hold the same records.
    var haveSameRecords: Bool { Set(members.compactMap { $0.household?.digest }).count <= 1 }

    func checkSameRecords() throws {
        guard !haveSameRecords else { return }
        let states = members.map { "\($0.name) \($0.household?.membership.records.count ?? 0)" }.joined(separator: ", ")
        throw Violation(.wrongMembers, "The members do not come to hold the same records of the household, but so many: \(states).")
    }

    /// All members hold the same, which says the same in any order, and have all heard who is out.
    func checkHousehold() throws {
        guard let course = household else { return }
        try checkSameRecords()
        for node in members {
            guard let own = node.household?.membership else { continue }
            try checkMembers(node)
            var records = own.records
            for index in records.indices.dropLast() {
                records.swapAt(index, household?.random.int(in: index...records.count - 1) ?? index)
            }
            var again = Membership(of: own.household)
            _ = try? again.insert(records)
            guard again.digest == own.digest, again.members == own.members else {
                throw Violation(.wrongMembers, "\(node.name) names other members than follow from its records.")
            }
            for other in nodes where course.belonging.isMember(other.index, for: node.index) == other.isRevoked {
                // What only machines knew that are out themselves is lost with them.
                let heard = members.filter { !course.belonging.isMember(other.index, for: $0.index) }
                if heard.isEmpty, other.isRevoked { continue }
                throw Violation(
                    .wrongMembers,
                    "\(node.name) never heard that \(other.name) is \(other.isRevoked ? "out" : "back").")
            }
        }
    }
}
