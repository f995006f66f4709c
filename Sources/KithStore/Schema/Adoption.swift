import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Takes up the rows of a table that nobody has noted, because they were there before the table was tracked: they become part of the
/// one commit of this opening, marked as found and not written. See docs/store.md, "Rows that were there before".
struct Adoption {
    let table: CatalogTable
    let tracked: CatalogTable.Tracked
    let ledger: RowLedger
    let clock: CommitClock

    private var connection: DatabaseConnection { ledger.connection }
    private var clocks: String { ClockTable.name(table.number) }
    private var name: String { tracked.mainName }
    private var key: String { quoted(tracked.key) }
    /// Rows without clocks, as `n`.
    private var found: String { "\(name) n LEFT JOIN \(clocks) c ON c.row = n.rowid WHERE c.row IS NULL" }

    /// Whether there are such rows.
    ///
    /// - Throws: ``StoreError`` with code `tableRejected` if one has an id that is none.
    func hasRows() throws -> Bool {
        let select = try connection.statement("SELECT count(*), sum(NOT \(tracked.form.isKeySQL("n.\(key)"))) FROM \(found)")
        defer { select.reset() }
        guard try select.step(), select.int(0) > 0 else { return false }
        let wrong = select.int(1)
        if wrong > 0 {
            throw StoreError(
                .tableRejected,
                "Table \(tracked.sqlName) cannot be tracked: \(wrong) of its rows have an id that is not \(tracked.form.words). Give them one first."
            )
        }
        return true
    }

    func adopt() throws {
        let (commit, replica) = try clock.stamp(ledger.catalog)
        let stamp = commit.adopted
        // Columns that only peers know have nothing that could be found, so their rows differ from what one stamp says.
        let isUniform = table.columns.count == tracked.columns.count
        for (row, id) in try rows(
            isUniform ? "AND n.\(key) IN (SELECT \(tracked.form.keySQL("id")) FROM (\(HiddenRows.idsSQL(of: table.number))))" : "")
        {
            try adopt(row, id, stamp)
        }
        if isUniform { try adoptAll(stamp, replica: replica) }
    }

    private func rows(_ condition: String) throws -> [(row: Int64, id: RowID)] {
        let select = try connection.statement("SELECT n.rowid, n.\(key) FROM \(found) \(condition) ORDER BY n.rowid")
        var rows: [(row: Int64, id: RowID)] = []
        while try select.step() { rows.append((select.integer(0), try select.rowID(1, as: tracked.form))) }
        return rows
    }

    /// Adopts rows of which nothing was known.
    private func adoptAll(_ stamp: Stamp, replica: Int) throws {
        // A commit lives in cells.
        if !table.columns.isEmpty { try DotIndex(connection).add(stamp.dot, replica: replica, rowsOf: table.number, from: found) }
        if tracked.isRelated { try ReferenceRecords(connection: connection).noteAwaited(in: table.number, tracked, from: found) }
        try ClockTable(connection, table.number).add(
            stamp, replica: replica, columns: table.columns.count, id: tracked.form.idSQL("n.\(key)"), from: found)
    }

    /// Adopts a row of which something may be known: peers have sent it, or it was deleted. What was found supersedes nothing of that,
    /// and brings nothing back.
    private func adopt(_ row: Int64, _ id: RowID, _ stamp: Stamp) throws {
        let user = UserTable(connection: connection, table: table, tracked: tracked)
        guard let visible = try user.find(id) else { return }
        let hidden = try ledger.hiddenRow(table.number, id)
        let found = StoredRow(base: stamp, baseColumns: table.columns.count, exceptions: RowState())
        var state = hidden?.state ?? RowState()
        let part = try found.state(tracked, values: visible.values) { try SetText.elements(of: $0, connection) }
        let merger = try RowMerger(ledger: ledger, clock: clock)
        try merger.adopt(part, into: &state, table.number, id)
        state.context = try ledger.contextVector(hidden?.context)
        if let hidden { try ledger.reindex(table.number, from: hidden.state.liveDots, at: -hidden.number, to: [], at: 0) }
        let held = RowMerger.Held(context: hidden?.context, visible: visible, hidden: hidden)
        try merger.save(state, table, id, held)
    }
}
