import GRDB
import KithStore
import KithSync

/// Reads from a node what its user would see.
struct NodeReader {
    let store: SyncedDatabase
    let database: any DatabaseWriter
    let tables: [WorkloadTable]

    /// The row's values in the order of the workload's columns, with sets as sorted arrays, the characters of texts sorted, and NULL
    /// for what this version of the app does not have; `nil` if it is not there.
    func values(of keys: [RowKey]) throws -> [[ColumnValue]?] {
        try database.writeWithoutTransaction { db in
            try keys.map { key in
                let table = tables[key.table]
                if !table.isKnown { return nil }
                let statement = try db.cachedStatement(sql: table.selection)
                guard let row = try Row.fetchOne(statement, arguments: [table.key(of: key.row).databaseValue]) else { return nil }
                return table.columns.indices.map { normal(ColumnValue(row[$0] as DatabaseValue), table.columns[$0]) }
            }
        }
    }

    /// Every row that a table shows, by its id.
    func rowCount(_ table: Int) throws -> Int {
        try database.writeWithoutTransaction { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM \(quoted(tables[table].name))") ?? 0 }
    }

    /// Of rows of tables that this version of the app has.
    func alternatives(of keys: [RowKey]) throws -> [[Alternative]] {
        try store.alternatives(of: keys.map { (tables[$0.table].name, tables[$0.table].id(of: $0.row)) })
    }

    /// A value as the oracle compares it.
    func normal(_ value: ColumnValue, _ column: WorkloadTable.Column) -> ColumnValue {
        if !column.isKnown { return .null }
        return switch (column.kind, value) {
        case (.set, .text(let bytes)): .text(RowView.text(RowDraft.elements(ofArray: bytes)))
        case (.set, .null): .text("[]")
        case (.counter, .null): .integer(0)
        case (.text, _): TextView.normal(value)
        default: value
        }
    }
}
