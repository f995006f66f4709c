import KithCausality
import KithSQLite
import KithSync

/// A row that is gone from its table while its clocks are still there.
package struct DeletedRow {
    package let table: Int
    package let row: Int64
    package let id: RowID

    package init(table: Int, row: Int64, id: RowID) {
        self.table = table
        self.row = row
        self.id = id
    }
}

/// Keeps the clocks attached to their rows when VACUUM has renumbered the rows.
///
/// Clocks are kept by rowid, which is what makes capture cheap. SQLite promises stable rowids only to tables with an
/// INTEGER PRIMARY KEY, so a row of a table built like the app's stands at rowid 2, with nothing at 1: when it has moved,
/// every clock finds its row again by the row's id.
///
/// The only owner of `kith_canary`, which is that table, and of `kith_moved`, which is empty unless clocks are being moved.
package struct RowNumbering {
    package static let sql = """
        -- VACUUM may renumber the rows of tables without an INTEGER PRIMARY KEY; this one tells that it did.
        CREATE TABLE IF NOT EXISTS kith_canary (mark BLOB PRIMARY KEY NOT NULL);
        INSERT INTO kith_canary (rowid, mark) SELECT \(canaryRow), x'00' WHERE NOT EXISTS (SELECT 1 FROM kith_canary);
        -- Where rows were and are, while clocks follow them; empty otherwise.
        CREATE TABLE IF NOT EXISTS kith_moved (row INTEGER PRIMARY KEY, now INTEGER NOT NULL);
        """

    /// Selects where the row stands that tells.
    static let canarySQL = "(SELECT rowid FROM kith_canary)"

    /// Where the row stands that tells.
    static let canaryRow = 2

    package let connection: DatabaseConnection

    package init(connection: DatabaseConnection) {
        self.connection = connection
    }

    /// Moves all clocks and index entries to where their rows are now. Within a transaction, which may be in the middle of
    /// the statement that has removed `deleted`; hence no temporary tables, which a running statement would forbid.
    package func repair(_ catalog: Catalog, deleted: DeletedRow? = nil) throws {
        for table in catalog.tables {
            guard let tracked = table.tracked else { continue }
            try findRows(table, tracked, deleted?.table == table.number ? deleted : nil)
            try DotIndex(connection).move(of: table.number, by: "kith_moved")
            try ClockTable(connection, table.number).move(by: "kith_moved")
            try connection.statement("DELETE FROM kith_moved").run()
        }
        try connection.statement("UPDATE kith_canary SET rowid = \(Self.canaryRow)").run()
    }

    /// Notes where each clock's row was and is.
    private func findRows(_ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ deleted: DeletedRow?) throws {
        let clocks = ClockTable.name(table.number)
        try connection.statement(
            """
            INSERT INTO kith_moved (row, now)
                SELECT c.row, n.rowid FROM \(clocks) c JOIN \(tracked.mainName) n ON n.\(quoted(tracked.key)) = \(tracked.form.keySQL("c.id"))
            """
        ).run()
        guard let deleted else { return }
        let insert = try connection.statement("INSERT INTO kith_moved (row, now) SELECT row, ? FROM \(clocks) WHERE id = ?")
        insert.bind(1, deleted.row)
        insert.bind(2, blob: deleted.id.bytes)
        try insert.run()
    }
}
