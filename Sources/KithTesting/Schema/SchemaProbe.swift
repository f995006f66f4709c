import Foundation
import GRDB
import KithStore
import KithSync

/// Reads from a fresh database what tables an app's migrations make.
struct SchemaProbe {
    let schema: SimulatedSchema

    /// - Throws: what the migrations or the store throw, such as a `StoreError` that says why a table cannot be tracked.
    func tables() throws -> [WorkloadTable] {
        let queue = try DatabaseQueue()
        try schema.migrate(queue)
        let store = try KithStore(queue, tables: schema.tables)
        defer { store.close() }
        return try queue.read { db in try schema.tables.map { try table($0, db) } }
    }

    private func table(_ tracked: TrackedTable, _ db: Database) throws -> WorkloadTable {
        let references = try String.fetchSet(
            db, sql: "SELECT \"from\" FROM pragma_foreign_key_list(?)", arguments: [tracked.name])
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?)",
            arguments: [tracked.name])
        var key = ""
        var columns: [WorkloadTable.Column] = []
        for row in rows {
            let name: String = row["name"]
            if row["pk"] as Int > 0 {
                key = name
            } else if row["hidden"] as Int == 0, !tracked.localColumns.contains(name), !references.contains(name) {
                columns.append(
                    WorkloadTable.Column(
                        name: name, kind: tracked.kinds[name] ?? .register, affinity: affinity(of: row["type"]),
                        isNullable: row["notnull"] as Int == 0, defaultValue: try defaultValue(row["dflt_value"], db)))
            }
        }
        return WorkloadTable(name: tracked.name, key: key, deletePolicy: tracked.deletePolicy, columns: columns)
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
            case .double(let number): .real(number)
            case .string(let text): .text(text)
            case .blob(let data): .blob(Array(data))
            }
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
