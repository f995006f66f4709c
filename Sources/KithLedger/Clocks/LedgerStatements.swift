import KithSQLite

/// What capture runs for every row of one table, prepared once and found without a look at its text.
struct ClockStatements {
    let read: PreparedStatement
    let save: PreparedStatement
    let remove: PreparedStatement

    init(_ connection: DatabaseConnection, _ table: Int) throws {
        let clocks = ClockTable(connection, table)
        read = try connection.statement(
            "SELECT replica, sequence, timestamp, columns, exceptions, context FROM \(ClockTable.name(table)) WHERE row = ?")
        save = try clocks.saving()
        remove = try clocks.removing()
    }
}
