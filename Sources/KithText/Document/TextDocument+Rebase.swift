import KithCausality

extension TextDocument {
    /// Saves an edit that was made on an older version, in a document that holds its whole history.
    @discardableResult
    public mutating func edit(
        _ operations: TextOperations, at base: [Dot], as dot: Dot
    ) throws(TextError) -> AppendedTextChange? {
        try TextError.typed { try edit(operations, at: base, as: dot, history: NoOlderHistory()) }
    }

    /// Saves an edit that was made on an older version, as an editor does that had the text open for a while.
    ///
    /// What was written meanwhile stays. The operations are transformed to fit the current text and published with
    /// the current version as their parents: so the changes of one device are never concurrent to each other.
    ///
    /// - Parameter base: the version the editor had loaded.
    /// - Returns: the change, or `nil` when nothing is left to do (all of it had been deleted meanwhile).
    /// - Throws: ``TextError/unknownVersion(_:)`` when the base is not of this text, other ``TextError``s for a bad
    ///   edit, and what `history` throws; the text is unchanged then.
    @discardableResult
    public mutating func edit(
        _ operations: TextOperations, at base: [Dot], as dot: Dot, history: some TextHistory
    ) throws -> AppendedTextChange? {
        let transformed = try transform(operations, from: base, as: dot, history: history)
        return transformed.isEmpty ? nil : try edit(transformed, as: dot)
    }

    /// What operations made on an older version do to the current text.
    ///
    /// - Parameter dot: the name the edit will get; it decides between insertions at one place.
    package mutating func transform(
        _ operations: TextOperations, from base: [Dot], as dot: Dot, history: some TextHistory
    ) throws -> TextOperations {
        let parents = try events(of: base, history: history)
        let steps = operations.steps.indices
        if parents == log.graph.version {
            _ = try TextChange.lengthAfter(operations, steps, before: text.count, stated: nil)
            return operations
        }
        var versions = Array(log.graph.version) + parents
        if parents.isEmpty { versions.append(EventGraph.root) }
        var walker = Walker()
        let surplus = try log.walkToHead(&walker, below: versions, text: text, from: history) ?? 0
        try walker.move(to: parents, in: log.graph)
        _ = try TextChange.lengthAfter(
            operations, steps, before: walker.spans.preparedLength - surplus, stated: nil)
        var patch = TextOperations()
        let author = Authorship(dot: dot, start: nextEvent, isRestart: false)
        try walker.apply(operations, steps, by: author, in: log.graph, &patch)
        return patch
    }

    /// A version as events, ascending.
    mutating func events(of version: [Dot], history: some TextHistory) throws -> EventVersion {
        let events = try version.map { dot in
            guard let event = try log.lastEvent(of: dot, from: history) else { throw TextError.unknownVersion(dot) }
            return event
        }.sorted()
        for (left, right) in zip(events, events.dropFirst()) where left == right { throw TextError.parentsNotSorted }
        if let first = events.first, events.count > 1 { try log.loadGraph(downTo: first, from: history) }
        let result = EventVersion(events)
        guard log.graph.isReduced(result) else { throw TextError.parentsNotReduced }
        return result
    }
}
