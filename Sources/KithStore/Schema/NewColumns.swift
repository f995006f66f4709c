import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Adopts what stands in columns that a table has only now, or that synchronise only now: it is found, as rows that were there before
/// (``Adoption``). What peers have sent of such a column comes first, and what a column shows that nobody has written needs no record.
struct NewColumns {
    let ledger: RowLedger
    let clock: CommitClock

    private static let rowsMax = 500

    /// - Parameter columns: their numbers. What peers have sent of them is shown already.
    /// - Returns: whether there was something to adopt.
    func adopt(_ columns: Set<Int>, of table: CatalogTable, _ tracked: CatalogTable.Tracked) throws -> Bool {
        let places = tracked.columns.indices.filter { columns.contains(tracked.columns[$0]) }
        if places.isEmpty { return false }
        let defaults = ColumnDefaults(ledger.connection)
        let written = try places.map { try defaults.isWritten($0, of: tracked) }
        let values = zip(places, written).map { place, isWritten in "n.\(tracked.names[place]), \(isWritten)" }
        let select = try ledger.connection.statement(
            """
            SELECT n.rowid, n.\(quoted(tracked.key)), \(values.joined(separator: ", ")) FROM \(tracked.mainName) n
            WHERE n.rowid > ? AND (\(written.joined(separator: " OR "))) ORDER BY n.rowid LIMIT \(Self.rowsMax)
            """)
        var last: Int64 = 0
        var isAny = false
        while true {
            select.bind(1, last)
            var rows: [(row: Int64, id: RowID, values: [(place: Int, value: ColumnValue)])] = []
            while try select.step() {
                last = select.integer(0)
                let values = places.indices.filter { select.int(Int32(3 + 2 * $0)) != 0 }
                rows.append(
                    (last, try select.rowID(1, as: tracked.form), values.map { (places[$0], select.value(Int32(2 + 2 * $0))) }))
            }
            for row in rows where try adopt(row.values, table, tracked, row: row.row, id: row.id) { isAny = true }
            if rows.count < Self.rowsMax { return isAny }
        }
    }

    private func adopt(
        _ values: [(place: Int, value: ColumnValue)], _ table: CatalogTable, _ tracked: CatalogTable.Tracked, row: Int64, id: RowID
    ) throws -> Bool {
        guard var stored = try ledger.storedRow(table.number, row: row) else { return false }
        let absent = values.filter { stored.isAbsent(tracked.columns[$0.place]) }
        if absent.isEmpty { return false }
        let before = stored.liveDots
        let stamp = try clock.stamp(ledger.catalog).stamp.adopted
        for (place, value) in absent {
            stored.exceptions[tracked.columns[place]] = try Cell(found: value, tracked.kinds[place], stamp, ledger.connection)
        }
        if tracked.isRelated { try ReferenceRecords(connection: ledger.connection).note(RowKey(table: table.number, id: id)) }
        try ledger.save(stored, table.number, row: row, id: id)
        try ledger.reindex(table.number, from: before, at: row, to: stored.liveDots, at: row)
        return true
    }
}
