import KithCausality

/// Who edited what after what: the newest part of the event graph of one text, in the order of this device.
///
/// A *version* is a set of events of which none is an ancestor of another, given by their numbers, ascending. Parents
/// of a change are last events of changes; inside a change each event has the previous one as its only parent.
/// The graph holds no contents. Older changes are put in front on demand.
struct EventGraph: Sendable {
    struct Change: Sendable {
        let start: Int
        let sequence: UInt64
        let site: Int32
    }

    /// A chain of events in which each has the previous one as its only parent, whoever made them. A restart begins one.
    struct Run: Sendable {
        let start: Int
        let parents: Range<Int>
        let isRestart: Bool
    }

    /// The version before the first change.
    static let root = -1

    /// The first event whose change is loaded; 0 when the whole history is.
    private(set) var firstEvent: Int
    /// The number of the next event.
    private(set) var nextEvent: Int
    private(set) var changes: ContiguousArray<Change> = []
    private(set) var runs: ContiguousArray<Run> = []
    /// Whether one of the loaded changes is a restart.
    private(set) var hasRestarts = false
    private var parentPool: ContiguousArray<Int> = []
    private var sites = SiteTable()
    /// The current version, as changes without children: ascending by event, with their dots.
    private(set) var heads: [TextHead]
    /// The heads that were given without their changes.
    private let givenHeads: [Dot: Int]

    init() {
        self.init(heads: [], nextEvent: 0)
    }

    /// A graph of which only the end is known.
    init(heads: [TextHead], nextEvent: Int) {
        self.heads = heads.sorted { $0.lastEvent < $1.lastEvent }
        givenHeads = Dictionary(heads.map { ($0.dot, $0.lastEvent) }, uniquingKeysWith: max)
        self.nextEvent = nextEvent
        firstEvent = nextEvent
    }

    var version: EventVersion {
        heads.count == 1 ? .one(heads[0].lastEvent) : EventVersion(heads.map(\.lastEvent))
    }

    // MARK: Reading

    /// The index of the loaded change that has `event`.
    func changeIndex(of event: Int) -> Int {
        changes.lastIndex(startingAtOrBefore: event) { $0.start }
    }

    func runIndex(of event: Int) -> Int {
        runs.lastIndex(startingAtOrBefore: event) { $0.start }
    }

    func end(ofChange index: Int) -> Int {
        index + 1 < changes.count ? changes[index + 1].start : nextEvent
    }

    func events(ofChange index: Int) -> Range<Int> {
        changes[index].start..<end(ofChange: index)
    }

    /// Whether `event`, which is loaded, is the last one of a change.
    func endsChange(_ event: Int) -> Bool {
        event >= firstEvent && event < nextEvent && end(ofChange: changeIndex(of: event)) == event + 1
    }

    func dot(ofChange index: Int) -> Dot {
        Dot(replica: sites[changes[index].site], sequence: changes[index].sequence)
    }

    func parents(ofRun index: Int) -> ArraySlice<Int> {
        parentPool[runs[index].parents]
    }

    func parents(ofChange index: Int) -> EventVersion {
        let start = changes[index].start
        let run = runIndex(of: start)
        return runs[run].start == start ? EventVersion(parents(ofRun: run)) : .one(start - 1)
    }

    func isRestart(change index: Int) -> Bool {
        let start = changes[index].start
        let run = runs[runIndex(of: start)]
        return run.start == start && run.isRestart
    }

    func header(ofChange index: Int) -> TextChangeHeader {
        let events = events(ofChange: index)
        return TextChangeHeader(
            firstEvent: events.lowerBound, length: events.count, dot: dot(ofChange: index),
            parents: parents(ofChange: index), isRestart: isRestart(change: index))
    }

    /// The last event of the change `dot`, if it is loaded or was given as a head.
    func lastEvent(of dot: Dot) -> Int? {
        if let start = sites.start(of: dot) { return end(ofChange: changeIndex(of: start)) - 1 }
        return givenHeads.isEmpty ? nil : givenHeads[dot]
    }

    // MARK: Growing

    /// Adds a change whose parents are known, reduced and ascending.
    mutating func append(_ dot: Dot, length: Int, parents: EventVersion, isRestart: Bool) {
        let start = nextEvent
        nextEvent += length
        addRun(start: start, parents: parents, isRestart: isRestart)
        let site = sites.register(dot, start: start)
        changes.append(Change(start: start, sequence: dot.sequence, site: site))
        if heads.count == 1, parents == .one(heads[0].lastEvent) {
            heads[0] = TextHead(dot: dot, lastEvent: nextEvent - 1)
        } else {
            removeHeads(parents)
            heads.append(TextHead(dot: dot, lastEvent: nextEvent - 1))
        }
    }

    /// Apart from the usual case, which stays small enough to be compiled into its callers.
    @inline(never)
    private mutating func removeHeads(_ parents: EventVersion) {
        for parent in parents where !heads.isEmpty {
            let place = heads.lastIndex(startingAtOrBefore: parent) { $0.lastEvent }
            if heads[place].lastEvent == parent { heads.remove(at: place) }
        }
    }

    private mutating func addRun(start: Int, parents: EventVersion, isRestart: Bool) {
        if !runs.isEmpty, parents == .one(start - 1), !isRestart { return }
        if isRestart { hasRestarts = true }
        let from = parentPool.count
        parentPool.append(contentsOf: parents)
        runs.append(Run(start: start, parents: from..<parentPool.count, isRestart: isRestart))
    }

    /// Puts the changes that end where the loaded ones begin in front.
    ///
    /// - Throws: ``TextError/damagedHistory(_:)`` when they do not fit.
    mutating func prepend(_ headers: [TextChangeHeader]) throws(TextError) {
        try Self.check(headers, end: firstEvent)
        guard let first = headers.first else { return }
        var older = EventGraph(heads: [], nextEvent: first.firstEvent)
        // Handed over, not copied.
        swap(&older.parentPool, &parentPool)
        older.hasRestarts = hasRestarts
        for (header, site) in zip(headers, sites.registerOlder(headers)) {
            older.addRun(start: header.firstEvent, parents: header.parentEvents, isRestart: header.isRestart)
            older.changes.append(Change(start: header.firstEvent, sequence: header.dot.sequence, site: site))
        }
        changes.insert(contentsOf: older.changes, at: 0)
        runs.insert(contentsOf: older.runs, at: 0)
        swap(&older.parentPool, &parentPool)
        hasRestarts = older.hasRestarts
        firstEvent = first.firstEvent
    }

    /// Whether `headers` are changes in a row, the last one ending at `end`, with older parents.
    static func check(_ headers: [TextChangeHeader], end: Int) throws(TextError) {
        guard let first = headers.first, first.firstEvent >= 0 else {
            throw .damagedHistory("no changes before event \(end)")
        }
        var next = first.firstEvent
        for header in headers {
            guard header.firstEvent == next, header.length > 0, header.length <= end - next else {
                throw .damagedHistory("\(header.dot) does not begin at event \(next) or is too long")
            }
            next += header.length
            var previous = root
            for parent in header.parentEvents {
                guard parent > previous, parent < header.firstEvent else {
                    throw .damagedHistory("\(header.dot) has parents that are not older, or not in order")
                }
                previous = parent
            }
        }
        guard next == end else { throw .damagedHistory("no change before event \(end)") }
    }
}

/// A change that has no child: a part of the current version.
public struct TextHead: Hashable, Sendable {
    /// The commit that made it.
    public let dot: Dot
    /// The number of its last event on this device.
    public let lastEvent: Int

    public init(dot: Dot, lastEvent: Int) {
        self.dot = dot
        self.lastEvent = lastEvent
    }
}

extension RandomAccessCollection where Index == Int {
    /// The last index whose key is at most `key`; elements are sorted by key, and the first one's is not greater.
    @inline(__always)
    func lastIndex(startingAtOrBefore key: Int, by start: (Element) -> Int) -> Int {
        var low = startIndex
        var high = endIndex
        while high - low > 1 {
            let middle = (low + high) / 2
            if start(self[middle]) <= key { low = middle } else { high = middle }
        }
        return low
    }
}
