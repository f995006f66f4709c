import KithCausality
import KithSQLite
import KithSync

/// The clocks of one tracked table's visible rows, by the rowid of the app's row. The only owner of `kith_clock_N`: all that changes it
/// is here; what only reads it has its name from here.
package struct ClockTable {
    package static let prefix = "kith_clock_"

    package static func name(_ table: Int) -> String { "\(prefix)\(table)" }

    package static func sql(_ table: Int) -> String {
        """
        CREATE TABLE IF NOT EXISTS kith_clock_\(table) (
            row INTEGER PRIMARY KEY, id BLOB NOT NULL, replica INTEGER NOT NULL, sequence INTEGER NOT NULL,
            timestamp INTEGER NOT NULL, columns INTEGER NOT NULL, exceptions BLOB, context INTEGER)
        """
    }

    private let connection: DatabaseConnection
    private let name: String

    package init(_ connection: DatabaseConnection, _ table: Int) {
        self.connection = connection
        name = Self.name(table)
    }

    // MARK: Writing

    /// Stores the clocks of a row in place of those that it has: row, id, replica, sequence, timestamp, columns, exceptions, context.
    package func saving() throws -> PreparedStatement {
        try connection.statement(
            """
            INSERT OR REPLACE INTO \(name)
            (row, id, replica, sequence, timestamp, columns, exceptions, context) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
    }

    /// Stores the clocks of a row that has no exceptions: row, id, replica, sequence, timestamp, columns.
    ///
    /// - Parameter conflict: what becomes of a row that has clocks, as SQL behind VALUES.
    func inserting(_ conflict: String) throws -> PreparedStatement {
        try connection.statement(
            "INSERT INTO \(name) (row, id, replica, sequence, timestamp, columns) VALUES (?, ?, ?, ?, ?, ?) \(conflict)")
    }

    /// Stores clocks of one commit for many rows that have none.
    ///
    /// - Parameters:
    ///   - id: SQL that gives a row's id.
    ///   - found: what stands behind FROM, with the rows of the app's table as `n`.
    package func add(_ stamp: Stamp, replica: Int, columns: Int, id: String, from found: String) throws {
        let insert = try connection.statement(
            """
            INSERT INTO \(name) (row, id, replica, sequence, timestamp, columns)
            SELECT n.rowid, \(id), ?, ?, ?, ? FROM \(found)
            """)
        insert.bind(1, replica)
        insert.bind(2, Int64(bitPattern: stamp.dot.sequence))
        insert.bind(3, Int64(bitPattern: stamp.markedTimestamp))
        insert.bind(4, columns)
        try insert.run()
    }

    /// Removes the clocks of a row.
    func removing() throws -> PreparedStatement {
        try connection.statement("DELETE FROM \(name) WHERE row = ?")
    }

    package func removeAll() throws {
        try connection.execute("DELETE FROM \(name)")
    }

    /// Removes the clocks of rows that the app's table has not.
    package func removeLost(from appTable: String) throws {
        try connection.statement("DELETE FROM \(name) WHERE row NOT IN (SELECT rowid FROM \(appTable))").run()
    }

    /// Gives the clocks to where their rows are now, by way of negative numbers, which no clock has. Those of all others are removed.
    ///
    /// - Parameter moved: the table that says so, in its columns `row` and `now`.
    func move(by moved: String) throws {
        for sql in [
            "DELETE FROM \(name) WHERE row NOT IN (SELECT row FROM \(moved))",
            "UPDATE \(name) SET row = -1 - (SELECT now FROM \(moved) m WHERE m.row = \(name).row)",
            "UPDATE \(name) SET row = -1 - row",
        ] { try connection.statement(sql).run() }
    }

    // MARK: Reading

    /// Selects the id of the row that has the rowid of the parameter.
    package static func idSQL(_ table: Int) -> String { "SELECT id FROM \(name(table)) WHERE row = ?" }

    /// Selects the ids of all rows of a table, shown or not.
    package static func rowsSQL(_ table: Int) -> String {
        "\(HiddenRows.idsSQL(of: table)) UNION ALL SELECT id FROM \(name(table))"
    }
}
