import GRDB
import KithStore
import KithSync

/// Finds out what a column holds that an insertion does not name, by asking SQLite.
struct DefaultProbe {
    private let scratch: DatabaseQueue

    init() throws {
        scratch = try DatabaseQueue()
        try scratch.write { db in
            try SyncedDatabase.addFunctions(to: db)
            try db.execute(sql: "CREATE TABLE steady (\"kith probe\"); INSERT INTO steady VALUES (1)")
        }
    }

    /// - Parameter expression: the default as SQLite tells it; `nil` if there is none.
    func value(of expression: String?, _ affinity: WorkloadTable.Affinity) throws -> (value: ColumnValue, isSteady: Bool) {
        guard let expression else { return (.null, true) }
        let value = try stored(expression, affinity)
        return try isSteady(expression) ? (value, true) : (Self.standIn(for: value), false)
    }

    /// What a column of that affinity makes of the default.
    private func stored(_ expression: String, _ affinity: WorkloadTable.Affinity) throws -> ColumnValue {
        try scratch.write { db in
            // SQLite tells expressions without their parentheses, and takes names only without.
            for form in ["(\(expression))", expression] {
                try db.execute(sql: "DROP TABLE IF EXISTS probe")
                do {
                    try db.execute(sql: "CREATE TABLE probe (value \(affinity.typeName) DEFAULT \(form)); INSERT INTO probe DEFAULT VALUES")
                } catch is DatabaseError {
                    continue
                }
                return ColumnValue(try DatabaseValue.fetchOne(db, sql: "SELECT value FROM probe") ?? .null)
            }
            throw SchemaError("SQLite cannot tell what DEFAULT \(expression) is. Write it as a literal.")
        }
    }

    /// Whether each insertion gets the same: SQLite indexes nothing else.
    private func isSteady(_ expression: String) throws -> Bool {
        try scratch.write { db in
            do {
                try db.execute(sql: "CREATE INDEX probed ON steady ((\(expression)) || '')")
            } catch is DatabaseError {
                return false
            }
            try db.execute(sql: "DROP INDEX probed")
            return true
        }
    }

    /// What users write in place of a default that is another one each time, so that a seed gives the same run.
    private static func standIn(for value: ColumnValue) -> ColumnValue {
        switch value {
        case .null: .null
        case .integer: .integer(1_767_225_600)
        case .real: .real(2_461_041.5)
        case .text: .text("2026-01-01 00:00:00")
        case .blob(let bytes): .blob(bytes.map { _ in 1 })
        }
    }
}
