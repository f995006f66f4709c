import GRDB

/// The rows that stood in a machine's tables before these were tracked.
struct FoundRows {
    /// Those that are still to be put into tables, which the version of the app does not have yet.
    private var waiting: [RowWrite]
    /// Those that stand in tables and that no opening has adopted yet.
    private(set) var unadopted: [RowWrite] = []

    init(_ rows: [RowWrite]) {
        waiting = rows
    }

    /// Whether some belong into tables that this version of the app has.
    func concern(_ tables: [WorkloadTable]) -> Bool {
        waiting.contains { row in tables.contains { $0.isKnown && $0.name == row.table } }
    }

    /// Puts rows where they stood, as far as SQLite lets them in; nobody notes it, for the tables are not tracked yet.
    mutating func put(into database: any DatabaseWriter, _ tables: [WorkloadTable]) throws {
        let rows = waiting
        waiting = []
        try database.write { db in
            for row in rows {
                guard let table = tables.first(where: { $0.isKnown && $0.name == row.table }) else {
                    waiting.append(row)
                    continue
                }
                let row = table.known(of: row)
                if try insert(row, table, db) { unadopted.append(row) }
            }
        }
    }

    private func insert(_ row: RowWrite, _ table: WorkloadTable, _ db: Database) throws -> Bool {
        let names = [table.key] + table.keyColumns.map(\.name) + row.assignments.map(\.column)
        let values =
            [table.key(of: row.row).databaseValue] + table.keyValues(of: row.row).map(\.databaseValue)
            + row.assignments.map(\.value.value.databaseValue)
        let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
        do {
            try db.execute(
                sql: "INSERT INTO \(quoted(table.name)) (\(names.map(quoted).joined(separator: ", "))) VALUES (\(marks))",
                arguments: StatementArguments(values))
            return true
        } catch let error as DatabaseError
            where error.resultCode == .SQLITE_CONSTRAINT || table.mayRefuse && error.isRefusalOfApp(of: table.name)
        {
            return false
        }
    }

    /// An opening has adopted what stood there.
    mutating func adopted() {
        unadopted = []
    }

    /// Another database takes the place of the one in which they stood.
    mutating func forgetUnadopted() {
        unadopted = []
    }

    /// Nothing will be put anywhere any more.
    mutating func end() {
        waiting = []
    }
}
