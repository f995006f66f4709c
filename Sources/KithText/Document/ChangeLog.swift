import KithCausality

/// The newest changes of one text: their graph, and the operations of those that were needed so far.
struct ChangeLog: Sendable {
    private(set) var graph: EventGraph
    /// The operations of all changes in memory, in the order in which they were loaded or made.
    private(set) var pool = TextOperations()
    /// Which steps of ``pool`` belong to each change of ``graph``; an empty range: not loaded.
    private var bodies: ContiguousArray<Range<Int>> = []

    init(graph: EventGraph) {
        self.graph = graph
    }

    /// The steps of ``pool`` that are the operations of the change with this index.
    func steps(ofChange index: Int) -> Range<Int> { bodies[index] }

    func operations(ofChange index: Int) -> TextOperations {
        var result = TextOperations()
        result.append(pool, bodies[index])
        return result
    }

    mutating func append(_ dot: Dot, _ operations: TextOperations, parents: EventVersion, isRestart: Bool = false) {
        let from = pool.steps.count
        pool.append(operations)
        bodies.append(from..<pool.steps.count)
        graph.append(dot, length: pool.eventCount(in: from..<pool.steps.count), parents: parents, isRestart: isRestart)
    }

    // MARK: Older changes

    /// Loads the graph back to the change that has `event`.
    mutating func loadGraph(downTo event: Int, from history: some TextHistory) throws {
        while graph.firstEvent > max(event, 0) {
            let headers = try history.headers(endingAt: graph.firstEvent)
            try graph.prepend(headers)
            bodies.insert(contentsOf: repeatElement(0..<0, count: headers.count), at: 0)
        }
    }

    /// Loads the operations of all changes from `event` on, where a change begins.
    mutating func loadOperations(from event: Int, from history: some TextHistory) throws {
        try loadGraph(downTo: event, from: history)
        guard event < graph.nextEvent else { return }
        var index = graph.changeIndex(of: max(event, 0))
        while index < bodies.count {
            guard bodies[index].isEmpty else {
                index += 1
                continue
            }
            let first = index
            while index < bodies.count, bodies[index].isEmpty { index += 1 }
            try load(first..<index, from: history)
        }
    }

    private mutating func load(_ indices: Range<Int>, from history: some TextHistory) throws {
        let events = graph.changes[indices.lowerBound].start..<graph.end(ofChange: indices.upperBound - 1)
        let loaded = try history.operations(in: events)
        guard loaded.count == indices.count else {
            throw TextError.damagedHistory("\(indices.count) changes are listed, \(loaded.count) were found")
        }
        for (index, operations) in zip(indices, loaded) {
            let from = pool.steps.count
            pool.append(operations)
            guard operations.eventCount == graph.events(ofChange: index).count else {
                throw TextError.damagedHistory("\(graph.dot(ofChange: index)) has not the length it is listed with")
            }
            bodies[index] = from..<pool.steps.count
        }
    }

    /// The last event of the change `dot`, loaded or older; `nil` when there is none.
    func lastEvent(of dot: Dot, from history: some TextHistory) throws -> Int? {
        if let event = graph.lastEvent(of: dot) { return event }
        guard graph.firstEvent > 0 else { return nil }
        let event = try history.lastEvent(of: dot, before: graph.firstEvent)
        if let event, event < 0 || event >= graph.firstEvent {
            throw TextError.damagedHistory("\(dot) is said to end at event \(event)")
        }
        return event
    }

    // MARK: The conflict zone

    /// The newest version of one change that is below all of `versions`: what happened before it does not matter to
    /// them. ``EventGraph/root`` when there is none, or a restart above it: that stands among all there ever was. The graph is loaded
    /// down to there.
    mutating func base(below versions: some Collection<Int>, from history: some TextHistory) throws -> Int {
        var heap = EventHeap()
        for event in versions { heap.push(event) }
        while let event = heap.pop() {
            while heap.top == event { _ = heap.pop() }
            try loadGraph(downTo: event, from: history)
            guard let next = heap.top else {
                guard event == EventGraph.root || graph.endsChange(event) else {
                    throw TextError.damagedHistory("event \(event) is a version and does not end a change")
                }
                return event
            }
            let run = graph.runIndex(of: event)
            if next >= graph.runs[run].start { continue }
            let parents = graph.parents(ofRun: run)
            if parents.isEmpty || graph.runs[run].isRestart { heap.push(EventGraph.root) }
            for parent in parents { heap.push(parent) }
        }
        return EventGraph.root
    }
}
