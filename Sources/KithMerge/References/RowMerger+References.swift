import KithCausality
import KithLedger
import KithSync
import KithTexts

extension RowMerger {
    /// Shows and hides rows of which nothing new is known.
    package init(ledger: RowLedger, clock: CommitClock) throws {
        let records = VectorRecords(connection: ledger.connection)
        let vector = try records.vector(ledger.catalog)
        self.init(
            ledger: ledger, clock: clock, own: try records.replica(ledger.catalog), vector: vector, vectorAfter: vector, listed: nil)
    }

    /// Shows a row that was hidden because of its references, or because it was deleted.
    ///
    /// - Returns: whether the table lets it in.
    package func show(_ row: RowKey) throws -> Bool {
        guard let table = ledger.catalog[row.table], let tracked = table.tracked else { return false }
        return try show(find(table, row.id), table, tracked, row.id)
    }

    /// Lets a visible row show what was written to it, whatever rule let its columns show something else.
    package func showWritten(_ row: RowKey) throws {
        guard let table = ledger.catalog[row.table], let tracked = table.tracked else { return }
        var held = try find(table, row.id)
        guard let visible = held.visible, var stored = try ledger.storedRow(row.table, row: visible.row) else { return }
        stored.substituted = try ReferenceRecords(connection: ledger.connection).waiting(row)
        held.state = try stored.state(tracked, values: visible.values) { try SetText.elements(of: $0, ledger.connection) }
        _ = try show(held, table, tracked, row.id)
    }

    private func show(_ held: Held, _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ id: RowID) throws -> Bool {
        try showUnlessRefused(held.state, table, tracked, id, held, held.context)
        return try UserTable(connection: ledger.connection, table: table, tracked: tracked).find(id) != nil
    }

    /// Hides a row, whose state stays as it is.
    ///
    /// - Parameter mayStay: whether a rule of the app may refuse that.
    package func hide(_ row: RowKey, _ reason: HiddenReason, mayStay: Bool) throws {
        guard let table = ledger.catalog[row.table] else { return }
        let held = try find(table, row.id)
        try hide(held.state, table, row.id, held, held.context, reason, mayStay: mayStay)
    }

    /// Lets a column of a visible row show `value`, whatever was written.
    package func show(_ value: ColumnValue, in row: RowKey, _ reference: Reference) throws {
        guard let table = ledger.catalog[row.table], let tracked = table.tracked else { return }
        let user = UserTable(connection: ledger.connection, table: table, tracked: tracked)
        guard let found = try user.find(row.id) else { return }
        var values: [ColumnValue?] = found.values
        values[reference.position] = value
        try ledger.noteSilentChange(row.table, row.id)
        ledger.noteForJournal(row.table, row.id, shown: found.values, from: [], to: [])
        try user.update(found.row, from: found.values, to: values)
    }
}
