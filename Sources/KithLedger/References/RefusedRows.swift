import GRDBSQLite
import KithCausality
import KithSQLite
import KithSync

/// What rules of the app's tables say against rows that merges bring.
package struct RefusedRows {
    package let connection: DatabaseConnection

    package init(connection: DatabaseConnection) {
        self.connection = connection
    }

    static let table = "kith_refused"

    package static let sql = """
        -- Rows of which a rule of the app does not let the table show the merged state, and what it said. A row that is not in
        -- kith_hidden is one that may not be deleted. `ends`: the rule ends the whole transaction (ROLLBACK), so it is not asked again
        -- until the row changes.
        CREATE TABLE IF NOT EXISTS kith_refused (
            tbl INTEGER NOT NULL, id BLOB NOT NULL, message TEXT NOT NULL, since INTEGER NOT NULL, ends INTEGER NOT NULL,
            PRIMARY KEY (tbl, id)) WITHOUT ROWID;
        """

    package func note(_ row: RowKey, _ message: String, ends: Bool, sinceMilliseconds: Int64) throws {
        let insert = try connection.statement(
            """
            INSERT INTO kith_refused (tbl, id, message, since, ends) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (tbl, id) DO UPDATE SET message = ?3, ends = ?5
            """)
        insert.bind(1, row.table)
        insert.bind(2, row.id)
        insert.bind(3, .text(message))
        insert.bind(4, sinceMilliseconds)
        insert.bind(5, ends ? 1 : 0)
        try insert.run()
    }

    package func forget(_ row: RowKey) throws {
        let delete = try connection.statement("DELETE FROM kith_refused WHERE tbl = ? AND id = ?")
        delete.bind(1, row.table)
        delete.bind(2, row.id)
        try delete.run()
    }

    package func has(_ row: RowKey) throws -> Bool { try message(of: row) != nil }

    /// What was said against a row; `nil` if nothing was.
    package func message(of row: RowKey) throws -> String? {
        let select = try connection.statement("SELECT message FROM kith_refused WHERE tbl = ? AND id = ?")
        defer { select.reset() }
        select.bind(1, row.table)
        select.bind(2, row.id)
        return try select.step() ? String(decoding: select.blob(0), as: UTF8.self) : nil
    }

    /// The rows that a rule of the app refuses.
    package func keys() throws -> [RowKey] {
        let select = try connection.statement("SELECT tbl, id FROM kith_refused")
        var keys: [RowKey] = []
        while try select.step() { keys.append(RowKey(table: select.int(0), id: try select.rowID(1))) }
        return keys
    }

    /// The rows that are refused, by table and id.
    package func rows(_ catalog: Catalog, max limit: Int) throws -> [RefusedRow] {
        let select = try connection.statement(
            """
            SELECT tbl, id, message, since, NOT \(HiddenRows.isHiddenSQL(as: "r")) FROM kith_refused r ORDER BY 1, 2 LIMIT ?
            """)
        select.bind(1, limit)
        var rows: [RefusedRow] = []
        while try select.step() {
            guard let table = catalog[select.int(0)] else { continue }
            rows.append(
                RefusedRow(
                    table: String(decoding: table.name, as: UTF8.self), id: try select.rowID(1), isDeletion: select.int(4) != 0,
                    reason: String(decoding: select.blob(2), as: UTF8.self), sinceMilliseconds: select.integer(3)))
        }
        return rows
    }
}

/// A trigger of the app has ended the transaction of a merge (`RAISE(ROLLBACK, …)`): it is made again without this row.
package struct TransactionRefused: Error {
    package let message: String
    package var row: RowKey?

    package init(message: String, row: RowKey? = nil) {
        self.message = message
        self.row = row
    }
}

extension DatabaseConnection {
    /// Writes `row` of the app's table, wholly or not at all.
    ///
    /// - Throws: ``SQLiteError`` that is a constraint if a rule of the app is against it, or cannot be evaluated; ``TransactionRefused`` if that has ended
    ///   the transaction.
    func write<Result>(_ row: MergedRow, _ body: () throws -> Result) throws -> Result {
        let wasInTransaction = !isOutsideTransaction
        // What a trigger has done before RAISE(FAIL) would stay.
        let keepsRemains = rulesMayRaise && wasInTransaction
        if keepsRemains { try statement("SAVEPOINT kith_row").run() }
        do {
            let result = try writingRow(row, body)
            if keepsRemains { try statement("RELEASE kith_row").run() }
            return result
        } catch let error as SQLiteError {
            if wasInTransaction, isOutsideTransaction { throw TransactionRefused(message: error.message) }
            if keepsRemains {
                try statement("ROLLBACK TO kith_row").run()
                try statement("RELEASE kith_row").run()
            }
            throw error.asRefusalOfRow
        }
    }

    /// A trigger has passed over the row: `RAISE(IGNORE)`.
    static let rowIgnored = SQLiteError(code: SQLITE_CONSTRAINT | 7 << 8, message: "A trigger of the app ignores the row: RAISE(IGNORE).")
}
