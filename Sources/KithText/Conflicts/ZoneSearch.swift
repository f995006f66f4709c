/// Finds the conflicts of a part of the history that is concurrent, and ends those that a change of it has touched.
struct ZoneSearch {
    private let log: ChangeLog
    private let changes: Range<Int>
    private let content: WalkedContent
    private var walker = Walker()
    /// What the part does to the text.
    private(set) var patch = TextOperations()
    private(set) var isComplete = true

    /// Two versions that were brought together, by their last events.
    private struct Pair: Hashable {
        let first: Int
        let second: Int
    }

    /// A conflict with the versions it is of; none: it is older than this part.
    private struct Candidate {
        let pair: Pair?
        let conflict: OpenConflict
    }

    private var compared: Set<Pair> = []
    private var candidates: [Candidate]
    private var comparisonsLeft: Int
    private var pairsInConflict = 0
    private var difference = VersionDifference()

    /// - Parameters:
    ///   - base: the text before.
    ///   - carried: the conflicts that are open in it.
    init(_ log: ChangeLog, _ changes: Range<Int>, base: TextBuffer, carried: [OpenConflict]) {
        self.log = log
        self.changes = changes
        content = WalkedContent(log, changes, base: base)
        candidates = carried.map { conflict in
            var older = conflict
            older.inserted = conflict.inserted.map { Span.older + $0.lowerBound..<Span.older + $0.upperBound }
            return Candidate(pair: nil, conflict: older)
        }
        comparisonsLeft = TextLimits.conflictComparisonsMax(changes: changes.count)
    }

    mutating func run() throws(TextError) {
        try findMeetings()
        try endTouched()
    }

    // MARK: Finding

    private mutating func findMeetings() throws(TextError) {
        try walk { search, index, parents throws(TextError) in
            // A restart deletes what it brings together.
            if parents.count > 1, !search.log.graph.isRestart(change: index) { try search.compare(parents) }
            return true
        }
        if changes.upperBound == log.graph.changes.count { try compare(log.graph.version) }
    }

    /// Walks all changes; `body` is called with the walker anywhere and says whether the effect of the change is wanted.
    private mutating func walk(
        _ body: (inout ZoneSearch, _ index: Int, _ parents: EventVersion) throws(TextError) -> Bool
    ) throws(TextError) {
        let base = log.graph.changes[changes.lowerBound].start - 1
        walker.reset(base: base == EventGraph.root ? [] : [base])
        for indices in log.graph.changesByBranch(above: base, before: log.graph.end(ofChange: changes.upperBound - 1)) {
            for index in indices {
                let parents = log.graph.parents(ofChange: index)
                let isWanted = try body(&self, index, parents)
                try walker.move(to: parents, in: log.graph)
                let author = log.graph.authorship(of: log.graph.changes[index].start)
                if isWanted {
                    try walker.apply(log.pool, log.steps(ofChange: index), by: author, in: log.graph, &patch)
                } else {
                    try walker.applySilently(log.pool, log.steps(ofChange: index), by: author, in: log.graph)
                }
                walker.stand(at: log.graph.end(ofChange: index) - 1)
            }
        }
    }

    private mutating func compare(_ versions: EventVersion) throws(TextError) {
        for (number, first) in versions.enumerated() {
            for second in versions.dropFirst(number + 1) {
                if !isComplete { return }
                let pair = Pair(first: first, second: second)
                if compared.insert(pair).inserted { try compare(pair) }
            }
        }
    }

    private mutating func compare(_ pair: Pair) throws(TextError) {
        let graph = log.graph
        try graph.difference(.one(pair.first), .one(pair.second), stoppingAtRestarts: false, &difference)
        for range in difference.onlyFirst + difference.onlySecond {
            comparisonsLeft -= graph.changeIndex(of: range.upperBound - 1) - graph.changeIndex(of: range.lowerBound) + 1
        }
        guard comparisonsLeft >= 0 else { return giveUp() }
        try walker.move(to: EventVersion([pair.first, pair.second]), in: graph)
        var meeting = Meeting(graph, content, pair.first, pair.second)
        let found = try meeting.conflicts(of: difference, &walker)
        if found.isEmpty { return }
        for conflict in found { candidates.append(Candidate(pair: pair, conflict: conflict)) }
        pairsInConflict += 1
        // What more there is changes nothing, and each pair of a crowd at one place costs as much as the line is long.
        if pairsInConflict > TextLimits.conflictPairsMax { giveUp() }
    }

    /// Leaves alone what this part has brought together: there is too much of it.
    private mutating func giveUp() {
        isComplete = false
        candidates.removeAll { $0.pair != nil }
    }

    // MARK: Ending

    /// Ends the conflicts of whose lines a change has touched one that had both versions in its past.
    private mutating func endTouched() throws(TextError) {
        let pairs = Set(candidates.compactMap(\.pair))
        let seers = Dictionary(uniqueKeysWithValues: pairs.map { ($0, changesThatSaw($0)) })
        let counts = seers.mapValues { $0.count(where: \.self) }
        let total = candidates.reduce(0) { $0 + ($1.pair.map { counts[$0] ?? 0 } ?? changes.count) }
        // Older ones are few enough.
        if total > TextLimits.conflictComparisonsMax(changes: changes.count) { giveUp() }
        if total == 0 { return }
        try walk { search, index, parents throws(TextError) in
            let isSeen = seers.filter { $0.value[index - search.changes.lowerBound] }
            if isSeen.isEmpty, !search.hasOlder { return false }
            let seen = search.candidates.indices.filter { number in
                search.candidates[number].pair.map { isSeen[$0] != nil } ?? true
            }
            if !seen.isEmpty {
                try search.walker.move(to: parents, in: search.log.graph)
                try search.endTouched(seen, by: index)
            }
            return false
        }
    }

    private var hasOlder: Bool { candidates.contains { $0.pair == nil } }

    /// For each change of this part whether it has both versions in its past.
    private func changesThatSaw(_ pair: Pair) -> [Bool] {
        let graph = log.graph
        var seen = [UInt8](repeating: 0, count: changes.count)
        var result = [Bool](repeating: false, count: changes.count)
        let (first, second) = (graph.changeIndex(of: pair.first), graph.changeIndex(of: pair.second))
        for index in max(changes.lowerBound, min(first, second))..<changes.upperBound {
            var bits: UInt8 = 0
            for parent in graph.parents(ofChange: index) where parent >= graph.changes[changes.lowerBound].start {
                bits |= seen[graph.changeIndex(of: parent) - changes.lowerBound]
            }
            result[index - changes.lowerBound] = bits == 3
            if index == first { bits |= 1 }
            if index == second { bits |= 2 }
            seen[index - changes.lowerBound] = bits
        }
        return result
    }

    /// Ends those of the candidates whose lines the change, at whose parents the walker stands, touches.
    private mutating func endTouched(_ numbers: [Int], by index: Int) throws(TextError) {
        var ended: Set<Int> = []
        for number in numbers {
            guard let bounds = content.lines(around: candidates[number].conflict.inserted, walker.spans) else { continue }
            var lines = ConflictLines(bounds)
            if !lines.survive(log.pool, log.steps(ofChange: index)) { ended.insert(number) }
        }
        if ended.isEmpty { return }
        candidates = candidates.indices.filter { !ended.contains($0) }.map { candidates[$0] }
    }

    // MARK: What is left

    /// The conflicts that are open after this part and of which something is left in the text, in its order.
    var remaining: [OpenConflict] {
        var result: [OpenConflict] = []
        for candidate in candidates {
            var conflict = candidate.conflict
            conflict.inserted = content.visiblePositions(of: conflict.inserted, walker.spans)
            if !conflict.inserted.isEmpty { result.append(conflict) }
        }
        return result.sorted { $0.precedes($1) }
    }
}
