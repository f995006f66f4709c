/// What must be undone and done to get from one version to another. Used again for other versions it needs no new memory.
struct VersionDifference {
    /// Ranges of events that only the first version contains, newest first.
    private(set) var onlyFirst: ContiguousArray<Range<Int>> = []
    /// The same of the second version.
    private(set) var onlySecond: ContiguousArray<Range<Int>> = []
    /// Events still to be looked at, each with the sides that have reached it.
    private var heap = EventHeap()
    /// How many entries of the heap only one side has reached.
    private var open = 0

    fileprivate typealias Entry = (event: Int, side: Int)

    fileprivate enum Side {
        static let first = 1
        static let second = 2
        static let both = 3
    }

    fileprivate mutating func start(_ first: EventVersion, _ second: EventVersion) {
        onlyFirst.removeAll(keepingCapacity: true)
        onlySecond.removeAll(keepingCapacity: true)
        heap.removeAll()
        open = 0
        guard first != second else { return }
        for event in first { push(event, Side.first) }
        for event in second { push(event, Side.second) }
    }

    fileprivate mutating func push(_ event: Int, _ side: Int) {
        heap.push(event << 2 | side)
        if side != Side.both { open += 1 }
    }

    /// The newest event that is left, as long as there are any that only one side has reached.
    fileprivate mutating func pop() -> Entry? {
        guard open > 0, let item = heap.pop() else { return nil }
        let side = item & Side.both
        if side != Side.both { open -= 1 }
        return (item >> 2, side)
    }

    /// The newest event that is left if it is not older than `start`.
    fileprivate mutating func pop(notBefore start: Int) -> Entry? {
        guard let next = heap.top, next >> 2 >= start, let item = heap.pop() else { return nil }
        let side = item & Side.both
        if side != Side.both { open -= 1 }
        return (item >> 2, side)
    }

    /// Adds a range to one side; ranges in both versions are not kept.
    fileprivate mutating func add(_ range: Range<Int>, to side: Int) {
        guard !range.isEmpty else { return }
        switch side {
        case Side.first: Self.add(range, to: &onlyFirst)
        case Side.second: Self.add(range, to: &onlySecond)
        default: return
        }
    }

    private static func add(_ range: Range<Int>, to ranges: inout ContiguousArray<Range<Int>>) {
        if let last = ranges.last, last.lowerBound == range.upperBound {
            ranges[ranges.count - 1] = range.lowerBound..<last.upperBound
        } else {
            ranges.append(range)
        }
    }
}

extension EventGraph {
    /// The events that only one of two versions contains (an event is contained with all its ancestors).
    ///
    /// Walks back from both versions, newest event first, until only common ancestors are left.
    /// Gentle and Kleppmann, "Collaborative Text Editing with Eg-walker", 2025, section 3.2.
    ///
    /// - Parameter stoppingAtRestarts: whether a restart counts as a change without ancestors.
    /// - Throws: ``TextError/damagedHistory(_:)`` when that leads to changes that are not loaded, as no sound graph does.
    func difference(
        _ first: EventVersion, _ second: EventVersion, stoppingAtRestarts: Bool, _ result: inout VersionDifference
    ) throws(TextError) {
        result.start(first, second)
        while var (event, side) = result.pop() {
            guard event >= firstEvent else { throw .damagedHistory("event \(event) lies below all that is concurrent") }
            let run = runIndex(of: event)
            let start = runs[run].start
            // Other versions inside the same run join here.
            while let (joined, other) = result.pop(notBefore: start) {
                result.add(joined + 1..<event + 1, to: side)
                event = joined
                side |= other
            }
            result.add(start..<event + 1, to: side)
            if stoppingAtRestarts, runs[run].isRestart { continue }
            for parent in parents(ofRun: run) { result.push(parent, side) }
        }
    }

    /// Whether no event of a version, ascending, is an ancestor of another.
    func isReduced(_ members: EventVersion) -> Bool {
        guard members.count > 1 else { return true }
        var heap = EventHeap()
        for event in members { heap.push(event << 1 | 1) }
        while let item = heap.pop() {
            let event = item >> 1
            if event < members[0] { return true }
            let run = runIndex(of: event)
            // A member below another event of its run, or one that an older step leads to, is an ancestor.
            while let next = heap.top, next >> 1 >= runs[run].start, next >> 1 <= event {
                if next & 1 == 1 || next >> 1 == event && item & 1 == 1 { return false }
                _ = heap.pop()
            }
            for parent in parents(ofRun: run) { heap.push(parent << 1) }
        }
        return true
    }
}
