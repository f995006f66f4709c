import KithSQLite
import KithSync

/// Remembers of which columns rows may lack cells that nobody has removed: the app let go of the column here, or where rows came from.
///
/// That a row has no such cell means nothing to others. It stays so when the column is added again, for nothing tells of
/// which rows the cells have come back.
package struct IncompleteColumns {
    package let connection: DatabaseConnection

    package init(connection: DatabaseConnection) {
        self.connection = connection
    }

    package static let sql = """
        CREATE TABLE IF NOT EXISTS kith_incomplete (
            tbl INTEGER NOT NULL, name BLOB NOT NULL, kind INTEGER NOT NULL, PRIMARY KEY (tbl, name, kind)) WITHOUT ROWID;
        """

    /// The incomplete columns of `table`, no more than may be sent.
    package func of(_ table: Int) throws -> [ColumnKey] {
        let select = try connection.statement(
            "SELECT name, kind FROM kith_incomplete WHERE tbl = ? ORDER BY name, kind LIMIT \(WireLimits.columnsMax)")
        select.bind(1, table)
        var columns: [ColumnKey] = []
        while try select.step() {
            guard let kind = UInt8(exactly: select.integer(1)).flatMap(ColumnKind.init) else { continue }
            columns.append(ColumnKey(name: select.blob(0), kind: kind))
        }
        return columns
    }

    /// Notes columns of this store's own.
    package func add(_ columns: [ColumnKey], of table: Int) throws {
        let insert = try connection.statement("INSERT OR IGNORE INTO kith_incomplete (tbl, name, kind) VALUES (?, ?, ?)")
        for column in columns {
            insert.bind(1, table)
            insert.bind(2, blob: column.name)
            insert.bind(3, Int(column.kind.rawValue))
            try insert.run()
        }
    }

    /// Notes columns that a peer has named.
    ///
    /// - Throws: ``StoreError`` with code `sliceRejected` if they are more than a table can have.
    package func take(_ columns: [ColumnKey], of table: Int) throws {
        if columns.isEmpty { return }
        let known = Set(try of(table))
        let new = columns.filter { !known.contains($0) }
        guard known.count + new.count <= WireLimits.columnsMax else {
            throw StoreError(.sliceRejected, "A table of the store has \(WireLimits.columnsMax) incomplete columns; no more are taken.")
        }
        try add(new, of: table)
    }
}
