import GRDB
import KithStore
import KithSync

/// Reads from a node what its user would see.
struct NodeReader {
    let store: KithStore
    let database: any DatabaseWriter
    let tables: [WorkloadTable]

    /// The row's values in the order of the workload's columns, with sets as sorted arrays and the characters of texts sorted;
    /// `nil` if it is not there.
    func values(of keys: [RowKey]) throws -> [[Value]?] {
        try database.writeWithoutTransaction { db in
            try keys.map { key in
                let table = tables[key.table]
                let names = table.columns.map { quoted($0.name) } + ["1"]
                let sql = "SELECT \(names.joined(separator: ", ")) FROM \(quoted(table.name)) WHERE \(quoted(table.key)) = ?"
                let statement = try db.cachedStatement(sql: sql)
                guard let row = try Row.fetchOne(statement, arguments: [rowID(key.row).databaseValue]) else { return nil }
                return table.columns.indices.map { normal(Value(row[$0] as DatabaseValue), table.columns[$0].kind) }
            }
        }
    }

    /// Every row that a table shows, by its id.
    func rowCount(_ table: Int) throws -> Int {
        try database.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM \(quoted(tables[table].name))") ?? 0 }
    }

    func alternatives(of key: RowKey) throws -> [Alternative] {
        try store.alternatives(table: tables[key.table].name, id: rowID(key.row))
    }

    private func normal(_ value: Value, _ kind: ColumnKind) -> Value {
        switch (kind, value) {
        case (.set, .text(let bytes)): .text(RowView.text(RowDraft.elements(ofArray: bytes)))
        case (.set, .null): .text("[]")
        case (.counter, .null): .integer(0)
        case (.text, _): TextView.normal(value)
        default: value
        }
    }
}
