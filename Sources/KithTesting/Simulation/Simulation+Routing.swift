import KithStore
import KithSync

/// What the sessions of a node hear of its store and of each other: the router that a node runs, too, with drawn delays where that has threads.
extension Simulation {
    /// A process begins to talk to the network.
    func beginRouting(_ node: SimulatedNode) {
        guard node.isRunning else { return }
        node.router = SessionRouter()
        _ = node.news.takeAll()
        // What was committed while it did not run.
        route(.committed(.unknown), node)
    }

    /// Tells the node's router what has happened, and plans what it asks for.
    func route(_ input: SessionRouter.Input, _ node: SimulatedNode) {
        for effect in node.router.handle(input) {
            switch effect {
            case .wake(let id):
                guard let end = ends(of: node).first(where: { links[$0.link].ends[$0.side]?.id == id }) else { continue }
                plan(.wake(end), at: now + routing.wakeMilliseconds())
            case .readSummary:
                plan(.readSummary(node: node.index, generation: node.generation), at: now + routing.readMilliseconds())
            case .retryLater:
                plan(.readAgain(node: node.index, generation: node.generation), at: now + Routing.retryMilliseconds)
            }
        }
    }

    /// Hands the router what the store told of its commits; of those of another process it hears only that there was one, and later.
    func hearNews(of node: SimulatedNode, isForeign: Bool = false) {
        for news in node.news.takeAll() {
            guard isForeign else {
                route(.committed(news), node)
                continue
            }
            plan(.hear(.unknown, node: node.index, generation: node.generation), at: now + routing.foreignMilliseconds())
        }
    }

    /// The store answers the router, unless it cannot be read.
    func readSummary(_ node: SimulatedNode, _ generation: Int) throws {
        guard let store = node.store, node.generation == generation else { return }
        if node.isDiskBroken || routing.isBusy() { return route(.unreadable, node) }
        route(.read(try store.summary()), node)
    }

    /// A session gets to what waits for it.
    func emptyInbox(_ end: EndID) throws {
        guard isOpen(end), let id = links[end.link].ends[end.side]?.id else { return }
        let node = node(of: end)
        let inputs = node.router.take(id)
        try checkInbox(inputs, node)
        for input in inputs { try handle(input, end) }
    }

    /// However long a session was busy, it is told the newest only; and no session is told that has ended.
    private func checkInbox(_ inputs: [PeerSession.Input], _ node: SimulatedNode) throws {
        let commits = inputs.count { if case .committed = $0 { true } else { false } }
        guard commits <= 1, inputs.count <= Self.inboxMax(nodes.count), node.router.sessionCount == ends(of: node).count else {
            throw Violation(
                .queueTooLong,
                """
                \(inputs.count) things, \(commits) of them commits, waited for a session of \(node.name), which tells \
                \(node.router.sessionCount) sessions and has \(ends(of: node).count).
                """)
        }
    }

    /// Knowledge of each kind, who the store is, and a relay for each set of replicas that a peer serves.
    private static func inboxMax(_ nodeCount: Int) -> Int { 8 + 4 * nodeCount }
}
