import KithCausality

extension TextDocument {
    /// Merges changes of other devices into a document that holds its whole history.
    public mutating func merge(_ changes: [TextChange]) throws(TextError) -> TextMerge {
        try TextError.typed { try merge(changes, history: NoOlderHistory()) }
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
        try merge(changes, history: history, stepsMax: .max)
    }

    /// The same in at most so many steps: spans of text that are undone, redone and looked at.
    package mutating func merge(_ changes: [TextChange], history: some TextHistory, stepsMax: Int) throws -> TextMerge {
        var outcome = TextMerge()
        let sequential = appendSequential(changes, &outcome)
        if sequential < changes.count {
            let order = try ArrivalOrder(changes.dropFirst(sequential), log: log, history: history)
            outcome.known = order.known
            outcome.rejected = order.rejected
            outcome.pending = order.pending
            var merging = ConcurrentMerge(order, stepsMax)
            try merging.run(&self, &outcome, history)
        }
        return outcome
    }

    /// A restart whose parents are not all here, because their history was forgotten: as if it had been made on those that are.
    ///
    /// - Throws: what `history` throws, or ``TextError``.
    package mutating func standIn(for restart: TextChange, history: some TextHistory) throws -> TextChange {
        let parents = try restart.parents.filter { try log.lastEvent(of: $0, from: history) != nil }
        var length = 0
        do {
            if !parents.isEmpty { length = try text(at: parents, history: history).count }
        } catch TextError.parentsNotReduced, TextError.parentsNotSorted {
            // No author makes such: it is refused where it is merged.
        }
        return TextChange(
            dot: restart.dot, parents: parents, isRestart: true, operations: restart.operations.deletingFirst(length))
    }

    /// Whether a change is part of the document.
    ///
    /// - Throws: what `history` throws, or ``TextError``.
    package func contains(_ dot: Dot, history: some TextHistory) throws -> Bool {
        try log.lastEvent(of: dot, from: history) != nil
    }

    /// Applies changes as long as each was made at the version that the previous one left; how many.
    private mutating func appendSequential(_ changes: [TextChange], _ outcome: inout TextMerge) -> Int {
        outcome.appended.reserveCapacity(changes.count)
        for change in changes {
            guard isCurrent(change.parents), log.graph.lastEvent(of: change.dot) == nil else { break }
            do throws(TextError) {
                try change.validateShape()
                try check(change, length: text.count)
            } catch {
                break
            }
            outcome.patch.append(change.operations)
            outcome.appended.append(appendVerbatim(change, log.graph.version))
        }
        return outcome.appended.count
    }

    private func isCurrent(_ parents: [Dot]) -> Bool {
        guard parents.count == heads.count else { return false }
        return parents.count == 1 ? parents[0] == heads[0].dot : parents == version
    }

    /// Whether the operations of a change fit the text of `length` scalars that it was made on.
    fileprivate func check(_ change: TextChange, length: Int) throws(TextError) {
        try TextLimits.check(nextEvent, TextLimits.historyEventsMax, "The number of events of a text")
        try change.check(length: length)
    }

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

/// A merge in progress of changes that do not all follow one another.
private struct ConcurrentMerge {
    private let order: ArrivalOrder
    private let closings: [Bool]
    /// For each change of the arrival its last event, once it is applied.
    private var placed: ContiguousArray<Int?>
    private var walker = Walker()
    private var isWalking = false
    private let stepsMax: Int
    /// Older text is one span of unknown length in the walker: by how much that is too long.
    private var surplus = 0

    init(_ order: ArrivalOrder, _ stepsMax: Int) {
        self.order = order
        self.stepsMax = stepsMax
        closings = order.closings
        placed = ContiguousArray(repeating: nil, count: order.indices.count)
    }

    mutating func run(
        _ document: inout TextDocument, _ outcome: inout TextMerge, _ history: some TextHistory
    ) throws {
        for index in order.indices {
            let change = order[index]
            guard let parents = parents(of: index) else {
                outcome.pending.append(change)
                continue
            }
            do {
                try apply(change, parents, index, &document, &outcome, history)
                if walker.steps > stepsMax { outcome.isTooLong = true }
                if outcome.isTooLong { return }
                placed[index] = document.nextEvent - 1
            } catch let refusal as RejectedTextChange {
                outcome.rejected.append(refusal)
            }
            // Nothing later refers to anything before this change: its version is all that matters.
            if closings[index], document.heads.count == 1 { isWalking = false }
        }
    }

    /// The parents as events, ascending; `nil` when one of them was refused.
    private func parents(of index: Int) -> EventVersion? {
        let parents = order.parents(of: index)
        if parents.count == 1 { return event(parents[parents.startIndex]).map { .one($0) } }
        var events: ContiguousArray<Int> = []
        events.reserveCapacity(parents.count)
        for parent in parents {
            guard let event = event(parent) else { return nil }
            events.append(event)
        }
        events.sort()
        return .several(events)
    }

    /// The last event of a parent; `nil` when it was refused.
    private func event(_ parent: ArrivalOrder.Parent) -> Int? {
        switch parent {
        case .event(let event): event
        case .arrival(let place): placed[place]
        }
    }

    private mutating func apply(
        _ change: TextChange, _ parents: EventVersion, _ index: Int, _ document: inout TextDocument,
        _ outcome: inout TextMerge, _ history: some TextHistory
    ) throws {
        if !isWalking, parents == document.log.graph.version {
            try refusing(change) { () throws(TextError) in try document.check(change, length: document.text.count) }
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
        if !isWalking {
            let versions = versions(from: index, document)
            guard
                let surplus = try document.log.walkToHead(
                    &walker, below: versions, text: document.text, stepsMax: stepsMax, from: history)
            else {
                outcome.isTooLong = true
                return
            }
            self.surplus = surplus
            isWalking = true
        }
        try walker.move(to: parents, in: document.log.graph)
        let length = walker.spans.preparedLength - surplus
        try refusing(change) { () throws(TextError) in try document.check(change, length: length) }
        try walk(change, parents, &document, &outcome)
    }

    private mutating func walk(
        _ change: TextChange, _ parents: EventVersion, _ document: inout TextDocument, _ outcome: inout TextMerge
    ) throws(TextError) {
        let author = Authorship(dot: change.dot, start: document.nextEvent, isRestart: change.isRestart)
        outcome.appended.append(document.append(change, parents))
        let from = outcome.patch.steps.count
        try walker.apply(
            change.operations, change.operations.steps.indices, by: author, in: document.log.graph, &outcome.patch)
        walker.stand(at: document.nextEvent - 1)
        outcome.peakRuns = max(outcome.peakRuns, walker.spans.count)
        try document.applyPatch(outcome.patch, from..<outcome.patch.steps.count)
    }

    private func refusing(_ change: TextChange, _ body: () throws(TextError) -> Void) throws {
        do throws(TextError) { try body() } catch { throw RejectedTextChange(change: change, reason: error) }
    }

    /// The current version and all that the changes from `index` to the next closing one refer to.
    private func versions(from index: Int, _ document: TextDocument) -> [Int] {
        var versions = Array(document.log.graph.version)
        for later in index..<order.indices.count {
            let parents = order.parents(of: later)
            if order.standsAmongAll(later) { versions.append(EventGraph.root) }
            for parent in parents {
                if let event = event(parent) { versions.append(event) }
            }
            if closings[later] { break }
        }
        return versions
    }
}
