import KithCausality

extension TextDocument {
    /// The text as it was at `version`, in a document that holds its whole history.
    public mutating func text(at version: [Dot]) throws(TextError) -> TextBuffer {
        try TextError.typed { try text(at: version, history: NoOlderHistory()) }
    }

    /// The text as it was at `version`: its changes are replayed from the beginning.
    ///
    /// - Throws: ``TextError/unknownVersion(_:)``, and what `history` throws.
    public mutating func text(at version: [Dot], history: some TextHistory) throws -> TextBuffer {
        let events = try events(of: version, history: history)
        if events == log.graph.version { return text }
        try log.loadOperations(from: 0, from: history)
        var replayed = TextDocument()
        var difference = VersionDifference()
        try log.graph.difference([], events, stoppingAtRestarts: false, &difference)
        let outcome = try replayed.merge(log.changes(in: ContiguousArray(difference.onlySecond.reversed())))
        guard outcome.rejected.isEmpty, outcome.pending.isEmpty else {
            throw TextError.damagedHistory("its changes cannot be replayed")
        }
        return replayed.text
    }

    /// The changes that someone lacks who knows what `vector` says, parents first, from a document that holds its
    /// whole history.
    public mutating func changes(unknownTo vector: VersionVector) throws(TextError) -> [TextChange] {
        try TextError.typed { try changes(unknownTo: vector, history: NoOlderHistory()) }
    }

    /// The changes that someone lacks who knows what `vector` says, parents first.
    ///
    /// Who knows a change knows its ancestors, so the cost is in proportion to the difference. A change from the
    /// history carries neither ``TextChange/lengthBefore`` nor ``TextChange/hashAfter``: those are alarms for changes
    /// that have just been made.
    public mutating func changes(
        unknownTo vector: VersionVector, history: some TextHistory
    ) throws -> [TextChange] {
        var heap = EventHeap()
        for head in heads where !vector.covers(head.dot) { heap.push(head.lastEvent) }
        var unknown: ContiguousArray<Range<Int>> = []
        while let event = heap.pop() {
            while heap.top == event { _ = heap.pop() }
            try log.loadGraph(downTo: event, from: history)
            let index = log.graph.changeIndex(of: event)
            if vector.covers(log.graph.dot(ofChange: index)) { continue }
            unknown.append(log.graph.events(ofChange: index))
            for parent in log.graph.parents(ofChange: index) { heap.push(parent) }
        }
        guard let first = unknown.last else { return [] }
        try log.loadOperations(from: first.lowerBound, from: history)
        unknown.reverse()
        return try log.changes(in: unknown, history: history)
    }
}

extension ChangeLog {
    /// The loaded changes that have these events, parents first.
    func changes(in ranges: ContiguousArray<Range<Int>>) throws -> [TextChange] {
        try ranges.flatMap { range in
            try (graph.changeIndex(of: range.lowerBound)...graph.changeIndex(of: range.upperBound - 1)).map(change)
        }
    }

    /// The same when parents may be older than what is loaded.
    mutating func changes(
        in ranges: ContiguousArray<Range<Int>>, history: some TextHistory
    ) throws -> [TextChange] {
        for range in ranges {
            let index = graph.changeIndex(of: range.lowerBound)
            if let oldest = graph.parents(ofChange: index).first { try loadGraph(downTo: oldest, from: history) }
        }
        return try changes(in: ranges)
    }

    private func change(_ index: Int) throws -> TextChange {
        let parents = try graph.parents(ofChange: index).map { event in
            guard graph.endsChange(event) else {
                throw TextError.damagedHistory("event \(event) is a parent and does not end a change")
            }
            return graph.dot(ofChange: graph.changeIndex(of: event))
        }
        return TextChange(
            dot: graph.dot(ofChange: index), parents: parents.sorted(), isRestart: graph.isRestart(change: index),
            operations: operations(ofChange: index))
    }
}
