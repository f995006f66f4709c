import KithCausality

extension TextDocument {
    /// The places that were changed at the same time and that nobody has touched since, in a document that holds its whole history.
    public mutating func conflicts() throws(TextError) -> TextConflicts {
        try TextError.typed { try conflicts(history: NoOlderHistory()) }
    }

    /// The places that were changed at the same time and that nobody has touched since: a function of the changes alone, whatever the
    /// order in which they came.
    ///
    /// Reads the graph of all changes, and replays them if any are concurrent: about what two replays cost.
    ///
    /// - Throws: what `history` throws, or ``TextError/damagedHistory(_:)``.
    public mutating func conflicts(history: some TextHistory) throws -> TextConflicts {
        try log.loadGraph(downTo: 0, from: history)
        let zones = log.graph.zones
        guard zones.contains(where: { !$0.isSequential }) else { return TextConflicts() }
        try log.loadOperations(from: 0, from: history)
        var search = ConflictSearch(log)
        for zone in zones { try search.go(through: zone) }
        guard search.text.count == text.count else { throw TextError.damagedHistory("it shows another text than its history gives") }
        return search.finish()
    }
}

/// Replays a text from the beginning, and keeps the conflicts that are open.
private struct ConflictSearch {
    private let log: ChangeLog
    private(set) var text = TextBuffer()
    private var open: [OpenConflict] = []
    /// For each open conflict its lines since the last part that was concurrent: where they are, and where they were.
    private var lines: ContiguousArray<(now: ConflictLines, start: Int)> = []
    private var isComplete = true

    init(_ log: ChangeLog) {
        self.log = log
    }

    mutating func go(through zone: EventGraph.Zone) throws(TextError) {
        if zone.isSequential {
            for index in zone.changes { try apply(index) }
        } else {
            try search(zone.changes)
        }
    }

    /// Applies a change that was made on the text as it is.
    private mutating func apply(_ index: Int) throws(TextError) {
        let steps = log.steps(ofChange: index)
        if !open.isEmpty { endTouched(by: steps) }
        do throws(TextError) {
            _ = try log.pool.length(after: text.count, steps)
        } catch {
            throw .damagedHistory("its changes do not fit the text")
        }
        text.applyChecked(log.pool, steps)
    }

    /// Ends the conflicts whose lines a change touches that is about to be applied.
    private mutating func endTouched(by steps: Range<Int>) {
        var ended: Set<Int> = []
        for number in lines.indices {
            if lines[number].now.isJoined { findLines(number) }
            if !lines[number].now.survive(log.pool, steps) { ended.insert(number) }
        }
        if ended.isEmpty { return }
        lines = ContiguousArray(lines.indices.filter { !ended.contains($0) }.map { lines[$0] })
        open = open.indices.filter { !ended.contains($0) }.map { open[$0] }
    }

    private mutating func findLines(_ number: Int) {
        settle(number)
        guard let first = open[number].inserted.first, let last = open[number].inserted.last else { return }
        let bounds = text.lines(around: first.lowerBound..<last.upperBound)
        lines[number] = (ConflictLines(bounds), bounds.lowerBound)
    }

    /// Makes the positions of a conflict those of the text as it is now.
    private mutating func settle(_ number: Int) {
        let distance = lines[number].now.bounds.lowerBound - lines[number].start
        lines[number].start += distance
        if distance == 0 { return }
        open[number].inserted = open[number].inserted.map { $0.lowerBound + distance..<$0.upperBound + distance }
    }

    private mutating func search(_ changes: Range<Int>) throws(TextError) {
        for number in open.indices { settle(number) }
        var zone = ZoneSearch(log, changes, base: text, carried: open)
        try zone.run()
        open = zone.remaining
        isComplete = isComplete && zone.isComplete
        let isLast = changes.upperBound == log.graph.changes.count
        if !isLast, open.count > TextLimits.conflictsOpenMax {
            open.removeSubrange(TextLimits.conflictsOpenMax...)
            isComplete = false
        }
        do throws(TextError) { try text.apply(zone.patch) } catch { throw .damagedHistory("its changes do not fit the text") }
        lines = ContiguousArray(repeating: (ConflictLines(0..<0), 0), count: open.count)
        for number in open.indices { findLines(number) }
    }

    /// What is open in the end, one conflict for all that are on the same lines.
    mutating func finish() -> TextConflicts {
        for number in open.indices { settle(number) }
        var result = TextConflicts()
        result.isComplete = isComplete
        var onSameLines: [OpenConflict] = []
        var place = 0..<0
        var lines = 0..<0
        func add() {
            let sorted = onSameLines.sorted { $0.saysLess(than: $1) }
            guard let first = sorted.first else { return }
            var versions: [TextConflict.Version] = []
            for version in sorted.flatMap(\.versions) where !versions.contains(version) { versions.append(version) }
            result.conflicts.append(TextConflict(place: place, line: lines, before: first.before, versions: versions))
        }
        for conflict in open {
            guard let first = conflict.inserted.first, let last = conflict.inserted.last else { continue }
            if !onSameLines.isEmpty, first.lowerBound < lines.upperBound {
                place = place.lowerBound..<max(place.upperBound, last.upperBound)
                lines = lines.lowerBound..<text.lines(around: place).upperBound
            } else {
                add()
                onSameLines = []
                place = first.lowerBound..<last.upperBound
                lines = text.lines(around: place)
            }
            onSameLines.append(conflict)
        }
        add()
        return result
    }
}
