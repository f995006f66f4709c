/// The clocks of one tracked table's visible rows, by the rowid of the app's row.
package enum ClockTable {
    package static let prefix = "kith_clock_"

    package static func name(_ table: Int) -> String { "\(prefix)\(table)" }

    package static func sql(_ table: Int) -> String {
        """
        CREATE TABLE IF NOT EXISTS kith_clock_\(table) (
            row INTEGER PRIMARY KEY, id BLOB NOT NULL, replica INTEGER NOT NULL, sequence INTEGER NOT NULL,
            timestamp INTEGER NOT NULL, columns INTEGER NOT NULL, exceptions BLOB, context INTEGER)
        """
    }

    /// Selects the id of the row that has the rowid of the parameter.
    static func idSQL(_ table: Int) -> String { "SELECT id FROM \(name(table)) WHERE row = ?" }

    /// Selects the ids of all rows of a table, shown or not.
    package static func rowsSQL(_ table: Int) -> String {
        "\(HiddenRows.idsSQL(of: table)) UNION ALL SELECT id FROM \(name(table))"
    }
}
