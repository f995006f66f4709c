import KithSQLite

/// What every transaction has to look at first, read by one statement.
package struct EntryCheck {
    /// Grows whenever the catalog does, in whatever process.
    package let catalogVersion: Int
    /// Whether rows stand where their clocks are: VACUUM has not moved them.
    package let areRowsInPlace: Bool
    /// Whether no clocks of rows are in runs.
    package let areRunsExpanded: Bool

    private static let sql = "SELECT \(MetaRecords.catalogVersionSQL), \(RowNumbering.canarySQL), \(ClockRuns.existsSQL)"

    package init(_ connection: DatabaseConnection) throws {
        let select = try connection.statement(Self.sql)
        guard try select.step() else { throw StoreError(.corrupt, "The store cannot be read.") }
        defer { select.reset() }
        catalogVersion = select.int(0)
        areRowsInPlace = select.int(1) == RowNumbering.canaryRow
        areRunsExpanded = select.int(2) == 0
    }
}
