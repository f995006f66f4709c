import GRDB
import KithCausality
import KithStore
import KithSync

/// What apps see that follow lists, read journals, and take back what they did.
extension Simulation {
    /// The journal of the node says how its tables have become what they are, and its lists show what is there. Asked after everything that
    /// may change the tables.
    func checkHistory(_ node: SimulatedNode) throws {
        guard workload.schema.judgesHistory, let store = node.store else { return }
        let before = node.history
        let (shown, page) = try node.database.writeWithoutTransaction { db in
            (try ShownTables(db, node.tables), try store.history(db, after: before?.token, limit: .max))
        }
        if let before {
            statistics.historiesChecked += 1
            var state = shown
            do {
                for transaction in page.reversed() { try state.takeBack(transaction) }
            } catch {
                throw Violation(.wrongHistory, "The journal of \(node.name) has an \(error.message).")
            }
            guard state == before.shown else {
                throw Violation(
                    .wrongHistory,
                    "By its journal \(node.name) showed before \(page.count) transactions \(state.difference(from: before.shown)).")
            }
        }
        node.history = HistoryWatch(shown: shown, token: page.last?.token ?? before?.token, count: (before?.count ?? -1) + 1)
        try checkLists(node)
        if node.history?.count ?? 0 > 0, (node.history?.count ?? 0) % Self.looksPerUndo == 0 { try checkUndo(node) }
    }

    /// To take back a step takes a copy of the database.
    private static let looksPerUndo = 8

    private func checkLists(_ node: SimulatedNode) throws {
        for index in node.lists.indices {
            let wrong = try node.lists[index].look { [list = node.lists[index]] in
                try node.database.writeWithoutTransaction { db in try list.fetch(db) }
            }
            if let wrong { throw Violation(.wrongList, "The list of \(node.lists[index].table) on \(node.name): \(wrong).") }
        }
    }

    // MARK: Undo

    /// Takes the last step of the node's user back, and does it again, in a copy of its database.
    private func checkUndo(_ node: SimulatedNode) throws {
        let copy = try DatabaseQueue()
        try node.database.backup(to: copy)
        var options = SyncedDatabase.Options(clock: { [clock = node.clock] in HybridTimestamp(milliseconds: clock.milliseconds) })
        options.monotonicMilliseconds = { 0 }
        let store = try SyncedDatabase(copy, tables: node.version.tables, options: options)
        defer { store.close() }
        let page = try store.history(limit: .max)
        let before = try copy.read { db in try ShownTables(db, node.tables) }
        guard before == node.history?.shown else { return }
        let undo = store.undo(scope: UserTransaction.author)
        guard let index = page.lastIndex(where: { $0.author == UserTransaction.author }) else { return }
        guard let report = try undo.undo() else {
            throw Violation(.wrongUndo, "\(node.name) has a step in its journal, and nothing to take back.")
        }
        statistics.undosChecked += 1
        let after = try copy.read { db in try ShownTables(db, node.tables) }
        let alone = after.withoutWhatCameAlong(page[index], since: before, node.tables)
        let judge = UndoJudge(name: node.name, step: page[index], later: Array(page[(index + 1)...]), before: before, after: alone)
        if judge.later.isEmpty, !workload.hasRules, !judge.bringsBackWhatOthersWrote(report) {
            try judge.checkIdentity(report)
            let redone = try undo.redo()
            let again = try copy.read { db in try ShownTables(db, node.tables) }
            // A row that others have put beneath another one holds it.
            guard again == before || after != alone else {
                let left = redone?.left ?? []
                throw Violation(
                    .wrongUndo, "\(node.name) does a step again, leaves \(left), and shows \(again.difference(from: before)).")
            }
        } else {
            try judge.checkOthers()
        }
        let problems = try store.verify().problems
        guard problems.isEmpty else { throw Violation(.unsoundStore, "\(node.name) takes a step back: \(problems)") }
    }
}

/// Compares what is shown before and after an undo.
private struct UndoJudge {
    let name: String
    let step: HistoryTransaction
    /// What came after the step.
    let later: [HistoryTransaction]
    let before: ShownTables
    let after: ShownTables

    /// Whether all that an undo leaves is in rows that the step had deleted. Other devices may write to a row while it is deleted, which
    /// shows nowhere and is in no journal; when the row comes back, it shows what they wrote.
    func bringsBackWhatOthersWrote(_ report: UndoReport) -> Bool {
        let deleted = Set(step.changes.filter { $0.kind == .delete }.map { Place(table: $0.table, row: $0.row) })
        return !report.isWhole
            && report.left.allSatisfy { $0.reason == .changedSince && deleted.contains(Place(table: $0.table, row: $0.row)) }
    }

    /// Nothing has come after the step: it is as if it had not been.
    func checkIdentity(_ report: UndoReport) throws {
        guard report.isWhole else {
            throw Violation(.wrongUndo, "\(name) takes back what no later write touched, and leaves \(report.left).")
        }
        var expected = before
        do {
            try expected.takeBack(step)
        } catch {
            throw Violation(.wrongHistory, "The journal of \(name) has an \(error.message).")
        }
        guard after == expected else {
            throw Violation(.wrongUndo, "\(name) takes a step back and shows \(after.difference(from: expected)).")
        }
    }

    /// Others have written since: what they wrote stays, and so does what the step was not about.
    func checkOthers() throws {
        let changes = Dictionary(step.changes.map { (Place(table: $0.table, row: $0.row), $0) }) { first, _ in first }
        var changed: [Place: Set<String>] = [:]
        for change in later.flatMap(\.changes) {
            changed[Place(table: change.table, row: change.row), default: []].formUnion(change.columns.keys)
        }
        for (table, rows) in before.rows {
            for (row, values) in rows {
                let place = Place(table: table, row: row)
                guard let change = changes[place] else {
                    try expect(after[table, row] == values, table, row, "which the step was not about")
                    continue
                }
                let others = changed[place]
                guard let now = after[table, row] else {
                    try expect(change.kind == .insert && others == nil, table, row, "which others have changed")
                    continue
                }
                for (column, value) in values where now[column] != value {
                    guard let content = change.columns[column] else {
                        try expect(false, table, row, "whose \(column) the step was not about")
                        continue
                    }
                    // Values of sets, counters and texts are merged; of registers the one that others wrote stays.
                    if others?.contains(column) == true, case .value(_, let new) = content, isRegister(content),
                        !before.isSet(column, table)
                    {
                        try expect(value == new, table, row, "whose \(column) others have written")
                    }
                }
            }
        }
        for (table, rows) in after.rows {
            for row in rows.keys where before[table, row] == nil {
                try expect(changes[Place(table: table, row: row)]?.kind == .delete, table, row, "which the step had not deleted")
            }
        }
    }

    /// Counters hold numbers, and so do registers: only what cannot be a counter is compared.
    private func isRegister(_ content: HistoryChange.Column) -> Bool {
        guard case .value(let old, let new) = content else { return false }
        if case .integer = old, case .integer = new { return false }
        return true
    }

    private func expect(_ holds: Bool, _ table: String, _ row: RowID, _ what: String) throws {
        if holds { return }
        throw Violation(
            .wrongUndo, "\(name) takes a step back and changes \(table) \(row), \(what): \(after.difference(from: before)).")
    }

    private typealias Place = ShownTables.Place
}
