import KithSQLite

/// What capture runs for every row of one table, prepared once and found without a look at its text.
struct ClockStatements {
    let read: PreparedStatement
    let save: PreparedStatement
    let remove: PreparedStatement

    init(_ connection: DatabaseConnection, _ clocks: String) throws {
        read = try connection.statement(
            "SELECT replica, sequence, timestamp, columns, exceptions, context FROM \(clocks) WHERE row = ?")
        save = try connection.statement(
            """
            INSERT OR REPLACE INTO \(clocks)
            (row, id, replica, sequence, timestamp, columns, exceptions, context) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        remove = try connection.statement("DELETE FROM \(clocks) WHERE row = ?")
    }
}
