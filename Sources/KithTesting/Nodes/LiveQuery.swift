import GRDB

/// What an app shows that observes a whole table: the rows as they were when it was last told that they changed.
struct LiveQuery {
    let table: String
    private let sql: String
    private let probe: ObservationProbe
    /// `nil` until it is looked at for the first time.
    private var shown: [Row]?

    init(_ table: WorkloadTable, _ probe: ObservationProbe) {
        self.table = table.name
        sql = "SELECT * FROM \(quoted(table.name)) ORDER BY \(quoted(table.key))"
        self.probe = probe
    }

    /// - Parameter filled: a table that triggers of the app fill.
    init(filled: String, _ probe: ObservationProbe) {
        table = filled
        sql = "SELECT * FROM \(quoted(filled))"
        self.probe = probe
    }

    /// Whether it shows what a query made now gets. Reads the table again if it was told of a change since the last time, as an
    /// observation does.
    mutating func isFresh(_ db: Database) throws -> Bool {
        let rows = try Row.fetchAll(try db.cachedStatement(sql: sql))
        if probe.takeNews() || shown == nil { shown = rows }
        return shown == rows
    }
}
