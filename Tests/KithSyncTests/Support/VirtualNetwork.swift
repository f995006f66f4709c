import KithCausality
import KithSync
import TestSupport

/// Nodes with a ``ModelStore`` each, joined by connections, in virtual time: one thread, one seed, one trace.
///
/// Frames of one direction of a connection arrive in order, after a delay; stores answer after a delay; a connection may be
/// cut at any time, and what is under way on it is lost.
final class VirtualNetwork {
    struct Node {
        var store: ModelStore
        var wallClockSkewMilliseconds: Int64 = 0
        /// What survives a loss of power.
        var durable = VersionVector()
        var openPeers: [ReplicaID] = []
    }

    /// One side of a connection.
    struct End {
        var session: PeerSession
        var lastArrival: Int64 = 0
        var tickAt: Int64?
        var status: PeerStatus?
    }

    struct Link {
        let nodes: [Int]
        /// Grows with every connection, so that what belongs to an earlier one is told apart.
        var epoch = 0
        var ends: [End?] = [nil, nil]
        /// Whether frames from this side vanish on their way.
        var swallows = [false, false]
        var reconnects = true
    }

    struct Closing {
        var node: Int
        var reason: CloseReason
    }

    private enum Task {
        case deliver([UInt8])
        case hangUp
        case perform(PeerSession.Effect)
        case tick
    }

    private struct Event {
        var time: Int64
        var number: Int
        var link: Int
        var side: Int
        var epoch: Int
        var task: Task
    }

    private(set) var now: Int64 = 0
    private(set) var nodes: [Node]
    private(set) var links: [Link] = []
    /// By node, its sides of links.
    private var sidesOfNode: [Int: [(link: Int, side: Int)]] = [:]
    private(set) var closings: [Closing] = []
    /// How many frames of each type were sent.
    private(set) var framesSent: [UInt8: Int] = [:]
    /// How many bytes the two sides of the links have sent.
    private(set) var bytesSent = [0, 0]
    /// How many rows were sent in slices.
    private(set) var rowsSent = 0
    var delayMilliseconds: ClosedRange<Int64> = 1...20
    var storeDelayMilliseconds: ClosedRange<Int64> = 1...5
    var configuration = PeerSession.Configuration(app: "test", group: Array("home".utf8), software: "test")
    /// The last events come first.
    private var events: [Event] = []
    private var plans: [(time: Int64, action: () -> Void)] = []
    private var eventCount = 0
    private var random: SplitMix64

    init(nodes count: Int, seed: UInt64) {
        random = SplitMix64(seed: seed)
        nodes = (0..<count).map { Node(store: ModelStore(replica: ReplicaID(high: UInt64($0 + 1), low: 0))) }
    }

    // MARK: What a test does

    /// Joins two nodes.
    @discardableResult func connect(_ a: Int, _ b: Int) -> Int {
        links.append(Link(nodes: [a, b]))
        for (side, node) in [a, b].enumerated() { sidesOfNode[node, default: []].append((links.count - 1, side)) }
        dial(links.count - 1)
        return links.count - 1
    }

    func connectAll() {
        for a in nodes.indices { for b in nodes.indices where a < b { connect(a, b) } }
    }

    /// Cuts a connection. What is under way on it is lost.
    func cut(_ link: Int, reconnects: Bool) {
        links[link].reconnects = reconnects
        links[link].ends = [nil, nil]
        links[link].epoch += 1
        for node in links[link].nodes { updateNeighbours(of: node) }
        if reconnects { dialLater(link) }
    }

    func dial(_ link: Int) {
        links[link].reconnects = true
        guard links[link].ends[0] == nil, links[link].ends[1] == nil else { return }
        links[link].epoch += 1
        for side in 0...1 { links[link].ends[side] = End(session: PeerSession(configuration), lastArrival: now) }
        for side in 0...1 {
            let node = nodes[links[link].nodes[side]]
            handle(
                .connected(node.store.summary, durable: node.durable, wallClockMilliseconds: wallClock(of: links[link].nodes[side])),
                link, side)
        }
    }

    func swallow(_ link: Int, from side: Int, _ swallows: Bool = true) {
        links[link].swallows[side] = swallows
    }

    func commit(_ node: Int, _ operations: [Operation]) {
        nodes[node].store.commit(now: UInt64(max(0, wallClock(of: node))) << 16, operations)
        storeMoved(node, except: nil)
    }

    func insert(_ node: Int, row: UInt64, x: Int64 = 1) {
        commit(node, [Operation(row: RowID(high: 0, low: row), change: .insert(x: x, tags: [], count: 0))])
    }

    func edit(_ node: Int, _ body: (inout Node) -> Void) {
        body(&nodes[node])
    }

    /// Hands one side of a connection a frame that the other never sent.
    func inject(_ bytes: [UInt8], _ link: Int, to side: Int) {
        schedule(now, link, side, .deliver(bytes))
    }

    func plan(at time: Int64, _ action: @escaping () -> Void) {
        plans.append((time, action))
        plans.sort { $0.time > $1.time }
    }

    func run(forMilliseconds duration: Int64) {
        let end = now + duration
        while true {
            let next = min(events.last?.time ?? .max, plans.last?.time ?? .max)
            guard next <= end else { break }
            now = max(now, next)
            if let plan = plans.last, plan.time <= next {
                plans.removeLast()
                plan.action()
            } else if let event = events.popLast() {
                run(event)
            }
        }
        now = end
    }

    func forgetCounts() {
        framesSent = [:]
        bytesSent = [0, 0]
        rowsSent = 0
    }

    func session(_ link: Int, _ side: Int) -> PeerSession? { links[link].ends[side]?.session }
    func status(_ link: Int, _ side: Int) -> PeerStatus? { links[link].ends[side]?.status }

    /// Whether every node knows the same and holds the same.
    var hasConverged: Bool {
        nodes.allSatisfy { $0.store.vector == nodes[0].store.vector && $0.store.rows == nodes[0].store.rows }
    }

    // MARK: What happens by itself

    private func wallClock(of node: Int) -> Int64 { 1_700_000_000_000 + now + nodes[node].wallClockSkewMilliseconds }

    private func schedule(_ time: Int64, _ link: Int, _ side: Int, _ task: Task) {
        eventCount += 1
        let event = Event(time: time, number: eventCount, link: link, side: side, epoch: links[link].epoch, task: task)
        let index = events.partitioningIndex { ($0.time, $0.number) < (event.time, event.number) }
        events.insert(event, at: index)
    }

    private func delay() -> Int64 { .random(in: delayMilliseconds, using: &random) }
    private func storeDelay() -> Int64 { .random(in: storeDelayMilliseconds, using: &random) }

    private func dialLater(_ link: Int) {
        let epoch = links[link].epoch
        plan(at: now + delay() * 20) { [unowned self] in
            if links[link].epoch == epoch, links[link].reconnects { dial(link) }
        }
    }

    private func run(_ event: Event) {
        let (link, side) = (event.link, event.side)
        guard links[link].epoch == event.epoch, links[link].ends[side] != nil else { return }
        switch event.task {
        case .deliver(let bytes):
            handle(.received(bytes), link, side)
        case .hangUp:
            close(link, side)
        case .tick:
            links[link].ends[side]?.tickAt = nil
            handle(.tick(wallClockMilliseconds: wallClock(of: links[link].nodes[side])), link, side)
        case .perform(let effect):
            perform(effect, link, side)
        }
    }

    private func handle(_ input: PeerSession.Input, _ link: Int, _ side: Int) {
        guard let effects = links[link].ends[side]?.session.handle(input, now: Instant(milliseconds: now)) else { return }
        for effect in effects {
            switch effect {
            case .send(let bytes): send(bytes, link, side)
            case .peer(let status): links[link].ends[side]?.status = status
            case .renewIdentity: renewIdentity(of: links[link].nodes[side])
            case .attachment, .household: break
            case .readSlice, .apply, .verifyIdentity, .digest: schedule(now + storeDelay(), link, side, .perform(effect))
            case .close(let reason):
                closings.append(Closing(node: links[link].nodes[side], reason: reason))
                schedule(max(now + delay(), links[link].ends[1 - side]?.lastArrival ?? 0), link, 1 - side, .hangUp)
                close(link, side)
            }
        }
        updateNeighbours(of: links[link].nodes[side])
        if let deadline = links[link].ends[side]?.session.nextDeadline?.milliseconds,
            (links[link].ends[side]?.tickAt).map({ deadline < $0 }) ?? true
        {
            links[link].ends[side]?.tickAt = deadline
            schedule(max(deadline, now), link, side, .tick)
        }
    }

    private func send(_ bytes: [UInt8], _ link: Int, _ side: Int) {
        let type = bytes.frameType ?? 0
        framesSent[type, default: 0] += 1
        bytesSent[side] += bytes.count
        if type == 2, case .slice(let slice, _)? = try? FrameCodec.decode(bytes, links[link].ends[side]?.session.bases) {
            rowsSent += slice.rows.count
        }
        guard !links[link].swallows[side], links[link].ends[1 - side] != nil else { return }
        let arrival = max(now + delay(), links[link].ends[1 - side]?.lastArrival ?? 0)
        links[link].ends[1 - side]?.lastArrival = arrival
        schedule(arrival, link, 1 - side, .deliver(bytes))
    }

    private func perform(_ effect: PeerSession.Effect, _ link: Int, _ side: Int) {
        let node = links[link].nodes[side]
        switch effect {
        case .readSlice(let request):
            handle(.sliceRead(nodes[node].store.read(request)), link, side)
        case .apply(let slice, let relay):
            for (other, side) in ends(of: node) where other != link { handle(.relayed(relay), other, side) }
            let outcome = nodes[node].store.apply(slice)
            handle(.applied(outcome), link, side)
            if case .applied = outcome { storeMoved(node, except: link) }
        case .verifyIdentity(let claim):
            nodes[node].store.verify(claim, fresh: .random(using: &random))
            for (link, side) in ends(of: node) { handle(.identity(nodes[node].store.summary), link, side) }
        case .digest(let task):
            let before = nodes[node].store.vector
            let result = nodes[node].store.perform(task)
            handle(.digest(result), link, side)
            if result.hasMended {
                for (other, side) in ends(of: node) where other != link { handle(.mended, other, side) }
            }
            if nodes[node].store.vector != before { storeMoved(node, except: nil) }
        case .send, .attachment, .household, .peer, .close, .renewIdentity:
            break
        }
    }

    private func renewIdentity(of node: Int) {
        nodes[node].store.take(.random(using: &random))
        for (link, side) in ends(of: node) { handle(.identity(nodes[node].store.summary), link, side) }
    }

    private func storeMoved(_ node: Int, except: Int?) {
        let store = nodes[node].store
        for (link, side) in ends(of: node) where link != except { handle(.committed(store.summary), link, side) }
        plan(at: now + 10 * storeDelay()) { [unowned self] in
            nodes[node].durable.join(store.vector)
            for (link, side) in ends(of: node) { handle(.durable(nodes[node].durable), link, side) }
        }
    }

    private func close(_ link: Int, _ side: Int) {
        links[link].ends[side] = nil
        updateNeighbours(of: links[link].nodes[side])
        if links[link].ends[1 - side] == nil, links[link].reconnects { dialLater(link) }
    }

    private func ends(of node: Int) -> [(link: Int, side: Int)] {
        (sidesOfNode[node] ?? []).filter { links[$0.link].ends[$0.side] != nil }
    }

    private func updateNeighbours(of node: Int) {
        let peers = ends(of: node).compactMap { links[$0.link].ends[$0.side]?.session.peer }
        guard peers != nodes[node].openPeers else { return }
        nodes[node].openPeers = peers
        for (link, side) in ends(of: node) { handle(.neighbours(peers), link, side) }
    }
}

extension Array {
    /// The index of the first element for which `isAfter` holds, in an array where it holds for all after the first.
    fileprivate func partitioningIndex(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
