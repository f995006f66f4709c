import Foundation
import GRDB
import GRDBSQLite
import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts
import Synchronization

/// Runs the app's migrations on a database whose tables are tracked, while no store is open.
///
/// What the steps write is found out when the store is opened: before the first one each tracked table is copied aside, and the
/// opening notes how it differs (``StepChanges``). So a step may be any SQL, and it may drop columns and build tables anew. The
/// copies stand in the file until then, so nothing is lost if the app is stopped in between. See docs/store.md, "Migrations".
struct MigrationSteps {
    private let migrator: DatabaseMigrator
    private let tables: [TrackedTable]
    /// Whether the app wants its database erased when steps that ran say something else by now.
    private let erasesOnChange: Bool

    init(migrator: DatabaseMigrator, tables: [TrackedTable]) {
        var steps = migrator
        steps.eraseDatabaseOnSchemaChange = false
        (self.migrator, self.tables, erasesOnChange) = (steps, tables, migrator.eraseDatabaseOnSchemaChange)
    }

    static let goneTable = "kith_gone"
    static let beforePrefix = "kith_before_"
    static func before(_ table: Int) -> String { "\(beforePrefix)\(table)" }
    static func goneTrigger(_ table: Int) -> String { "kith_gone_\(table)" }
    /// The triggers that keep everybody but the steps from writing a table: see ``keepOthersOut(_:)``.
    private static func guards(_ table: Int) -> [(name: String, event: String)] {
        ["insert", "update", "delete"].map { ("\(goneTrigger(table))_\($0)", $0.uppercased()) }
    }
    /// Where the names of the tracked columns of a table are kept, in the order of ``SchemaArrival``'s numbers.
    static func namesKey(_ table: Int) -> String { "names:\(table)" }
    static let nameSeparator: Character = "\u{1f}"

    private static let function = "kith_end_step"
    /// Who runs steps has it. It is never called: SQLite prepares no statement whose triggers name a function that is not there.
    private static let permit = "kith_step"

    /// - Throws: ``StoreError`` with code `valueRejected` for a step that changes a text or a counter, which is rolled back, and for a step
    ///   that ran and was changed since, if the migrator has `eraseDatabaseOnSchemaChange`; what steps throw themselves as it is.
    func run(on database: any DatabaseWriter) throws {
        let (isStore, targets) = try database.unsafeReentrantWrite { db in
            try db.requireNoAccess()
            return (try db.tableExists(MetaRecords.table), try self.targets(db))
        }
        if erasesOnChange {
            if !isStore {
                var eraser = migrator
                eraser.eraseDatabaseOnSchemaChange = true
                return try eraser.migrate(database)
            }
            try refuseChangedSteps(database)
        }
        guard isStore, !targets.isEmpty else { return try migrator.migrate(database) }
        let refusal = Mutex<StoreError?>(nil)
        let refuse: Refuse = { error in refusal.withLock { $0 = error } }
        for target in targets {
            let before = try database.writeWithoutTransaction { db in
                var before = Before()
                try StoreError.mapping {
                    try db.inTransaction(.immediate) {
                        before.steps = try migrator.appliedIdentifiers(db)
                        before.tables = try copyTables(db)
                        return .commit
                    }
                }
                try watchEnd(db, refuse)
                return before
            }
            defer { try? database.writeWithoutTransaction(Self.unwatch) }
            do {
                try migrate(database, upTo: target, refuse)
                // The step may have built tables anew.
                try database.write { db in try StoreError.mapping { try KnownTable.all(db).forEach { try keepOthersOut($0, db) } } }
            } catch {
                try? database.writeWithoutTransaction { db in try putBack(before, db) }
                throw refusal.withLock { $0 } ?? error
            }
        }
    }

    /// GRDB undoes a step after which a foreign key refers to nothing, also where a merge has left it so before (docs/store.md, "Foreign keys").
    /// Such a step runs once more without GRDB's look, and may leave no more of these keys than there were.
    private func migrate(_ database: any DatabaseWriter, upTo target: String, _ refuse: @escaping Refuse) throws {
        do {
            try migrator.migrate(database, upTo: target)
        } catch let violation as DatabaseError where violation.message?.hasPrefix("FOREIGN KEY constraint violation") == true {
            try database.writeWithoutTransaction { db in
                let dangling = try Int.fetchOne(db, sql: StepCheck.danglingSQL) ?? 0
                if dangling == 0 { throw violation }
                try watchEnd(db, danglingMax: dangling, refuse)
                try db.execute(sql: "PRAGMA foreign_keys = OFF")
            }
            defer { try? database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = ON") } }
            do {
                try migrator.migrate(database, upTo: target)
            } catch let error as DatabaseError where [.SQLITE_ERROR, .SQLITE_CONSTRAINT].contains(error.resultCode) {
                throw violation
            }
        }
    }

    /// Where GRDB would erase the database (it takes Kith's own tables for a change, too), nothing is erased: other machines have what is
    /// in it, and would bring it back into tables that they alone know.
    private func refuseChangedSteps(_ database: any DatabaseWriter) throws {
        let (applied, found) = try database.read { db in (try migrator.appliedIdentifiers(db), try Self.schema(db)) }
        var expected: [[String?]] = []
        if let last = migrator.migrations.last(where: applied.contains) {
            var configuration = database.configuration
            configuration.readonly = false
            configuration.targetQueue = nil
            configuration.writeTargetQueue = nil
            let folder = FileManager.default.temporaryDirectory.appending(path: "kith-steps-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let fresh = try DatabaseQueue(path: folder.appending(path: "steps.sqlite").path, configuration: configuration)
            // Steps may call them.
            try fresh.writeWithoutTransaction { db in try SyncedDatabase.addFunctions(to: db) }
            try migrator.migrate(fresh, upTo: last)
            expected = try fresh.read(Self.schema)
            try fresh.close()
        }
        if found == expected, applied.isSubset(of: migrator.migrations) { return }
        throw StoreError(
            .valueRejected,
            "The tables of this database are not those that its migration steps make now, and eraseDatabaseOnSchemaChange would erase a "
                + "database that synchronises; nothing was changed. Add a step and turn that option off; or remove the database with the "
                + "files beside it, of which the names begin with its own.")
    }

    /// What the app has made: neither Kith's nor SQLite's nor GRDB's tables.
    private static func schema(_ db: Database) throws -> [[String?]] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM sqlite_master
                WHERE name NOT GLOB 'kith_*' AND tbl_name NOT GLOB 'kith_*' AND name NOT GLOB 'sqlite_*' AND tbl_name <> 'grdb_migrations'
                ORDER BY 1, 2
                """
        ).map { [$0[0], $0[1], $0[2], $0[3]] }
    }

    /// The steps that have not run, each of which may run alone; an earlier one that was forgotten runs with the next.
    private func targets(_ db: Database) throws -> [String] {
        let applied = try migrator.appliedIdentifiers(db)
        let last = migrator.migrations.lastIndex(where: applied.contains) ?? -1
        return Array(migrator.migrations[(last + 1)...])
    }

    // MARK: Before a step

    /// What there was before a step ran.
    private struct Before: Sendable {
        var steps: Set<String> = []
        /// The tables that were copied for it, and the statements that make the triggers that were taken away.
        var tables: [(table: KnownTable, triggers: [String])] = []
    }

    /// The step has failed and was rolled back. If no other step ran since the tables were copied, Kith tracks them again as before, so
    /// that processes which have the store open can go on.
    private func putBack(_ before: Before, _ db: Database) throws {
        try db.inTransaction(.immediate) {
            guard try migrator.appliedIdentifiers(db) == before.steps else { return .rollback }
            for (table, triggers) in before.tables where try table.isAsCopied(db) {
                for name in [Self.goneTrigger(table.number)] + Self.guards(table.number).map(\.name) {
                    try db.execute(sql: "DROP TRIGGER IF EXISTS \(name)")
                }
                try db.execute(
                    sql: """
                        DROP TABLE \(Self.before(table.number));
                        DELETE FROM \(Self.goneTable) WHERE tbl = \(table.number);
                        """)
                for sql in triggers { try db.execute(sql: sql) }
            }
            return .commit
        }
    }

    /// Returns the tables that were not copied before, for a step whose changes wait for the opening of the store.
    private func copyTables(_ db: Database) throws -> [(table: KnownTable, triggers: [String])] {
        try StoreFormat.check(try DatabaseConnection(borrowing: db))
        if try Bool.fetchOne(db, sql: "SELECT 1 FROM pragma_function_list WHERE name = 'kith_insert'") == true {
            throw StoreError(.busy, "The store of this database is open. Close it before the database is migrated.")
        }
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(Self.goneTable) (tbl INTEGER NOT NULL, id BLOB NOT NULL, PRIMARY KEY (tbl, id)) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)
                """)
        var copied: [(table: KnownTable, triggers: [String])] = []
        for table in try KnownTable.all(db) {
            if try !db.tableExists(Self.before(table.number)) {
                // A table without triggers is not tracked: what was written there is not known to be the steps'.
                guard try table.hasTriggers(db) else { continue }
                try table.copy(db)
                if try db.tableExists(Self.before(table.number)) { copied.append((table, try table.triggers(db))) }
            }
            guard let key = try table.key(db) else { continue }
            try SyncedDatabase.removeTriggers(of: table.name, in: db)
            let trigger = Self.goneTrigger(table.number)
            try db.execute(
                sql: """
                    DROP TRIGGER IF EXISTS \(trigger);
                    CREATE TRIGGER \(trigger) AFTER DELETE ON \(quoted(table.name)) BEGIN
                        INSERT OR IGNORE INTO \(Self.goneTable) VALUES (\(table.number), old.\(quoted(key)));
                    END
                    """)
            try keepOthersOut(table, db)
        }
        return copied
    }

    /// A copied table has no triggers of Kith's until the store is opened. Until then, steps aside, a write fails with "no such function:
    /// kith_step", on connections of other processes and also if this one dies, so that nothing that a person writes counts as a step's.
    private func keepOthersOut(_ table: KnownTable, _ db: Database) throws {
        guard try db.tableExists(Self.before(table.number)) else { return }
        for (name, event) in Self.guards(table.number) {
            try db.execute(
                sql: """
                    DROP TRIGGER IF EXISTS \(name);
                    CREATE TRIGGER \(name) BEFORE \(event) ON \(quoted(table.name)) BEGIN SELECT \(Self.permit)() WHERE 0; END
                    """)
        }
    }

    // MARK: At the end of a step

    private typealias Refuse = @Sendable (StoreError) -> Void

    /// GRDB notes each step in `grdb_migrations`, within the step's transaction: then it is looked at.
    ///
    /// - Parameter danglingMax: see ``StepCheck``.
    private func watchEnd(_ db: Database, danglingMax: Int? = nil, _ refuse: @escaping Refuse) throws {
        guard let handle = db.sqliteConnection else { throw StoreError(.failed, "The database is closed.") }
        // Used by the function alone, which SQLite calls on this connection.
        nonisolated(unsafe) let connection = DatabaseConnection(handle, of: db)
        let declared = tables
        // Innocuous, as Kith's other functions are: an app may trust no schema.
        sqlite3_create_function_v2(handle, Self.permit, 0, SQLITE_UTF8 | SQLITE_INNOCUOUS, nil, { _, _, _ in }, nil, nil, nil)
        db.add(
            function: DatabaseFunction(Self.function, argumentCount: 1) { values in
                defer { connection.finalizeStatements() }
                do {
                    try StepCheck(connection: connection, tables: declared, danglingMax: danglingMax).check(
                        step: String.fromDatabaseValue(values[0]) ?? "")
                } catch let error as StoreError {
                    refuse(error)
                    throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: error.message)
                }
                return nil
            })
        try db.execute(
            sql: """
                DROP TRIGGER IF EXISTS temp.\(Self.function);
                CREATE TEMP TRIGGER \(Self.function) AFTER INSERT ON main.grdb_migrations BEGIN
                    SELECT CASE WHEN \(Self.function)(new.identifier) IS NOT NULL THEN RAISE(ABORT, 'kith') END;
                END
                """)
    }

    private static func unwatch(_ db: Database) throws {
        try db.execute(sql: "DROP TRIGGER IF EXISTS temp.\(function)")
        db.remove(function: DatabaseFunction(function, argumentCount: 1) { _ in nil })
        if let handle = db.sqliteConnection { sqlite3_create_function_v2(handle, permit, 0, SQLITE_UTF8, nil, nil, nil, nil, nil) }
    }
}

/// A table that the store knows and the file has, by what the last opening has noted of it.
struct KnownTable {
    let number: Int
    let name: String
    /// Numbers and SQL names of the columns that were tracked, as far as the table has them.
    let columns: [(number: Int, name: String)]

    static func all(_ db: Database) throws -> [KnownTable] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT t.number, CAST(t.name AS TEXT) name, c.value columns, n.value names FROM \(CatalogStore.tablesTable) t
                JOIN sqlite_master m ON m.type = 'table' AND m.name = CAST(t.name AS TEXT)
                \(MetaRecords.joinTrackedColumnsSQL) ORDER BY t.number
                """)
        return try rows.map { row in
            let name: String = row["name"]
            let present = Set(try db.columnNames(of: name))
            let numbers = (row["columns"] as String).prefix { $0 != ";" }.split(separator: ",").compactMap { Int($0) }
            let names = (row["names"] as String).split(separator: MigrationSteps.nameSeparator).map(String.init)
            let columns = zip(numbers, names).filter { present.contains($1) }.map { (number: $0, name: $1) }
            return KnownTable(number: row["number"], name: name, columns: columns)
        }
    }

    func hasTriggers(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = 'kith_\(number)_update'") == true
    }

    func key(_ db: Database) throws -> String? {
        let key = try db.primaryKey(name).columns
        return key.count == 1 ? key[0] : nil
    }

    /// The statements that make Kith's triggers, in the order in which they were made.
    func triggers(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'kith_\(number)_*' AND tbl_name = ? COLLATE NOCASE
                ORDER BY rowid
                """, arguments: [name])
    }

    /// Values stand as they are in columns without a type.
    func copy(_ db: Database) throws {
        guard let key = try key(db) else { return }
        let copies = (["id"] + columns.map { "c\($0.number)" }).joined(separator: ", ")
        let copy = MigrationSteps.before(number)
        try db.execute(sql: "CREATE TABLE \(copy) (\(copies)); INSERT INTO \(copy) \(rowsSQL(key))")
    }

    /// Whether the table holds what was copied.
    func isAsCopied(_ db: Database) throws -> Bool {
        guard let key = try key(db) else { return false }
        let (rows, copies) = (rowsSQL(key), "SELECT * FROM \(MigrationSteps.before(number))")
        return try Bool.fetchOne(
            db, sql: "SELECT NOT EXISTS (SELECT * FROM (\(rows) EXCEPT \(copies)) UNION ALL SELECT * FROM (\(copies) EXCEPT \(rows)))")
            == true
    }

    private func rowsSQL(_ key: String) -> String {
        "SELECT \(([key] + columns.map(\.name)).map(quoted).joined(separator: ", ")) FROM \(quoted(name))"
    }
}

// MARK: When the store is opened after steps

extension MigrationSteps {
    /// Ends the noting of rows that steps delete.
    ///
    /// - Returns: whether steps have run.
    static func stopNoting(_ connection: DatabaseConnection) throws -> Bool {
        if try names("type = 'table' AND name = '\(goneTable)'", connection).isEmpty { return false }
        for trigger in try names("type = 'trigger' AND name GLOB '\(goneTable)_*'", connection) {
            try connection.execute("DROP TRIGGER \(quoted(trigger))")
        }
        return true
    }

    private static func droppedKey(_ table: Int) -> String { "dropped:\(table)" }

    /// The columns of a table that steps have dropped since it was copied, by their numbers.
    static func dropped(from table: Int, _ connection: DatabaseConnection) throws -> Set<Int> {
        guard case .text(let bytes)? = try VectorRecords(connection: connection).meta(droppedKey(table)) else { return [] }
        return Set(String(decoding: bytes, as: UTF8.self).split(separator: ",").compactMap { Int($0) })
    }

    static func noteDropped(_ column: Int, from table: Int, _ connection: DatabaseConnection) throws {
        let columns = try dropped(from: table, connection).union([column]).sorted().map(String.init)
        try VectorRecords(connection: connection).setMeta(droppedKey(table), .text(columns.joined(separator: ",")))
    }

    /// Takes away the copies and the list of rows that steps have deleted.
    static func dropCopies(_ connection: DatabaseConnection) throws {
        for table in try names("type = 'table' AND name GLOB '\(beforePrefix)[0-9]*'", connection) + [goneTable] {
            try connection.execute("DROP TABLE \(quoted(table))")
            if let number = Int(table.dropFirst(beforePrefix.count)) {
                try VectorRecords(connection: connection).removeMeta(droppedKey(number))
            }
        }
    }

    private static func names(_ condition: String, _ connection: DatabaseConnection) throws -> [String] {
        let select = try connection.statement("SELECT name FROM sqlite_master WHERE \(condition)")
        var names: [String] = []
        while try select.step() { names.append(String(decoding: select.blob(0), as: UTF8.self)) }
        return names
    }
}
