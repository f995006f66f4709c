import KithCausality
import KithSync

/// Who dials whom, when, and which of two connections stays: the planner and the choice that a node runs, too, on links that may be cut.
extension Simulation {
    private func configuration(of node: SimulatedNode, with peer: SimulatedNode) -> PeerSession.Configuration {
        var configuration = PeerSession.Configuration(app: "simulation", group: Array("simulation".utf8), software: "KithTesting")
        configuration.capabilities.insert(.compression)
        if node.household != nil { configuration.capabilities.insert(.household) }
        configuration.headsSpelledMax = headsSpelledMax
        configuration.proofs = node.proofs
        configuration.peerDevice = peer.device
        return configuration
    }

    private var instant: Instant { Instant(milliseconds: now) }

    /// The node's links, or those whom it trusts, are other ones, or it hears that its network has changed.
    func dialAgain(_ node: SimulatedNode) {
        guard node.isAwake else { return }
        let devices = linksOfNode[node.index].map { peer(of: node, $0) }.filter(node.trusts).map { (device: $0.index, addresses: [0]) }
        node.planner.trust(devices, now: instant)
        dialDue(node)
    }

    private func peer(of node: SimulatedNode, _ link: Int) -> SimulatedNode {
        nodes[links[link].nodes[links[link].nodes[0] == node.index ? 1 : 0]]
    }

    /// Dials whatever is due.
    func dialDue(_ node: SimulatedNode, isPlanned: Bool = false) {
        if isPlanned { node.dialsAt = nil }
        guard node.isAwake else { return }
        for dial in node.planner.start(now: instant) {
            guard case .device(let peer) = dial.target, let link = link(node.index, peer) else { continue }
            plan(.dial(link: link, side: node.index < peer ? 0 : 1, generation: node.generation), at: now + latency())
        }
        guard let due = node.planner.nextDue?.milliseconds else { return }
        if let planned = node.dialsAt, planned <= due { return }
        node.dialsAt = due
        plan(.plan(node: node.index), at: due)
    }

    /// A node has dialled: there is a connection now, or nobody answers.
    func dial(_ link: Int, from side: Int, _ generation: Int) throws {
        let sides = links[link].nodes.map { nodes[$0] }
        let (node, peer) = (sides[side], sides[1 - side])
        guard node.isRunning, node.generation == generation else { return }
        guard !links[link].isCut, !isRefused(link), sides.allSatisfy(\.isAwake) else {
            let advice = isRefused(link) ? CloseCode.notTrusted.retry : .later
            node.planner.failed(.device(peer.index), advice, now: instant, using: &random)
            return dialDue(node)
        }
        node.planner.connected(peer.index, dialled: .device(peer.index))
        peer.planner.connected(node.index, dialled: nil)
        let choices = (0...1).map { choice(link, side: $0, dialledBy: side) }
        // What was a connection, or one side still takes for one, gives way.
        for side in 0...1 where choices[side] == .keepNew {
            let end = EndID(link: link, side: side, epoch: links[link].epoch)
            if isOpen(end) { try handle(.close(Self.replaced), end) }
        }
        guard choices == [.keepNew, .keepNew] else {
            for (one, other) in [(node, peer), (peer, node)] { hungUp(one, with: other, Self.replaced) }
            return
        }
        try connect(link, dialledBy: side)
    }

    private static let replaced = CloseReason(.replaced, "Another connection to this device is kept.")

    /// What one side of a link makes of a new connection.
    private func choice(_ link: Int, side: Int, dialledBy initiator: Int) -> ConnectionChoice {
        guard let old = links[link].ends[side] else { return .keepNew }
        return ConnectionChoice(
            own: links[link].nodes[side], peer: links[link].nodes[1 - side], oldIsInitiator: old.isInitiator,
            newIsInitiator: side == initiator, oldAgeMilliseconds: now - old.since)
    }

    private func connect(_ link: Int, dialledBy initiator: Int) throws {
        let sides = links[link].nodes.map { nodes[$0] }
        links[link].epoch += 1
        statistics.connections += 1
        trace.note(now, "connect \(sides[initiator].name)–\(sides[1 - initiator].name)")
        for side in 0...1 {
            links[link].ends[side] = LinkEnd(
                session: PeerSession(configuration(of: sides[side], with: sides[1 - side])), id: sides[side].router.open(),
                isInitiator: side == initiator, since: now,
                lastArrival: now)
        }
        let epoch = links[link].epoch
        for side in 0...1 {
            let end = EndID(link: link, side: side, epoch: epoch)
            guard isOpen(end) else { continue }
            try handle(
                .connected(
                    sides[side].summary, durable: sides[side].durable, ahead: (try? sides[side].store?.ahead()) ?? VersionVector(),
                    wallClockMilliseconds: wallClock(of: sides[side])),
                end)
        }
    }

    /// A side has no session any more. Without a reason its connection was lost.
    func forget(_ end: EndID, _ reason: CloseReason? = nil) {
        guard let old = links[end.link].ends[end.side] else { return }
        let node = node(of: end)
        links[end.link].ends[end.side] = nil
        route(.ended(old.id), node)
        let peer = self.node(of: end.other)
        if old.peer != nil { node.planner.succeeded(peer.index) }
        hungUp(node, with: peer, reason)
    }

    private func hungUp(_ node: SimulatedNode, with peer: SimulatedNode, _ reason: CloseReason?) {
        node.planner.disconnected(
            peer.index, reason?.code.retry ?? .later, isReplaced: reason?.code == .replaced, now: instant, using: &random)
        dialDue(node)
    }
}
