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

    /// Makes it read the table again without being told.
    mutating func forget() {
        shown = nil
    }

    /// Whether it shows what a query made now gets. Reads the table again if it was told of a change since the last time, as an
    /// observation does.
    mutating func isFresh(_ db: Database) throws -> Bool {
        let rows = try Row.fetchAll(try db.cachedStatement(sql: sql))
        if probe.takeNews() || shown == nil { shown = rows }
        return shown == rows
    }
}

extension SimulatedNode {
    /// Lets apps read again what statements have written of which `KithStore` tells nobody.
    func forgetLiveQueries(writtenSilentlyBy operations: [Operation]) {
        for case .write(let write) in operations where write.isSilent {
            for index in liveQueries.indices where liveQueries[index].table == write.table { liveQueries[index].forget() }
        }
    }
}

extension RowWrite {
    fileprivate var isSilent: Bool {
        verb == .resolve || verb == .save && TextPlace(assignments.first?.value)?.usesVersion == true
    }
}
