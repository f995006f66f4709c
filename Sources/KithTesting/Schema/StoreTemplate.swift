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

    /// - Throws: what the migrations or the store throw, such as a `StoreError` that says why a table cannot be tracked.
    init(_ version: SimulatedSchema.Version) throws {
        self.version = version
        database = try DatabaseQueue()
        try version.migrate(database)
        let store = try KithStore(database, tables: version.tables, options: KithStore.Options(makeReplicaID: { Self.replica }))
        store.close()
    }

    /// Makes `other`, which is empty, a copy.
    func copy(to other: any DatabaseWriter) throws {
        try database.backup(to: other)
    }

    func tables() throws -> [WorkloadTable] {
        try database.read { db in
            var tables = try version.tables.map { try table($0, db) }
            let parents = Set(tables.flatMap { table in table.columns.compactMap { $0.reference?.parent } })
            for index in tables.indices {
                tables[index].isRelated = parents.contains(index) || tables[index].columns.contains { $0.reference != nil }
            }
            return tables
        }
    }

    private func table(_ tracked: TrackedTable, _ db: Database) throws -> WorkloadTable {
        let references = try references(of: tracked, db)
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?)",
            arguments: [tracked.name])
        var key = ""
        var columns: [WorkloadTable.Column] = []
        var keyColumns: [WorkloadTable.Column] = []
        for row in rows {
            let name: String = row["name"]
            if row["pk"] as Int > 0 {
                key = name
            } else if row["hidden"] as Int == 0, !tracked.localColumns.contains(name) {
                var column = WorkloadTable.Column(
                    name: name, kind: tracked.kinds[name] ?? .register, affinity: affinity(of: row["type"]),
                    isNullable: row["notnull"] as Int == 0, defaultValue: try defaultValue(row["dflt_value"], db))
                if let reference = references[name] {
                    column.reference = WorkloadReference(
                        parent: reference.parent, action: action(reference.action, orDefault: column.defaultValue))
                }
                if tracked.key?.columns.contains(name) == true { keyColumns.append(column) } else { columns.append(column) }
            }
        }
        // In the order of the key, which decides the ids.
        let keys = (tracked.key?.columns ?? []).compactMap { name in keyColumns.first { $0.name == name } }
        return WorkloadTable(
            name: tracked.name, key: key, deletePolicy: tracked.deletePolicy, columns: columns, keyColumns: keys)
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

    private func action(_ name: String, orDefault value: Value) -> WorkloadReference.Action {
        switch name {
        case "CASCADE": .cascade
        case "RESTRICT": .restrict
        case "SET NULL": .setNull
        case "SET DEFAULT": .setDefault(value)
        default: .noAction
        }
    }

    private func affinity(of type: String) -> WorkloadTable.Affinity {
        let type = type.uppercased()
        if type.contains("INT") { return .integer }
        if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") { return .text }
        if type.isEmpty || type.contains("BLOB") || type == "ANY" { return .any }
        return type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") ? .real : .integer
    }

    private func defaultValue(_ expression: String?, _ db: Database) throws -> Value {
        guard let expression else { return .null }
        return Value(try DatabaseValue.fetchOne(db, sql: "SELECT \(expression)") ?? .null)
    }
}

extension Value {
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let number): .integer(number)
            case .double(let number): Value.real(number).stored
            case .string(let text): .text(text)
            case .blob(let data): .blob(Array(data))
            }
    }

    /// What a store takes it for: minus zero is zero, as in every comparison of SQLite.
    var stored: Value {
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
