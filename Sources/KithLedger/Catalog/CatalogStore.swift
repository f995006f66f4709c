import GRDBSQLite
import KithCausality
import KithSQLite
import KithSync

/// Reads the catalog from the sidecar, and adds to it. The only owner of `kith_table` and `kith_column`, which are one list.
package struct CatalogStore {
    package static let tablesTable = "kith_table"

    /// Tables that a store knows, and columns of one of them, when it takes no more from peers. So the app always has room for its own,
    /// whatever others have sent: as many again.
    package static let tablesOfPeersMax = WireLimits.tablesMax / 2
    package static let columnsOfPeersMax = WireLimits.columnsMax / 2

    package static let sql = """
        CREATE TABLE IF NOT EXISTS kith_table (number INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE);
        CREATE TABLE IF NOT EXISTS kith_column (
            tbl INTEGER NOT NULL, number INTEGER NOT NULL, name BLOB NOT NULL, kind INTEGER NOT NULL,
            PRIMARY KEY (tbl, number)) WITHOUT ROWID;
        """

    package let connection: DatabaseConnection

    package init(connection: DatabaseConnection) {
        self.connection = connection
    }

    /// Tables, columns and replicas as the sidecar numbers them; no table is tracked yet.
    ///
    /// - Throws: ``StoreError`` with code `notAStore` if a newer version of Kith has taken the store over meanwhile.
    package func load() throws -> Catalog {
        try StoreFormat.check(connection)
        var catalog = Catalog()
        guard let replicas = try VectorRecords(connection: connection).replicas() else { throw corrupt(VectorRecords.table) }
        catalog.replicas = ReplicaTable(replicas)
        let tables = try connection.statement("SELECT number, name FROM kith_table ORDER BY number")
        while try tables.step() {
            guard tables.int(0) == catalog.tables.count else { throw corrupt("kith_table") }
            catalog.tables.append(CatalogTable(number: tables.int(0), name: tables.blob(1), columns: []))
        }
        let columns = try connection.statement("SELECT tbl, number, name, kind FROM kith_column ORDER BY tbl, number")
        while try columns.step() {
            let table = columns.int(0)
            guard table >= 0, table < catalog.tables.count, columns.int(1) == catalog.tables[table].columns.count,
                let kind = UInt8(exactly: columns.integer(3)).flatMap(ColumnKind.init)
            else { throw corrupt("kith_column") }
            catalog.tables[table].columns.append(
                CatalogColumn(number: columns.int(1), key: ColumnKey(name: columns.blob(2), kind: kind), sqlName: nil))
        }
        return catalog
    }

    /// The number of the table `name`, new if it was not met before.
    ///
    /// - Parameter isOfPeer: whether a peer names it, rather than the app.
    package func addTable(_ name: [UInt8], isOfPeer: Bool, to catalog: inout Catalog) throws -> Int {
        if let known = catalog.table(named: name) { return known.number }
        let limit = isOfPeer ? Self.tablesOfPeersMax : WireLimits.tablesMax
        guard catalog.tables.count < limit else {
            throw StoreError(.sliceRejected, "The store knows \(limit) tables; no more are taken.")
        }
        let number = catalog.tables.count
        let insert = try connection.statement("INSERT INTO kith_table (number, name) VALUES (?, ?)")
        insert.bind(1, number)
        insert.bind(2, blob: name)
        try insert.run()
        catalog.tables.append(CatalogTable(number: number, name: name, columns: []))
        try noteChange()
        return number
    }

    /// The number of the column `key` in table `table`, new if it was not met before.
    ///
    /// - Parameter isOfPeer: whether a peer names it, rather than the app.
    package func addColumn(_ key: ColumnKey, table: Int, isOfPeer: Bool, to catalog: inout Catalog) throws -> Int {
        if let known = catalog.tables[table].columns.first(where: { $0.key == key }) { return known.number }
        let number = catalog.tables[table].columns.count
        let limit = isOfPeer ? Self.columnsOfPeersMax : WireLimits.columnsMax
        guard number < limit else {
            throw StoreError(.sliceRejected, "A table of the store has \(limit) columns; no more are taken.")
        }
        let insert = try connection.statement("INSERT INTO kith_column (tbl, number, name, kind) VALUES (?, ?, ?, ?)")
        insert.bind(1, table)
        insert.bind(2, number)
        insert.bind(3, blob: key.name)
        insert.bind(4, Int(key.kind.rawValue))
        try insert.run()
        catalog.tables[table].columns.append(CatalogColumn(number: number, key: key, sqlName: nil))
        try noteChange()
        return number
    }

    /// The name of a column, and its kind, as far as this version knows it.
    package func column(_ number: Int, of table: Int) throws -> (name: [UInt8], kind: ColumnKind?)? {
        let select = try connection.statement("SELECT name, kind FROM kith_column WHERE tbl = ? AND number = ?")
        select.bind(1, table)
        select.bind(2, number)
        guard try select.step() else { return nil }
        defer { select.reset() }
        return (select.blob(0), UInt8(exactly: select.integer(1)).flatMap(ColumnKind.init))
    }

    /// Stores the replicas that `catalog` has numbered from `first` on.
    func addReplicas(from first: Int, of catalog: Catalog) throws {
        try VectorRecords(connection: connection).add(catalog.replicas.ids, from: first)
        try noteChange()
    }

    /// Lets everybody load the catalog anew.
    package func noteChange() throws {
        try MetaRecords(connection).noteCatalogChange()
    }

    private func corrupt(_ table: String) -> StoreError {
        StoreError(
            .corrupt, "The table \(table) of this store does not hold together. Restore the file, or delete it and let peers refill it.")
    }
}
