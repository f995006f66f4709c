/// Keeps the clocks attached to their rows when VACUUM has renumbered the rows.
///
/// Clocks are kept by rowid, which is what makes capture cheap. SQLite promises stable rowids only to tables with an
/// INTEGER PRIMARY KEY, so a row of a table built like the app's stands at rowid 2, with nothing at 1: when it has moved,
/// every clock finds its row again by the row's id.
struct RowNumbering {
    let connection: Connection

    func isIntact() throws -> Bool {
        let select = try connection.statement("SELECT rowid FROM kith_canary")
        defer { select.reset() }
        return try select.step() && select.int(0) == 2
    }

    /// Moves all clocks and index entries to where their rows are now. Within a transaction.
    func repair(_ catalog: Catalog) throws {
        for table in catalog.tables {
            guard let tracked = table.tracked else { continue }
            let clocks = Sidecar.clockTable(table.number)
            try connection.execute(
                """
                CREATE TEMP TABLE kith_moved AS
                    SELECT n.rowid AS now, c.* FROM \(clocks) c JOIN \(quoted(tracked.sqlName)) n ON n.\(quoted(tracked.key)) = c.id;
                CREATE UNIQUE INDEX temp.kith_moved_row ON kith_moved (row);
                CREATE TEMP TABLE kith_moved_dot AS
                    SELECT d.replica, d.sequence, m.now FROM kith_dot d JOIN kith_moved m ON m.row = d.row WHERE d.tbl = \(table.number);
                DELETE FROM kith_dot WHERE tbl = \(table.number) AND row > 0;
                INSERT INTO kith_dot (replica, sequence, tbl, row) SELECT replica, sequence, \(table.number), now FROM kith_moved_dot;
                DELETE FROM \(clocks);
                INSERT INTO \(clocks) (row, id, replica, sequence, timestamp, columns, exceptions, context)
                    SELECT now, id, replica, sequence, timestamp, columns, exceptions, context FROM kith_moved;
                DROP TABLE temp.kith_moved;
                DROP TABLE temp.kith_moved_dot;
                """)
        }
        try connection.execute("DELETE FROM kith_canary; INSERT INTO kith_canary (rowid, mark) VALUES (2, x'00')")
    }
}
