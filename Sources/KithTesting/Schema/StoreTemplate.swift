import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync

/// A database in memory as an app's migrations and its store make it: what each machine begins with a copy of, and what tells
/// which tables there are.
struct StoreTemplate: Sendable {
    /// The replica that the template is, and that its copies must not be.
    static let replica = ReplicaID(high: .max, low: 1)

    private let version: SimulatedSchema.Version
    private let database: DatabaseQueue
    /// The same before its tables were tracked.
    private let untracked: DatabaseQueue
    /// The tables, in small letters, on which the app has triggers that may refuse what is written.
    private let hasRules: Set<String>
    /// The tables that triggers of the app fill.
    let filled: [String]

    /// - Throws: what the migrations or the store throw, such as a `StoreError` that says why a table cannot be tracked, and
    ///   ``SchemaError`` for what cannot be judged.
    init(_ version: SimulatedSchema.Version, of schema: SimulatedSchema) throws {
        self.version = version
        (database, untracked) = (try DatabaseQueue(), try DatabaseQueue())
        try version.migrate(database)
        filled = try TriggerFinder(tables: version.tables.map(\.name)).filled(in: database)
        hasRules = try database.read { [filled] db in try Self.rules(of: db, filled: filled) }
        if !schema.takesTriggersForFaults { try refuseTriggers() }
        try leaveRowsOut()
        try database.backup(to: untracked)
        let store = try SyncedDatabase(database, tables: version.tables, options: SyncedDatabase.Options(makeReplicaID: { Self.replica }))
        defer { store.close() }
        for table in schema.filled where filled.contains(table.name) { try check(table) }
    }

    /// A trigger refuses by `RAISE`, or by what it writes into a table with a constraint. A search index with content of its own has one, and
    /// so has an R*Tree.
    private static func rules(of db: Database, filled: [String]) throws -> Set<String> {
        let words = ["CHECK", "UNIQUE", "NOT NULL", "REFERENCES"]
        let isConstrained = try filled.contains { name in
            let sql = try String.fetchOne(
                db, sql: "SELECT upper(sql) FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [name])
            return words.contains { sql?.contains($0) == true }
        }
        let indexes = try String.fetchAll(
            db, sql: "SELECT upper(name) FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%' AND sql NOT LIKE '%content%=%'")
        let rows = try Row.fetchAll(db, sql: "SELECT lower(tbl_name), upper(sql) FROM sqlite_master WHERE type = 'trigger'")
        let refusing = rows.filter { row in isConstrained || (["RAISE"] + indexes).contains { (row[1] as String).contains($0) } }
        return Set(refusing.map { $0[0] as String })
    }

    /// Makes `other`, which is empty, a copy.
    func copy(to other: any DatabaseWriter) throws {
        try database.backup(to: other)
    }

    /// Makes `other`, which is empty, a copy of which no table is tracked yet.
    func copyUntracked(to other: any DatabaseWriter) throws {
        try untracked.backup(to: other)
    }

    func tables() throws -> [WorkloadTable] {
        let defaults = try DefaultProbe()
        return try database.read { db in
            var tables = try version.tables.map { try table($0, defaults, db) }
            let parents = Set(tables.flatMap { table in table.columns.compactMap { $0.reference?.parent } })
            for index in tables.indices {
                for column in tables[index].columns.indices where tables[index].columns[column].isRequired {
                    guard let reference = tables[index].columns[column].reference else { continue }
                    // Users always write it.
                    tables[index].columns[column].defaultValue = tables[reference.parent].key(of: 1)
                    tables[index].columns[column].hasSteadyDefault = false
                }
                tables[index].isRelated = parents.contains(index) || tables[index].columns.contains { $0.reference != nil }
            }
            return tables
        }
    }

    private func table(_ tracked: TrackedTable, _ defaults: DefaultProbe, _ db: Database) throws -> WorkloadTable {
        let isStrict = try Bool.fetchOne(
            db, sql: "SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = ?", arguments: [tracked.name])
        let references = try references(of: tracked, db)
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?)",
            arguments: [tracked.name])
        var key = ""
        var form = tracked.ids
        var columns: [WorkloadTable.Column] = []
        var keyColumns: [WorkloadTable.Column] = []
        for row in rows {
            let name: String = row["name"]
            if row["pk"] as Int > 0 {
                key = name
                form = form ?? (WorkloadTable.Affinity(of: row["type"], isStrict: isStrict == true) == .text ? .text : .blob)
            } else if row["hidden"] as Int == 0, !tracked.localColumns.contains(name) {
                let affinity = WorkloadTable.Affinity(of: row["type"], isStrict: isStrict == true)
                let (value, isSteady) = try defaults.value(of: row["dflt_value"], affinity)
                var column = WorkloadTable.Column(
                    name: name, kind: tracked.kinds[name] ?? .register, affinity: affinity,
                    isNullable: row["notnull"] as Int == 0, defaultValue: value, hasSteadyDefault: isSteady)
                if let reference = references[name] {
                    column.reference = WorkloadReference(
                        parent: reference.parent, action: action(reference.action, orDefault: column.defaultValue))
                }
                if tracked.key?.contains(name) == true { keyColumns.append(column) } else { columns.append(column) }
            }
        }
        if let column = keyColumns.first(where: { $0.reference != nil }) {
            throw SchemaError(
                "The key of table \(tracked.name) names rows of another table (\(column.name)), and the oracle cannot say which of these rows there are. Leave the table out of the simulation."
            )
        }
        // In the order of the key, which decides the ids.
        let keys = (tracked.key ?? []).compactMap { name in keyColumns.first { $0.name == name } }
        var table = WorkloadTable(
            name: tracked.name, key: key, form: form ?? .blob, deletePolicy: tracked.deletePolicy, columns: columns, keyColumns: keys)
        let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [tracked.name])
        table.hasJournal = tracked.journal != nil
        table.defersReferences = sql?.uppercased().contains("DEFERRED") == true
        table.mayRefuse =
            try hasRules.contains(tracked.name.lowercased()) || sql?.uppercased().contains("CHECK") == true || computes(tracked.name, db)
        return table
    }

    /// Whether an index or a generated column has an expression, which cannot be evaluated for each value.
    private func computes(_ table: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden IN (2, 3))
                    OR EXISTS (SELECT 1 FROM pragma_index_list(?1) l JOIN pragma_index_xinfo(l.name) x WHERE l.partial OR x.cid = -2)
                """, arguments: [table]) == true
    }

    /// By column: the table it refers to, and what is to be done when that row is deleted.
    private func references(of tracked: TrackedTable, _ db: Database) throws -> [String: (parent: Int, action: String)] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT \"from\", \"table\", on_delete FROM pragma_foreign_key_list(?)", arguments: [tracked.name])
        var references: [String: (parent: Int, action: String)] = [:]
        for row in rows {
            let name: String = row["table"]
            guard let parent = version.tables.firstIndex(where: { $0.name.lowercased() == name.lowercased() }) else { continue }
            references[row["from"]] = (parent, row["on_delete"])
        }
        return references
    }

    private func action(_ name: String, orDefault value: ColumnValue) -> WorkloadReference.Action {
        switch name {
        case "CASCADE": .cascade
        case "RESTRICT": .restrict
        case "SET NULL": .setNull
        case "SET DEFAULT": .setDefault(value)
        default: .noAction
        }
    }

    // MARK: What cannot be judged

    /// - Throws: ``SchemaError`` if the rule of a filled table cannot be its content: then every run would break a promise.
    private func check(_ table: FilledTable) throws {
        try database.read { db in
            let problem: String
            do {
                let statement = try db.makeStatement(sql: table.rule)
                let count = try db.columns(in: table.name).count
                if statement.isReadonly, statement.columnCount == count { return }
                problem = statement.isReadonly ? "it has \(statement.columnCount) columns, and the table \(count)" : "it is no query"
            } catch let error as DatabaseError {
                problem = error.message ?? "\(error)"
            }
            throw SchemaError("What \(table.name) holds cannot be read by \u{201C}\(table.rule)\u{201D}: \(problem). Write one query.")
        }
    }

    /// - Throws: ``SchemaError`` if what the app states does not hold of empty tables, or cannot be asked: then every run would break it.
    func check(_ invariant: Invariant) throws {
        guard let stated = invariant.stated, let problem = try database.read(stated.problem) else { return }
        throw SchemaError(
            "The invariant \u{201C}\(stated.name)\u{201D} does not hold of empty tables, with which machines begin. It says: \(problem)")
    }

    private func refuseTriggers() throws {
        guard let found = try TriggerFinder(tables: version.tables.map(\.name)).first(in: database) else { return }
        throw SchemaError(
            "The trigger \(found.trigger) writes the table \(found.table), which synchronises. The simulator knows what users write, "
                + "and would take this for a fault. Leave the trigger out, and try out the tables without it.")
    }

    /// Takes the rows out of the tracked tables that migrations have put there: the oracle knows what users write, and nothing else.
    private func leaveRowsOut() throws {
        try database.writeWithoutTransaction { db in
            let filled = try version.tables.map(\.name).filter { name in
                try db.tableExists(name) && Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT * FROM \(quoted(name)))") == true
            }
            if filled.isEmpty { return }
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            for name in filled { try db.execute(sql: "DELETE FROM \(quoted(name))") }
            try db.execute(sql: "PRAGMA foreign_keys = ON")
            if let child = try String.fetchOne(db, sql: "SELECT \"table\" FROM pragma_foreign_key_check") {
                throw SchemaError(
                    "A migration inserts rows into \(filled.joined(separator: ", ")), which are left out here, and rows of \(child) refer to them. "
                        + "Leave the insertions out of the schema.")
            }
        }
    }

    /// - Throws: ``SchemaError`` if migrating what `older` made fails, writes rows of tracked tables, of which nobody would know, or gives a
    ///   table another key.
    func checkTakesOver(_ older: StoreTemplate) throws {
        for table in version.tables {
            guard let before = older.version.tables.first(where: { $0.name == table.name }), before.key != table.key else { continue }
            throw SchemaError(
                "The older version of the app names the rows of \(table.name) otherwise, and a natural key cannot change. "
                    + "Declare the same key in both, with columns that both have.")
        }
        let copy = try DatabaseQueue()
        try older.database.backup(to: copy)
        let isChanged: Bool
        do {
            try version.migrate(copy)
            isChanged = try copy.read { db in
                try version.tables.contains { table in
                    try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT * FROM \(quoted(table.name)))") == true
                }
            }
        } catch let error as DatabaseError {
            let message = error.message ?? "\(error)"
            // Triggers of a store that is not open.
            if message.contains("no such function: kith_") { throw SchemaError.migrationWritesRows }
            let advice =
                message.contains("trigger kith_")
                ? ". SQLite drops no column that a trigger names: call SyncedDatabase.removeTriggers(of:in:) first." : ""
            throw SchemaError("The newer version of the app cannot take over what the older one made: \(message)\(advice)")
        }
        if try isChanged || changesRows(of: older) { throw SchemaError.migrationWritesRows }
    }

    /// Whether the migration changes a row of a table of `older`: this tries it with one row of defaults in each. SQLite refuses such a
    /// statement where Kith's triggers are; a migration may have removed them.
    private func changesRows(of older: StoreTemplate) throws -> Bool {
        let copy = try DatabaseQueue()
        try older.untracked.backup(to: copy)
        func row(_ table: WorkloadTable, _ db: Database) throws -> [String: ColumnValue]? {
            try Row.fetchOne(db, sql: table.selection, arguments: [table.key(of: 1).databaseValue]).map { row in
                let values = table.columns.enumerated().map { ($1.name, ColumnValue(row[$0] as DatabaseValue)) }
                return Dictionary(values) { first, _ in first }
            }
        }
        let tables = try older.tables()
        let before = try copy.write { db in
            try tables.map { table in
                let names = ([table.key] + table.keyColumns.map(\.name)).map(quoted)
                let values = ([table.key(of: 1)] + table.keyValues(of: 1)).map(\.databaseValue)
                let marks = names.map { _ in "?" }.joined(separator: ", ")
                let sql = "INSERT OR IGNORE INTO \(quoted(table.name)) (\(names.joined(separator: ", "))) VALUES (\(marks))"
                // What a rule of the app refuses is not tried.
                try? db.execute(sql: sql, arguments: StatementArguments(values))
                return try row(table, db)
            }
        }
        try version.migrate(copy)
        return try copy.read { db in
            try self.tables().contains { table in
                guard let index = tables.firstIndex(where: { $0.name == table.name }), let old = before[index] else { return false }
                let new = try row(table, db)
                return table.columns.contains { column in
                    if let known = tables[index].columns.first(where: { $0.name == column.name }) {
                        return known.affinity == column.affinity && new?[column.name] != old[column.name]
                    }
                    return column.hasSteadyDefault && new?[column.name] != column.defaultValue
                }
            }
        }
    }
}

extension ColumnValue {
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let number): .integer(number)
            case .double(let number): ColumnValue.real(number).stored
            case .string(let text): .text(text)
            case .blob(let data): .blob(Array(data))
            }
    }

    /// What a store takes it for: minus zero is zero, as in every comparison of SQLite.
    var stored: ColumnValue {
        if case .real(let bits) = self { .real(Double(bitPattern: bits) + 0) } else { self }
    }

    /// The value as GRDB binds it.
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let bits): Double(bitPattern: bits).databaseValue
        case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}
