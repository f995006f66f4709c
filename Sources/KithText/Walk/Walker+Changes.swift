extension Walker {
    /// Applies the operations of a change whose parents the walker stands at.
    ///
    /// - Parameter patch: gets what the change does to the text that all changes walked before gave.
    mutating func apply(
        _ operations: TextOperations, _ steps: Range<Int>, by author: Authorship, in graph: EventGraph,
        _ patch: inout TextOperations
    ) throws(TextError) {
        var event = author.start
        var begins = author.isRestart
        for index in steps {
            let step = operations.steps[index]
            if begins { begins = try !restart(in: graph) }
            if step.isInsert {
                let position = try insert(step.length, at: step.position, event: event, author: author, in: graph)
                patch.insert(from: operations, step, at: position)
            } else {
                try delete(step.magnitude, at: step.position, event: event, in: graph) { position, length in
                    patch.delete(length, at: position)
                }
            }
            event += step.magnitude
        }
    }

    /// The same when nobody asks what it does to the text.
    mutating func applySilently(
        _ operations: TextOperations, _ steps: Range<Int>, by author: Authorship, in graph: EventGraph
    ) throws(TextError) {
        var event = author.start
        var begins = author.isRestart
        for index in steps {
            let step = operations.steps[index]
            if begins { begins = try !restart(in: graph) }
            if step.isInsert {
                _ = try insert(step.length, at: step.position, event: event, author: author, in: graph)
            } else {
                try delete(step.magnitude, at: step.position, event: event, in: graph) { _, _ in }
            }
            event += step.magnitude
        }
    }

    /// Goes on as if nothing had ever been there, once all there was is deleted; whether it is.
    private mutating func restart(in graph: EventGraph) throws(TextError) -> Bool {
        guard spans.preparedLength == Span.olderLength else { return false }
        try leavePast(in: graph)
        return true
    }
}

extension ChangeLog {
    /// Lets a walker walk every change above the newest version below `versions`, so that its effect text is `text`.
    ///
    /// `versions` must contain the current version. The order is one that suits the walker: text that was typed on two
    /// devices at once does not arrive branch by branch.
    ///
    /// - Parameter stepsMax: how many steps the walker may take.
    /// - Returns: by how much the walker's idea of the older text's length is too long; `nil` if it took more steps than it may.
    mutating func walkToHead(
        _ walker: inout Walker, below versions: some Collection<Int>, text: TextBuffer, stepsMax: Int = .max,
        from history: some TextHistory
    ) throws -> Int? {
        let base = try base(below: versions, from: history)
        try loadOperations(from: base + 1, from: history)
        walker.reset(base: base == EventGraph.root ? [] : [base])
        for indices in graph.changesByBranch(above: base) {
            for index in indices {
                try walker.move(to: graph.parents(ofChange: index), in: graph)
                let author = graph.authorship(of: graph.changes[index].start)
                try walker.applySilently(pool, steps(ofChange: index), by: author, in: graph)
                walker.stand(at: graph.end(ofChange: index) - 1)
                if walker.steps > stepsMax { return nil }
            }
        }
        let surplus = walker.spans.visibleLength - text.count
        guard surplus <= Span.olderLength else {
            throw TextError.damagedHistory("the changes insert more than the text holds")
        }
        return surplus
    }
}
