import GRDB
import GRDBSQLite

/// Finds triggers of the app that write tables: asks SQLite, without running anything, what each statement would do.
struct TriggerFinder {
    /// The tables that users write, and that triggers must not.
    let tables: [String]

    /// A trigger and a table that it writes.
    struct Finding: Hashable {
        let trigger: String
        let table: String
    }

    /// The first such trigger; `nil` if there is none.
    func first(in database: DatabaseQueue) throws -> Finding? {
        for finding in try findings(in: database) {
            guard let name = tables.first(where: { $0.lowercased() == finding.table.lowercased() }) else { continue }
            return Finding(trigger: finding.trigger, table: name)
        }
        return nil
    }

    /// The other tables that triggers write, in order. SQLite tells nobody what is written to virtual tables and those without rowids.
    func filled(in database: DatabaseQueue) throws -> [String] {
        let written = Set(try findings(in: database).map { $0.table.lowercased() }).subtracting(tables.map { $0.lowercased() })
        return try database.read { db in
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT wr ORDER BY name")
            return names.filter { written.contains($0.lowercased()) }
        }
    }

    private func findings(in database: DatabaseQueue) throws -> [Finding] {
        // What is done to this connection is not undone.
        let copy = try DatabaseQueue()
        try database.backup(to: copy)
        let witness = Witness()
        try copy.writeWithoutTransaction { db in
            guard let connection = db.sqliteConnection else { return }
            let all = try tables.flatMap { try statements(on: $0, db) }
            sqlite3_set_authorizer(connection, authorize, Unmanaged.passUnretained(witness).toOpaque())
            defer { sqlite3_set_authorizer(connection, nil, nil) }
            for sql in all {
                var statement: OpaquePointer?
                // What SQLite cannot prepare, users cannot run either.
                sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
                sqlite3_finalize(statement)
            }
        }
        return withExtendedLifetime(witness) { witness.findings }
    }

    /// Statements that fire every trigger of a table.
    private func statements(on table: String, _ db: Database) throws -> [String] {
        let columns = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table])
        let changes = columns.map { "\(quoted($0)) = \(quoted($0))" }.joined(separator: ", ")
        let name = quoted(table)
        return ["INSERT INTO \(name) DEFAULT VALUES", "UPDATE \(name) SET \(changes)", "DELETE FROM \(name)"]
    }
}

/// Is told what statements do.
private final class Witness {
    private(set) var findings: [TriggerFinder.Finding] = []

    func note(write table: String, by trigger: String) {
        findings.append(TriggerFinder.Finding(trigger: trigger, table: table))
    }
}

/// What SQLite calls for each thing that a statement does; the last argument names the trigger that does it, if one does.
private func authorize(
    _ witness: UnsafeMutableRawPointer?, _ action: Int32, _ table: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?,
    _: UnsafePointer<CChar>?, _ trigger: UnsafePointer<CChar>?
) -> Int32 {
    if let witness, let table, let trigger, [SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE].contains(action) {
        Unmanaged<Witness>.fromOpaque(witness).takeUnretainedValue().note(write: String(cString: table), by: String(cString: trigger))
    }
    return SQLITE_OK
}
