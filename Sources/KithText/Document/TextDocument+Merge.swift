import KithCausality

extension TextDocument {
    /// Merges changes of other devices into a document that holds its whole history.
    public mutating func merge(_ changes: [TextChange]) throws -> TextMerge {
        try merge(changes, history: NoOlderHistory())
    }

    /// Merges changes of other devices, in any order.
    ///
    /// A change made at the current version is applied as it is, without a look at the history. Otherwise the changes
    /// since the last version below all concurrent ones are read and replayed in memory.
    ///
    /// - Returns: what became of each change. A bad change never keeps a good one from being applied.
    /// - Throws: what `history` throws, or ``TextError/damagedHistory(_:)``; then the document is not to be used
    ///   further.
    public mutating func merge(_ changes: [TextChange], history: some TextHistory) throws -> TextMerge {
        let order = try ArrivalOrder(changes, log: log, history: history)
        var merging = Merging(document: self, order: order)
        self = TextDocument()
        defer { self = merging.document }
        try merging.run(history)
        return merging.outcome
    }
}

extension TextDocument {
    /// Applies what a walker said; a damaged history may have misled it.
    fileprivate mutating func applyPatch(_ patch: TextOperations, _ steps: Range<Int>) throws(TextError) {
        do throws(TextError) {
            _ = try patch.length(after: text.count, steps)
        } catch {
            throw .damagedHistory("its changes do not fit the text")
        }
        text.applyChecked(patch, steps)
    }
}

/// One merge in progress.
private struct Merging {
    var document: TextDocument
    let order: ArrivalOrder
    var outcome = TextMerge()
    private let closings: [Bool]
    /// For each change of the arrival its last event, once it is applied.
    private var placed: ContiguousArray<Int?>
    private var walker: Walker?
    /// Older text is one span of unknown length in the walker: by how much that is too long.
    private var surplus = 0

    init(document: TextDocument, order: ArrivalOrder) {
        self.document = document
        self.order = order
        closings = order.closings
        placed = ContiguousArray(repeating: nil, count: order.entries.count)
        outcome.known = order.known
        outcome.rejected = order.rejected
        outcome.pending = order.pending
    }

    mutating func run(_ history: some TextHistory) throws {
        for index in order.entries.indices {
            let change = order.entries[index].change
            guard let parents = parents(ofEntry: index) else {
                outcome.pending.append(change)
                continue
            }
            do {
                try apply(change, parents, index, history)
                placed[index] = document.nextEvent - 1
            } catch let refusal as RejectedTextChange {
                outcome.rejected.append(refusal)
            }
            // Nothing later refers to anything before this change: its version is all that matters.
            if closings[index], document.heads.count == 1 { walker = nil }
        }
    }

    /// The parents as events, ascending; `nil` when one of them was refused.
    private func parents(ofEntry index: Int) -> [Int]? {
        var events: [Int] = []
        for parent in order.entries[index].parents {
            switch parent {
            case .event(let event): events.append(event)
            case .arrival(let place):
                guard let event = placed[place] else { return nil }
                events.append(event)
            }
        }
        if events.count > 1 { events.sort() }
        return events
    }

    private mutating func apply(
        _ change: TextChange, _ parents: [Int], _ index: Int, _ history: some TextHistory
    ) throws {
        if walker == nil, parents == document.log.graph.version {
            try check(change, length: document.text.count)
            outcome.patch.append(change.operations)
            outcome.appended.append(document.appendVerbatim(change, parents))
            return
        }
        if parents.count > 1 {
            try document.log.loadGraph(downTo: parents[0], from: history)
            guard document.log.graph.isReduced(parents) else {
                throw RejectedTextChange(change: change, reason: .parentsNotReduced)
            }
        }
        if walker == nil { try startWalker(parents, index, history) }
        try walk(change, parents)
    }

    private func check(_ change: TextChange, length: Int) throws {
        do throws(TextError) {
            let operations = change.operations
            try TextLimits.check(document.nextEvent, TextLimits.historyEventsMax, "The number of events of a text")
            _ = try TextChange.lengthAfter(
                operations, operations.steps.indices, before: length, stated: change.lengthBefore)
        } catch {
            throw RejectedTextChange(change: change, reason: error)
        }
    }

    /// Replays what the change at `index`, and those after it up to the next closing one, are concurrent to.
    private mutating func startWalker(_ parents: [Int], _ index: Int, _ history: some TextHistory) throws {
        var versions = document.log.graph.version + parents
        if document.heads.isEmpty || parents.isEmpty { versions.append(EventGraph.root) }
        for later in index..<order.entries.count {
            if order.entries[later].parents.isEmpty { versions.append(EventGraph.root) }
            for case .event(let event) in order.entries[later].parents { versions.append(event) }
            for case .arrival(let place) in order.entries[later].parents {
                if let event = placed[place] { versions.append(event) }
            }
            if closings[later] { break }
        }
        (walker, surplus) = try document.log.walkerAtHead(below: versions, text: document.text, from: history)
    }

    private mutating func walk(_ change: TextChange, _ parents: [Int]) throws {
        try walker?.move(to: parents, in: document.log.graph)
        try check(change, length: (walker?.spans.preparedLength ?? 0) - surplus)
        let first = document.nextEvent
        outcome.appended.append(document.append(change, parents))
        let from = outcome.patch.steps.count
        let author = Authorship(dot: change.dot, start: first)
        try walker?.apply(
            change.operations, change.operations.steps.indices, by: author, in: document.log.graph, &outcome.patch)
        walker?.stand(at: document.nextEvent - 1)
        try document.applyPatch(outcome.patch, from..<outcome.patch.steps.count)
    }
}
