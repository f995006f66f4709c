import KithCausality
import KithSQLite
import KithSync

/// What the columns that do not synchronise held in rows that have left the app's table, for when these come back. The only owner of
/// `kith_local`.
///
/// Foreign keys of such columns are the app's: what they held is not kept, because the row that it names may be gone as well.
package struct LocalValues {
    package static let sql = """
        -- What columns that do not synchronise held when their row was hidden or deleted, by name.
        CREATE TABLE IF NOT EXISTS kith_local (
            tbl INTEGER NOT NULL, id BLOB NOT NULL, vals BLOB NOT NULL, PRIMARY KEY (tbl, id)) WITHOUT ROWID;
        """

    private let connection: DatabaseConnection

    package init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    /// Keeps what a row holds that is about to leave its table.
    package func keep(_ table: Int, _ tracked: CatalogTable.Tracked, row: Int64, id: RowID) throws {
        let names = tracked.localColumns
        if names.isEmpty { return }
        guard let values = try values(in: tracked, row: row) else { return }
        let insert = try connection.statement("INSERT OR REPLACE INTO kith_local (tbl, id, vals) VALUES (?, ?, ?)")
        insert.bind(1, table)
        insert.bind(2, id)
        insert.bind(3, blob: NamedValues.bytes(of: Array(zip(names, values))))
        try insert.run()
    }

    private func values(in tracked: CatalogTable.Tracked, row: Int64) throws -> [ColumnValue]? {
        let columns = tracked.localColumns.map(quoted).joined(separator: ", ")
        let select = try connection.statement("SELECT \(columns) FROM \(tracked.mainName) WHERE rowid = ?")
        select.bind(1, row)
        guard try select.step() else { return nil }
        defer { select.reset() }
        return tracked.localColumns.indices.map { select.value(Int32($0)) }
    }

    /// What a row held that is about to be inserted, as far as its table still has such columns.
    func values(of table: Int, _ tracked: CatalogTable.Tracked, id: RowID) throws -> [(name: String, value: ColumnValue)] {
        if tracked.localColumns.isEmpty { return [] }
        let select = try connection.statement("SELECT vals FROM kith_local WHERE tbl = ? AND id = ?")
        select.bind(1, table)
        select.bind(2, id)
        defer { select.reset() }
        guard try select.step() else { return [] }
        // A damaged record costs these values, and keeps no row away.
        guard let values = try? NamedValues.values(select.blob(0)) else { return [] }
        return tracked.localColumns.compactMap { name in values[name].map { (name, $0) } }
    }

    func forget(_ table: Int, id: RowID) throws {
        let delete = try connection.statement("DELETE FROM kith_local WHERE tbl = ? AND id = ?")
        delete.bind(1, table)
        delete.bind(2, id)
        try delete.run()
    }

    /// Forgets what was kept of rows that are there again, or are gone for good.
    ///
    /// - Parameter isKept: an SQL expression that is true of rows, by `l.tbl` and `l.id`, that may come back though they are not hidden.
    package func sweep(unless isKept: String) throws {
        try connection.statement(
            "DELETE FROM kith_local AS l WHERE NOT \(HiddenRows.isHiddenSQL(as: "l")) AND NOT \(isKept)"
        ).run()
    }
}

/// Values by the names of their columns, as records keep them.
package enum NamedValues {
    package static func bytes(of named: [(name: String, value: ColumnValue)]) -> [UInt8] {
        var writer = ByteWriter()
        writer.count(named.count)
        for (name, value) in named {
            writer.blob(Array(name.utf8))
            writer.value(value)
        }
        return writer.bytes
    }

    package static func values(_ bytes: [UInt8]) throws -> [String: ColumnValue] {
        var reader = ByteReader(bytes)
        var values: [String: ColumnValue] = [:]
        for _ in 0..<(try reader.count(eachBytes: 2, "columns")) {
            let name = String(decoding: try reader.blob("column"), as: UTF8.self)
            values[name] = try reader.value()
        }
        return values
    }
}
