import KithCausality
import KithStore
import KithSync

/// What must hold at every moment.
extension Simulation {
    /// A user has committed: the store gave the commit the next number, and it did what its statements say.
    ///
    /// - Parameter withoutPast: rows of which the store kept nothing before.
    func checkCommit(
        _ operations: [UserOperation], _ outcomes: [WriteOutcome], _ withoutPast: Set<RowKey>, _ node: SimulatedNode
    ) throws {
        guard let store = node.store else { return }
        let before = node.summary
        let summary = try store.summary()
        let event = EventID(
            replica: ledger.number(of: before.replica), sequence: before.vector[before.replica] &+ 1)
        let effects = try expectedEffects(operations, outcomes, withoutPast, event, node)
        guard let head = summary.head(of: summary.replica), head.dot.sequence == event.sequence else {
            guard effects.isEmpty else {
                throw Violation(.wrongEffect, "\(node.name) committed \(operations), but its vector did not move.")
            }
            return
        }
        guard head.timestamp > before.clock || head.timestamp.rawValue >= HybridTimestamp.limit.rawValue - 1 else {
            throw Violation(.clockWentBack, "\(node.name) commits at \(head.timestamp), though it has seen \(before.clock).")
        }
        try ledger.record(head, node: node.index, effects)
        taint.note(event, effects.map(\.0))
        trace.mix(UInt64(head.dot.sequence))
        trace.mix(head.timestamp.rawValue)
        try moved(node, to: summary, besides: effects.map(\.0))
    }

    private func expectedEffects(
        _ operations: [UserOperation], _ outcomes: [WriteOutcome], _ withoutPast: Set<RowKey>, _ event: EventID, _ node: SimulatedNode
    ) throws -> [(RowKey, RowEffect)] {
        var drafts = TransactionDraft(
            ledger: ledger, tables: node.tables, event: event, known: node.known, withoutPast: withoutPast,
            trashed: { key in
                let table = node.tables[key.table]
                return try node.store?.trash(table: table.name, max: .max).first { $0.id == table.id(of: key.row) }?.values
            })
        var outcomes = outcomes[...]
        taint.spread(over: operations, of: node)
        for operation in operations {
            switch operation {
            case .savepoint: drafts.savepoint()
            case .undo: drafts.undo()
            case .rollback: break
            case .pair(let pair):
                let isInDoubt = taint.covers(pair, node)
                let outcome = outcomes.popFirst()
                let expected = try drafts.perform(pair, of: node.index, positions: outcome?.positions ?? [:])
                guard outcome?.tookEffect == expected || isInDoubt else {
                    throw Violation(.wrongEffect, "\(node.name): \(pair) failed.")
                }
            case .write(let write):
                if node.tables.first(where: { $0.name == write.table })?.isKnown != true { continue }
                if outcomes.first?.isRefusedByApp == true {
                    outcomes.removeFirst()
                    continue
                }
                guard let outcome = outcomes.popFirst(), let expected = try drafts.perform(write, outcome) else { continue }
                guard outcome.tookEffect == expected || taint.covers(write, node) else {
                    throw Violation(
                        .wrongEffect,
                        "\(node.name): \(write) \(outcome.tookEffect ? "took effect" : "had no effect") on a row that its user \(drafts.describe(write))."
                    )
                }
            }
        }
        return drafts.effects.filter { !taint.covers($0.0) }
    }

    /// A slice was applied: vector, clock and rows moved together, in one observation.
    func checkApplied(_ slice: Slice, _ summary: StoreSummary, _ node: SimulatedNode) throws {
        let before = node.known
        try noteRefusals(node)
        let received = learnRows(of: slice, node)
        var unmoved = node.summary.vector
        // A list of deletions that is believed is about any row, of those as well that are written anew because others wrote them, too.
        let hasUnknown = namesUnknownRows(slice) || slice.listing != nil && taint.coversAll
        if let own = try checkFolding(received, besidesUnknown: hasUnknown, summary, node) { unmoved.insert(own) }
        guard summary.clock >= slice.clock, summary.clock >= node.summary.clock else {
            throw Violation(.clockWentBack, "\(node.name) applied a slice of \(slice.clock), but stands at \(summary.clock).")
        }
        // A store that takes little at once shows more of a text with each turn.
        if !node.takesLittle, let commits = node.probes.map(\.commitCount).max(), commits > 1 {
            throw Violation(.wrongObservation, "\(node.name) applied a slice in \(commits) commits that observers can tell apart.")
        }
        if slice.isLast {
            guard summary.vector.covers(slice.targetVector) else {
                throw Violation(.wrongState, "\(node.name) applied a whole delta, but does not know all of it.")
            }
        } else if summary.vector != unmoved {
            throw Violation(
                .vectorClaimsUnknown,
                "\(node.name) applied a part of a delta, and its vector moved from \(node.summary.vector) to \(summary.vector).")
        }
        try moved(node, to: summary, besides: received)
        try checkNotifications(received, node, before)
    }

    /// The node has what a slice brings, and knows of these rows what their sender knew. Returns them.
    func learnRows(of slice: Slice, _ node: SimulatedNode) -> [RowKey] {
        let theirs = ledger.knowledge(slice.vector)
        if slice.listing != nil { node.listed.join(theirs) }
        return slice.rows.compactMap { row in
            guard !row.isPrelude, let key = key(slice, row) else { return nil }
            node.known.learn(key, theirs)
            node.known.learn(key, ledger.knowledge(row.state.context))
            return key
        }
    }

    /// Whether the slice has rows that the ledger does not know, because they were in doubt before anybody wrote them.
    func namesUnknownRows(_ slice: Slice) -> Bool {
        slice.rows.contains { row in
            guard !row.isPrelude, row.table < slice.tables.count, let table = ledger.table(slice.tables[row.table].name) else {
                return false
            }
            return taint.covers(table: table) && ledger.key(table, row.id) == nil
        }
    }

    /// The node's vector is that of `summary`; compares the rows that this concerns.
    private func moved(_ node: SimulatedNode, to summary: StoreSummary, besides keys: [RowKey]) throws {
        guard summary.vector.covers(node.summary.vector) else {
            throw Violation(.vectorWentBack, "\(node.name) goes from \(node.summary.vector) to \(summary.vector).")
        }
        let knowledge = ledger.knowledge(summary.vector)
        var rows = keys
        if knowledge != node.known.common {
            for key in try ledger.rows(from: node.known.common, to: knowledge, believing: taint) where !rows.contains(key) {
                rows.append(key)
            }
        }
        node.known.advance(to: knowledge)
        node.summary = summary
        // What references make of a commit comes behind it: if the power fails in between, the next opening does it, and is judged.
        if node.isWithoutPower { return }
        // If the disk fails, the next commit, merge or opening does it, and the end of the run is judged.
        if node.hasDiskFailed { rows.removeAll { workload.tables[$0.table].isRelated } }
        try checkRows(rows, node)
    }

    /// Whoever observes a table whose rows changed was told.
    private func checkNotifications(_ keys: [RowKey], _ node: SimulatedNode, _ known: NodeKnowledge) throws {
        var before = Expectation(ledger, node.tables, known)
        var after = Expectation(ledger, node.tables, node.known)
        for key in concerned(by: keys) {
            let table = node.tables[key.table]
            if !table.isKnown || node.probes[key.table].hasChanged || taint.covers(key) { continue }
            guard before.row(key).values == after.row(key).values else {
                throw Violation(.wrongObservation, "\(table.name) \(key.row) of \(node.name) changed, and observers were not told.")
            }
        }
    }

    /// The rows of which something else may be shown when `keys` change: those that refer to them, however far.
    private func concerned(by keys: [RowKey]) -> [RowKey] {
        guard keys.contains(where: { workload.tables[$0.table].isRelated }) else { return keys }
        return keys.filter { !workload.tables[$0.table].isRelated } + ledger.rows.filter { workload.tables[$0.table].isRelated }
    }

    /// Compares what the node shows with what it must show.
    func checkRows(_ keys: [RowKey], _ node: SimulatedNode) throws {
        try noteRefusals(node)
        guard let store = node.store, !keys.isEmpty else { return }
        try checkInvariants(keys, node)
        let reader = NodeReader(store: store, database: node.database, tables: node.tables)
        let keys = concerned(by: keys).filter { !taint.covers($0) }
        let values = try reader.values(of: keys)
        var expectation = Expectation(ledger, node.tables, node.known)
        var shown: [(key: RowKey, view: RowView)] = []
        for (key, actual) in zip(keys, values) {
            statistics.rowsChecked += 1
            let table = node.tables[key.table]
            if !table.isKnown { continue }
            let (view, expected) = expectation.row(key)
            guard actual == expected else {
                throw Violation(
                    .wrongState,
                    """
                    \(node.name) shows \(table.name) \(key.row) as \(describe(actual)), but what its users wrote and it has seen \
                    makes \(describe(expected)).
                    """)
            }
            if expected != nil { shown.append((key, view)) }
        }
        if shown.isEmpty { return }
        for (row, kept) in zip(shown, try reader.alternatives(of: shown.map(\.key))) {
            try checkAlternatives(row.key, row.view, kept, node)
        }
    }

    private func checkAlternatives(_ key: RowKey, _ view: RowView, _ kept: [Alternative], _ node: SimulatedNode) throws {
        let expected = expectedAlternatives(key, view, node)
        let actual = actualAlternatives(kept)
        guard expected == actual else {
            throw Violation(
                .wrongAlternatives,
                "\(node.name) keeps \(actual) of \(workload.tables[key.table].name) \(key.row); what nobody overwrote is \(expected).")
        }
    }

    /// Whether a row that was mended shows what it must, and has besides all alternatives others that were overwritten: a store that has one
    /// version of a row, and mends it with a later one of a peer that knows no more than itself, cannot tell who has lost something.
    private func keepsOverwrittenValues(_ key: RowKey, _ node: SimulatedNode) throws -> Bool {
        guard let store = node.store, node.tables[key.table].isKnown else { return false }
        let reader = NodeReader(store: store, database: node.database, tables: node.tables)
        var expectation = Expectation(ledger, node.tables, node.known)
        let (view, values) = expectation.row(key)
        guard values != nil, try reader.values(of: [key]) == [values] else { return false }
        let expected = expectedAlternatives(key, view, node)
        let actual = actualAlternatives(try reader.alternatives(of: [key])[0])
        return actual != expected && Set(actual).isSuperset(of: expected)
    }

    private func expectedAlternatives(_ key: RowKey, _ view: RowView, _ node: SimulatedNode) -> [AlternativeValue] {
        let table = node.tables[key.table]
        var expected: [AlternativeValue] = []
        for (index, column) in view.columns.enumerated() where table.columns[index].isKnown {
            let name = table.columns[index].name
            switch column {
            case .register(let writes) where writes.count > 1:
                expected += RowView.alternatives(writes).map { AlternativeValue(column: name, dot: $0.stamp.dot, value: $0.value) }
            case .counter(let counter) where !counter.found.isEmpty:
                expected += counter.alternatives.map { AlternativeValue(column: name, dot: $0.stamp.dot, value: .integer($0.amount)) }
            default: continue
            }
        }
        return expected.sorted()
    }

    private func actualAlternatives(_ kept: [Alternative]) -> [AlternativeValue] {
        kept.map { AlternativeValue(column: $0.column, dot: $0.stamp.dot, value: $0.value) }.sorted()
    }

    // MARK: Reading and failing

    /// A slice is made of what its sender knows, and says so.
    func checkRead(_ slice: Slice, _ node: SimulatedNode) throws {
        guard slice.vector == node.summary.vector else {
            throw Violation(
                .vectorClaimsUnknown, "\(node.name) is at \(node.summary.vector) and reads a slice of \(slice.vector).")
        }
        for row in slice.rows where !row.state.context.isEmpty {
            guard let key = key(slice, row), !taint.covers(key) else { continue }
            var known = node.known.of(key)
            known.join(node.listed)
            guard known.covers(ledger.knowledge(row.state.context)) else {
                throw Violation(
                    .vectorClaimsUnknown, "\(node.name) sends \(workload.tables[key.table].name) \(key.row) with \(row.state.context).")
            }
        }
    }

    /// Stores that know the same held something else, and mended it: only rows that a lie was about, of which an update has dropped a
    /// column, or of which the peer knew more. What these show follows from what is known of them.
    func checkMended(_ positions: [SlicePosition], with slice: Slice, _ node: SimulatedNode) throws {
        guard let store = node.store else { return }
        let summary = try store.summary()
        if let head = summary.head(of: summary.replica), head.dot.sequence > node.summary.vector[summary.replica] {
            try ledger.recordMending(head, node: node.index)
        }
        var judged: [RowKey] = []
        var clocks: [RowKey: Knowledge] = [:]
        for row in slice.rows {
            if let key = key(slice, row) { clocks[key] = ledger.knowledge(row.state.clock) }
        }
        for position in positions {
            guard let table = ledger.table(position.table), let key = ledger.key(table, position.row) else { continue }
            if workload.tablesLosingColumns.contains(table) {
                judged.append(key)
                continue
            }
            // It waited for the rest of a catch-up, which nobody has.
            if !taint.covers(key), let clock = clocks[key], !node.known.common.covers(clock) {
                node.known.learn(key, clock)
                if try keepsOverwrittenValues(key, node) {
                    taint.setAside([key])
                } else {
                    judged.append(key)
                }
                continue
            }
            guard taint.covers(key) else {
                throw Violation(
                    .wrongState, "\(node.name) mends \(workload.tables[table].name) \(key.row), which no lie was about.")
            }
        }
        try moved(node, to: summary, besides: judged)
    }

    /// What failed or was rolled back left nothing behind.
    func checkUnchanged(_ node: SimulatedNode) throws {
        guard let store = node.store else { return }
        let summary = try store.summary()
        guard summary.vector == node.summary.vector else {
            throw Violation(.wrongState, "\(node.name) rolled a transaction back, and yet its vector moved to \(summary.vector).")
        }
        try checkRows(ledger.rows, node)
        try checkLiveQueries(node)
    }

    /// The store was opened: it knows what it knew, and no clock goes back.
    func checkOpened(_ node: SimulatedNode, after before: StoreSummary) throws {
        if node.hasLostPower { return try checkRecovered(node, after: before) }
        guard node.summary.clock >= before.clock else {
            throw Violation(.clockWentBack, "\(node.name) was at \(before.clock), and is opened at \(node.summary.clock).")
        }
        let knowledge = ledger.knowledge(node.summary.vector)
        guard knowledge.covers(node.known.common) else {
            throw Violation(.vectorWentBack, "\(node.name) was opened at \(node.summary.vector), and had known more.")
        }
        guard node.known.common.covers(knowledge) else {
            throw Violation(.vectorClaimsUnknown, "\(node.name) was opened at \(node.summary.vector), and had known less.")
        }
        try checkRows(ledger.rows, node)
        takeBack(node, after: before)
    }

    /// A store that goes on under its id, and lacks commits of its own, gives their numbers anew: it may if nobody else knows them.
    private func takeBack(_ node: SimulatedNode, after before: StoreSummary) {
        let replica = node.summary.replica
        guard replica == before.replica else { return }
        var known = Knowledge()
        for other in nodes {
            for knowledge in [other.known, other.backup?.known].compactMap(\.self) {
                known.join(knowledge.common)
                for context in knowledge.contexts.values { known.join(context) }
            }
        }
        ledger.takeBack(replica, after: known[ledger.number(of: replica)])
    }

    /// The store was opened after a loss of power: what was called durable is there, and it is whole, as it once was.
    private func checkRecovered(_ node: SimulatedNode, after before: StoreSummary) throws {
        guard node.summary.vector.covers(node.durable) else {
            throw Violation(
                .durableLost, "\(node.name) called \(node.durable) durable, lost its power, and is at \(node.summary.vector).")
        }
        var violation = Violation(.wrongState, "\(node.name) lost its power and is at \(node.summary.vector), where it never was.")
        for moment in node.past.reversed() where moment.summary.isSameMoment(as: node.summary) {
            node.known = moment.known
            do {
                try checkRows(ledger.rows, node)
            } catch let broken as Violation {
                violation = broken
                continue
            }
            node.recovered(moment)
            var remaining = Knowledge()
            for other in nodes { remaining.join(other.known.common) }
            ledger.lose(beyond: remaining)
            return takeBack(node, after: before)
        }
        throw violation
    }

    private func key(_ slice: Slice, _ row: RowPart) -> RowKey? {
        guard row.table < slice.tables.count, let table = ledger.table(slice.tables[row.table].name) else { return nil }
        return ledger.key(table, row.id)
    }

    func describe(_ values: [ColumnValue]?) -> String {
        guard let values else { return "no row" }
        return "(" + values.map { Literal($0).description }.joined(separator: ", ") + ")"
    }
}

/// An alternative as the oracle compares it.
private struct AlternativeValue: Hashable, Comparable, CustomStringConvertible {
    let column: String
    let dot: Dot
    let value: ColumnValue

    static func < (left: AlternativeValue, right: AlternativeValue) -> Bool {
        left.column == right.column ? left.dot < right.dot : left.column < right.column
    }

    var description: String { "\(column)=\(Literal(value)) of \(dot.replica.description.prefix(8)):\(dot.sequence)" }
}

extension StoreSummary {
    /// Whether a store that is opened now may have been like this when it lost its power. The replica is another one after every loss.
    fileprivate func isSameMoment(as now: StoreSummary) -> Bool {
        vector == now.vector && resumption == now.resumption && clock <= now.clock
    }
}
