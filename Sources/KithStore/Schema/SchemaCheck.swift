import GRDB
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// What stands between a database and synchronisation, all at once: see `SyncedDatabase.check(_:tables:)`.
public struct SchemaCheck: Hashable, Sendable, Codable {
    /// The names of the tables that were looked at.
    public let tables: [String]
    /// Everything that has to be changed first, table by table.
    public let problems: [SchemaProblem]
    /// What gives rows ids, and all that refers to them; `nil` if they have such.
    public let keys: KeyMigration.Plan?
    /// The SQL of all changes that SQL alone can make, apart from ids, to be run as one migration step; empty if there are none. It builds
    /// tables anew with what stands beside them. Defaults are guesses by type, and a `UNIQUE` that is not declared as a key is dropped:
    /// read it before it is run.
    public let script: [String]

    /// Whether the tables can be tracked as they are.
    public var isReady: Bool { problems.isEmpty }
}

extension SyncedDatabase {
    /// Looks whether tables can be tracked, and says everything that must change first, for all tables at once. Changes nothing.
    ///
    ///     let check = try SyncedDatabase.check(queue, tables: [TrackedTable("recipe", sets: ["tags"]), TrackedTable("step")])
    ///     for problem in check.problems { print(problem.message, problem.sql ?? "") }
    ///
    /// - Throws: ``StoreError`` if the database cannot be read, or with code `notAStore` if its text is not UTF-8.
    public static func check(_ database: any DatabaseReader, tables: [TrackedTable]) throws(StoreError) -> SchemaCheck {
        try StoreError.typed {
            // A snapshot is a transaction that is always open.
            guard database is any DatabaseWriter else { return try database.read { try check($0, tables: tables) } }
            return try database.unsafeReentrantRead { db in
                try db.requireNoAccess()
                return try db.inOneTransaction(.deferred) { try check($0, tables: tables) }
            }
        }
    }

    /// The same within an access.
    public static func check(_ db: Database, tables: [TrackedTable]) throws(StoreError) -> SchemaCheck {
        try StoreError.typed {
            let connection = try DatabaseConnection(borrowing: db)
            defer { connection.finalizeStatements() }
            let (found, problems) = try Registration(connection: connection).examine(tables)
            let values = try found.flatMap { table in
                let hasIDs = !problems.contains { $0.table == table.table.name && [.key, .declaration].contains($0.code) }
                return try ValueCheck(connection: connection).problems(table, looksAtIDs: hasIDs)
            }
            let writer = SchemaScript(db: db)
            let all = try (problems + values).map(writer.explained)
            let present = tables.filter { table in !problems.contains { $0.table == table.name && $0.code == .table } }
            // What stands in the way of new ids is among the problems.
            let plan = try? KeyMigration(present).plan(db)
            return SchemaCheck(
                tables: tables.map(\.name), problems: all, keys: plan?.isEmpty == false ? plan : nil, script: try writer.statements(all))
        }
    }

    /// The tables that an app made itself, without those of SQLite, GRDB, search indexes and Kith: what could be tracked.
    public static func ownTables(_ db: Database) throws(StoreError) -> [String] {
        try StoreError.typed {
            try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
                    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'kith\\_%' ESCAPE '\\' AND name <> 'grdb_migrations' ORDER BY name
                    """)
        }
    }
}

/// The SQL for ``SchemaCheck``.
private struct SchemaScript {
    let db: Database

    private func definition(_ table: String) throws -> TableDefinition? {
        try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [table])
            .flatMap(TableDefinition.init(sql:))
    }

    /// The problem with what the table's `CREATE TABLE` says instead.
    func explained(_ problem: SchemaProblem) throws -> SchemaProblem {
        guard problem.sql == nil, let edit = problem.edit, var definition = try definition(problem.table) else { return problem }
        edit.apply(to: &definition)
        let sql = edit.column.flatMap { definition.column($0)?.text } ?? definition.sql(naming: problem.table)
        return SchemaProblem(
            table: problem.table, column: problem.column, problem.code, problem.message, sql: sql, declaration: problem.declaration,
            edit: edit)
    }

    func statements(_ problems: [SchemaProblem]) throws -> [String] {
        var tables: [SchemaRewrite.Table] = []
        var others: [String] = []
        var names: [String] = []
        for problem in problems where !names.contains(problem.table) { names.append(problem.table) }
        for name in names {
            let own = problems.filter { $0.table == name }
            let edits = own.compactMap(\.edit)
            var relaxed: Set<String> = []
            for case .relaxIndex(let index) in edits { relaxed.insert(index) }
            let isRebuilt = edits.contains { if case .relaxIndex = $0 { false } else { true } }
            for problem in own
            where problem.code == .values || problem.edit == nil && problem.code != .key || !isRebuilt && problem.code == .unique {
                if let sql = problem.sql { others.append(sql) }
            }
            guard isRebuilt, var definition = try definition(name) else { continue }
            for edit in edits { edit.apply(to: &definition) }
            let info = try Row.fetchAll(db, sql: "SELECT name, upper(type) type, pk, hidden FROM pragma_table_xinfo(?)", arguments: [name])
            let columns = info.filter { $0["hidden"] == 0 }.map { (name: $0["name"] as String, value: "o." + quoted($0["name"])) }
            let keys = info.filter { $0["pk"] as Int > 0 }
            let isAlias = keys.count == 1 && keys[0]["type"] == "INTEGER"
            let isWithoutRowid = edits.contains(.dropWithoutRowid)
            tables.append(
                SchemaRewrite.Table(
                    name: name, definition: definition, columns: columns, keepsRowid: !isAlias && !isWithoutRowid, relaxedIndexes: relaxed))
        }
        return try SchemaRewrite(tables: tables).statements(db) + others
    }
}
