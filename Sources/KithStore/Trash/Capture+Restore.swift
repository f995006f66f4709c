import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

extension Capture {
    /// Shows a deleted row again, by a commit of this store.
    ///
    /// - Parameter end: what went before this is not in the trash any more.
    func restore(table name: String, id: RowID, after end: Int64) throws {
        if try restoreRemoved(table: name, id: id, after: end) { return }
        guard let (number, tracked) = ledger.tracked(name), var hidden = try ledger.hiddenRow(number, id),
            hidden.reason == .deleted, !hidden.state.cells.isEmpty, try !Trash(ledger: ledger).isEmptied(hidden.number)
        else { throw StoreError(.notFound, "Row \(id) of \(name) is not in the trash.") }
        let table = ledger.catalog.tables[number]
        let user = UserTable(connection: ledger.connection, table: table, tracked: tracked)
        let shown = hidden.state.shownValues(tracked)
        let others = try hidden.state.shownInOtherKinds(table, tracked).filter { try fits($1, tracked.kinds[$0]) }
        let values = shown.indices.map { shown[$0] ?? others[$0] }
        if let key = tracked.naturalKey, !key.names(id, showing: values) {
            throw StoreError(.valueRejected, "The id of row \(id) of \(name) does not follow from its key, so it cannot be shown.")
        }
        if !others.isEmpty {
            // As the app would insert it.
            _ = try user.insert(id, values)
            return
        }
        let before = hidden.state.liveDots
        let (stamp, _) = try clock.stamp(ledger.catalog)
        hidden.state.revive(stamp)
        try reviveTexts(of: &hidden.state, number, id, stamp)
        let stored = StoredRow(hidden.state, table, tracked, context: hidden.context)
        insertedNoted = { [ledger, hidden] row in
            try ledger.removeHidden(hidden.number)
            try ledger.save(stored, number, row: row, id: id)
            try ledger.reindex(number, from: before, at: -hidden.number, to: stored.liveDots, at: row)
        }
        defer { insertedNoted = nil }
        // Only this insertion is noted here; what triggers of the app make of it is not.
        _ = try connection.writing(as: .noted(table: number, id: id, inserts: true)) {
            try user.insert(id, hidden.state.shownValues(tracked))
        }
        guard insertedNoted == nil else {
            throw StoreError(.failed, "A trigger of \(name) has kept Kith from hearing of the row that was restored; nothing was changed.")
        }
        if tracked.isRelated {
            let references = ReferenceRecords(connection: ledger.connection)
            try references.stopWaiting(RowKey(table: number, id: id))
            try references.note(RowKey(table: number, id: id))
        }
    }

    /// Whether a column of this kind can hold what one of another kind held. In the place of NULL it takes its default, as it may be NOT NULL.
    private func fits(_ value: ColumnValue, _ kind: ColumnKind) throws -> Bool {
        switch (kind, value) {
        case (_, .null): return false
        case (.register, _), (.counter, .integer): return true
        case (.text, .text(let bytes)): return String(validating: bytes, as: UTF8.self) != nil
        case (.set, .text):
            let select = try connection.statement("SELECT CASE WHEN json_valid(?1) THEN json_type(?1) = 'array' ELSE 0 END")
            select.bind(1, value)
            defer { select.reset() }
            return try select.step() && select.int(0) != 0
        default: return false
        }
    }

    /// Inserts again, as the app would, what went without a deletion that keeps it. Returns whether the row was one of these.
    private func restoreRemoved(table name: String, id: RowID, after end: Int64) throws -> Bool {
        guard let (number, tracked) = ledger.tracked(name) else { return false }
        let removed = RemovedRows(ledger: ledger)
        // A later deletion counts, which keeps what the row showed then.
        var last = end
        if let hidden = try ledger.hiddenRow(number, id), hidden.reason == .deleted, !hidden.state.cells.isEmpty {
            last = max(last, try HiddenRows(connection).since(hidden.number).map { $0 - 1 } ?? last)
        }
        guard let kept = try removed.values(of: number, id, after: last) else { return false }
        let table = ledger.catalog.tables[number]
        let user = UserTable(connection: connection, table: table, tracked: tracked)
        if try user.find(id) != nil { return false }
        _ = try user.insert(id, tracked.columns.map { column in table.columns[column].sqlName.flatMap { kept[$0] } })
        try removed.forget(number, id)
        return true
    }

    /// Refuses a restoration after which the row is hidden still, as its references demand.
    func checkIsShown(table name: String, id: RowID) throws {
        guard let (number, tracked) = ledger.tracked(name) else { return }
        let user = UserTable(connection: ledger.connection, table: ledger.catalog.tables[number], tracked: tracked)
        if try user.find(id) == nil {
            throw StoreError(.valueRejected, "Row \(id) of \(name) refers to a row that is not there. Restore that one first.")
        }
    }
}
