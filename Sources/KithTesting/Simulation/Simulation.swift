import KithCausality
import KithStore
import KithSync

/// One run of a script: real stores and real sessions in one thread and virtual time.
///
/// There is no clock but ``now``, no randomness but the script's seed, and no order but that of the event queue, so that a
/// script gives the same ``trace`` in every process.
final class Simulation {
    let script: Script
    let workload: Workload
    let ledger: Ledger
    var nodes: [SimulatedNode] = []
    var links: [Link] = []
    /// By node, the links that it has.
    private(set) var linksOfNode: [[Int]]
    var now: Int64 = 0
    /// Steps of the script that were begun; one more than it has when everything works again.
    private(set) var stepsBegun = 0
    var trace: Trace
    /// What lies may have changed: frames that arrived, could be read, and that nobody had sent.
    var taint: Taint
    /// What members may hold of machines that are none any more.
    var revokedContents = RevokedContents()
    var statistics = RunStatistics()
    var random: SplitMix64
    var storeRandom: SplitMix64
    var hostility: SplitMix64
    var routing: Routing
    /// Who is put out and let in, and what records say of that; `nil` where everybody is a member for ever.
    var household: HouseholdCourse?
    /// What lies on the sticks that go from machine to machine.
    var sticks: Sticks
    private var events = EventQueue<SimulationEvent>()

    /// How many heads a session spells out at most.
    let headsSpelledMax: Int

    init(_ script: Script, _ workload: Workload, keepsTrace: Bool = false, saysHashes: Bool = false) throws {
        headsSpelledMax = saysHashes ? 0 : .max
        self.script = script
        self.workload = workload
        ledger = Ledger(workload.tables)
        taint = Taint(workload.tables)
        linksOfNode = Array(repeating: [], count: script.nodeCount)
        trace = Trace(keepsLines: keepsTrace)
        random = SplitMix64(seed: script.seed, .network)
        storeRandom = SplitMix64(seed: script.seed, .stores)
        hostility = SplitMix64(seed: script.seed, .hostility)
        routing = Routing(seed: script.seed, script.conditions)
        household = script.hasHousehold ? try HouseholdCourse(seed: script.seed, nodeCount: script.nodeCount) : nil
        sticks = Sticks(seed: script.seed)
        let inMemory = !script.needsDisks
        let old = script.nodesBegunOld
        let late = script.nodesBegunLate
        let found = script.foundRows
        let characters = CharacterSource(.typed)
        for index in 0..<script.nodeCount {
            nodes.append(
                try SimulatedNode(
                    index: index, workload: workload, seed: script.seed, isOld: old.contains(index), inMemory: inMemory,
                    found: found[index] ?? [], isLate: late.contains(index), household: household?.share(of: index),
                    // Where slices are small, so is what a transaction takes. What waits because a disk fails would count as wrong.
                    takesLittle: script.conditions.sliceRowsMax < 5 && !script.hasBadDisks, characters: characters))
            // Where somebody lies, rows are removed for good, too.
            nodes[index].editor.versionsMayBeGone = script.removesRows || script.lies || !found.isEmpty
        }
        for (one, other) in script.conditions.topology.links(nodeCount: script.nodeCount) { addLink(one, other) }
    }

    /// - Returns: the number of the new link between two nodes, the lower one first.
    @discardableResult
    func addLink(_ one: Int, _ other: Int) -> Int {
        links.append(Link(nodes: [one, other]))
        for node in [one, other] { linksOfNode[node].append(links.count - 1) }
        return links.count - 1
    }

    /// Runs the script, heals the network and asks for convergence.
    ///
    /// - Throws: ``Violation`` for a broken promise.
    func run() throws {
        for node in nodes {
            try introduce(node)
            try noteAdoption(node)
            if script.lies { try catchUp(node) }
            beginRouting(node)
            try checkRows(ledger.rows, node)
            try checkLiveQueries(node)
        }
        for node in nodes { dialAgain(node) }
        for step in script.steps {
            stepsBegun += 1
            try perform(step)
            try runEvents(until: now)
        }
        stepsBegun += 1
        try heal()
        try converge()
        try checkEnd()
        statistics.virtualMilliseconds = now
        statistics.isPoisoned = taint.hasLies
        statistics.rowsInDoubt = ledger.rows.count(where: taint.covers)
        statistics.commitsLost = ledger.lostCount
    }

    /// Ends all processes.
    func stop() {
        for node in nodes { node.remove() }
    }

    // MARK: Events

    func plan(_ event: SimulationEvent, at time: Int64) {
        events.plan(event, at: max(time, now))
    }

    /// Lets everything happen that is due up to `end`.
    func runEvents(until end: Int64) throws {
        var atOnce = 0
        while let time = events.nextTime, time <= end, let (_, event) = events.popFirst() {
            atOnce = time > now ? 0 : atOnce + 1
            guard atOnce <= Self.eventsAtOnceMax else {
                throw Violation(.noConvergence, "More than \(Self.eventsAtOnceMax) things happen at \(now) ms: time stands still.")
            }
            now = max(now, time)
            statistics.events += 1
            try run(event)
        }
        now = max(now, end)
    }

    private func run(_ event: SimulationEvent) throws {
        switch event {
        case .arrive(let end): try arrive(end)
        case .hangUp(let end): try hangUp(end)
        case .perform(let effect, let end):
            if isOpen(end) { try perform(effect, end) }
        case .tick(let end):
            guard isOpen(end) else { return }
            links[end.link].ends[end.side]?.tickAt = nil
            try handle(.tick(wallClockMilliseconds: wallClock(of: node(of: end))), end)
        case .plan(let index): dialDue(nodes[index], isPlanned: true)
        case .dial(let link, let side, let generation): try dial(link, from: side, generation)
        case .flush(let index, let generation): try flush(nodes[index], generation)
        case .letIn(let index): try letIn(nodes[index])
        case .wake(let end): try emptyInbox(end)
        case .hear(let news, let index, let generation):
            if nodes[index].generation == generation { route(.committed(news), nodes[index]) }
        case .readSummary(let index, let generation): try readSummary(nodes[index], generation)
        case .readAgain(let index, let generation):
            if nodes[index].generation == generation { route(.retry, nodes[index]) }
        }
    }

    /// So much may happen at one moment of virtual time.
    private static let eventsAtOnceMax = 100_000

    // MARK: Clocks

    func wallClock(of node: SimulatedNode) -> Int64 {
        node.clock.milliseconds = node.course.reading(at: now)
        return node.clock.milliseconds
    }
}

/// What the simulation has planned.
enum SimulationEvent {
    /// The next frame of this side's inbound queue is in.
    case arrive(EndID)
    /// This side learns that the connection is gone.
    case hangUp(EndID)
    /// The store answers.
    case perform(PeerSession.Effect, EndID)
    case tick(EndID)
    /// A node looks whom to dial.
    case plan(node: Int)
    /// The process of that generation, on this side of a link, gets through to the other side, or not.
    case dial(link: Int, side: Int, generation: Int)
    /// What the node committed is on its disk.
    case flush(node: Int, generation: Int)
    /// A member adds a node again that has left.
    case letIn(node: Int)
    /// The session gets to what waits for it.
    case wake(EndID)
    /// A node hears of a commit of another process.
    case hear(CommitNews, node: Int, generation: Int)
    /// The store answers the router.
    case readSummary(node: Int, generation: Int)
    case readAgain(node: Int, generation: Int)
}

/// What a run consisted of.
public struct RunStatistics: Hashable, Sendable {
    /// Inputs of the event queue that were handled.
    public var events = 0
    /// Transactions of users that were committed.
    public var commits = 0
    /// Files that were read from sticks, to their end or not.
    public var filesCarried = 0
    /// Slices that stores have applied.
    public var applies = 0
    /// Frames that arrived.
    public var frames = 0
    /// Bytes of these frames.
    public var bytes = 0
    /// Connections that were made.
    public var connections = 0
    /// Rows whose contents were compared with what they should be.
    public var rowsChecked = 0
    /// How often it was looked whether an invariant of several rows holds.
    public var invariantsChecked = 0
    /// How often it was looked whether who observes a table sees what is there.
    public var liveQueriesChecked = 0
    /// How often a journal was compared with what the tables had shown.
    public var historiesChecked = 0
    /// How many steps were taken back in a copy.
    public var undosChecked = 0
    /// Rows that stood in tables before these were tracked.
    public var rowsFound = 0
    /// Rows that a rule of the app refused on a machine.
    public var rowsRefused = 0
    /// Deleted rows that were thrown away for good.
    public var rowsCollected = 0
    /// How often each fault befell something: a disk that is full counts when somebody writes. What is made of others counts as these: a
    /// ``Fault/split`` as ``Fault/partition``, a ``Fault/swizzle`` as ``Fault/clog``.
    public var faults: [Fault: Int] = [:]
    /// Frames of which a beginning arrived, because the connection was lost in the middle of them.
    public var framesTorn = 0
    /// Frames that arrived otherwise than they were sent.
    public var framesAltered = 0
    /// Whether one of these could be read.
    public var isPoisoned = false
    /// Rows of which, at the end, a lie may have changed something, so that they were not compared any more.
    public var rowsInDoubt = 0
    /// Commits that were acknowledged to a user, and then lost with the only disk that had them.
    public var commitsLost = 0
    /// How long the run lasted in virtual time.
    public var virtualMilliseconds: Int64 = 0

    public init() {}
}
