import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// Rows that a merge took out of the app's tables without their contents in a deletion that is known here: their last values, for as
/// long as anything is in the trash. The only owner of `kith_removed`.
package struct RemovedRows {
    package static let sql = """
        -- What rows showed that went without a deletion that keeps it: on the word of a member, which the time in the trash is left to doubt.
        CREATE TABLE IF NOT EXISTS kith_removed (
            number INTEGER PRIMARY KEY, tbl INTEGER NOT NULL, id BLOB NOT NULL, device BLOB NOT NULL, vals BLOB NOT NULL,
            since INTEGER NOT NULL);
        CREATE INDEX IF NOT EXISTS kith_removed_row ON kith_removed (tbl, id);
        """

    /// Selects what the rows showed.
    package static let valuesSQL = "SELECT vals FROM kith_removed"

    /// Whether the row that `name` stands for, with its `tbl` and its `id`, is among these.
    package static func isAmongSQL(as name: String) -> String {
        "EXISTS (SELECT 1 FROM kith_removed r WHERE r.tbl = \(name).tbl AND r.id = \(name).id)"
    }

    package let ledger: RowLedger

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    private var connection: DatabaseConnection { ledger.connection }

    /// Keeps what a row showed.
    func keep(
        _ values: [ColumnValue], of table: CatalogTable, _ tracked: CatalogTable.Tracked, _ id: RowID, by device: [UInt8],
        nowMilliseconds now: Int64
    ) throws {
        try forget(table.number, id)
        let named = zip(tracked.columns, values).compactMap { column, value in
            table.columns[column].sqlName.map { (name: $0, value: value) }
        }
        let insert = try connection.statement("INSERT INTO kith_removed (tbl, id, device, vals, since) VALUES (?, ?, ?, ?, ?)")
        insert.bind(1, table.number)
        insert.bind(2, id)
        insert.bind(3, blob: device)
        insert.bind(4, blob: NamedValues.bytes(of: named))
        insert.bind(5, now)
        try insert.run()
    }

    /// The rows that went after `end`, most recently first; without those that are there again.
    func rows(table name: String?, max limit: Int, after end: Int64) throws -> [TrashedRow] {
        let select = try connection.statement(
            "SELECT tbl, id, device, vals, since FROM kith_removed WHERE since > ? ORDER BY since DESC, number DESC")
        select.bind(1, end)
        defer { select.reset() }
        var rows: [TrashedRow] = []
        while rows.count < limit, try select.step() {
            guard let table = ledger.catalog[select.int(0)], let tracked = table.tracked, name == nil || name == tracked.sqlName else {
                continue
            }
            let id = try select.rowID(1)
            if try UserTable(connection: connection, table: table, tracked: tracked).find(id) != nil { continue }
            rows.append(
                TrashedRow(
                    table: tracked.sqlName, id: id, deletedMilliseconds: select.integer(4), deletions: [], removedBy: select.blob(2),
                    values: try NamedValues.values(select.blob(3))))
        }
        return rows
    }

    /// What a row showed when it went; `nil` if it is not among these, or went before `end`.
    package func values(of table: Int, _ id: RowID, after end: Int64) throws -> [String: ColumnValue]? {
        let select = try connection.statement("SELECT vals FROM kith_removed WHERE tbl = ? AND id = ? AND since > ?")
        select.bind(1, table)
        select.bind(2, id)
        select.bind(3, end)
        defer { select.reset() }
        return try select.step() ? NamedValues.values(select.blob(0)) : nil
    }

    package func forget(_ table: Int, _ id: RowID) throws {
        let delete = try connection.statement("DELETE FROM kith_removed WHERE tbl = ? AND id = ?")
        delete.bind(1, table)
        delete.bind(2, id)
        try delete.run()
    }

    /// Forgets what went before `end`, up to `limit` rows.
    package func expire(until end: Int64, max limit: Int) throws {
        let delete = try connection.statement(
            "DELETE FROM kith_removed WHERE number IN (SELECT number FROM kith_removed WHERE since <= ? LIMIT ?)")
        delete.bind(1, end)
        delete.bind(2, limit)
        try delete.run()
    }
}
