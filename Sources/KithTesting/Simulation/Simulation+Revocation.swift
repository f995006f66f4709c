import KithCausality

/// Machines that are no longer members.
extension Simulation {
    /// A node is no longer a member, of which the others hear one by one. At least two remain.
    func revoke(_ node: SimulatedNode) throws {
        guard !node.isRevoked, members.count > 2 else { return }
        node.isRevoked = true
        note(.revocation)
        for member in members {
            for known in member.forgotten + [member.known] { revokedContents.allow(known) }
            // What was copied before may come back.
            if let backup = member.backup { revokedContents.allow(backup.known) }
        }
        for link in links.indices where links[link].nodes.contains(node.index) {
            plan(.refuse(link: link), at: now + random.int64(in: 0...Self.revocationMillisecondsMax))
        }
    }

    private static let revocationMillisecondsMax: Int64 = 20_000

    /// One side of a link has heard that the other is no longer a member.
    func refuse(_ link: Int) throws {
        links[link].isRefused = true
        try breakConnection(link)
        for side in 0...1 {
            let end = EndID(link: link, side: side, epoch: links[link].epoch)
            if isOpen(end) { try close(end) }
        }
        for node in links[link].nodes { dialAgain(nodes[node]) }
        for (member, other) in [(0, 1), (1, 0)] where nodes[links[link].nodes[other]].isRevoked {
            revokedContents.hear(member: links[link].nodes[member], of: links[link].nodes[other])
        }
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
