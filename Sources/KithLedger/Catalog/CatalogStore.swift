import GRDBSQLite
import KithCausality
import KithSQLite
import KithSync

/// Reads the catalog from the sidecar, and adds to it.
package struct CatalogStore {
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
        var ids: [ReplicaID] = []
        let replicas = try connection.statement("SELECT number, id FROM kith_replica ORDER BY number")
        while try replicas.step() {
            guard replicas.int(0) == ids.count, let id = ReplicaID(bytes: replicas.blob(1)) else { throw corrupt("kith_replica") }
            ids.append(id)
        }
        catalog.replicas = ReplicaTable(ids)
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
    package func addTable(_ name: [UInt8], to catalog: inout Catalog) throws -> Int {
        if let known = catalog.table(named: name) { return known.number }
        guard catalog.tables.count < WireLimits.tablesMax else {
            throw StoreError(.sliceRejected, "The store knows \(WireLimits.tablesMax) tables; no more are taken.")
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
    package func addColumn(_ key: ColumnKey, table: Int, to catalog: inout Catalog) throws -> Int {
        if let known = catalog.tables[table].columns.first(where: { $0.key == key }) { return known.number }
        let number = catalog.tables[table].columns.count
        guard number < WireLimits.columnsMax else {
            throw StoreError(.sliceRejected, "A table of the store has \(WireLimits.columnsMax) columns; no more are taken.")
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

    /// Stores the replicas that `catalog` has numbered from `first` on.
    func addReplicas(from first: Int, of catalog: Catalog) throws {
        let insert = try connection.statement("INSERT INTO kith_replica (number, id) VALUES (?, ?)")
        for number in first..<catalog.replicas.ids.count {
            insert.bind(1, number)
            insert.bind(2, blob: catalog.replicas.ids[number].bytes)
            try insert.run()
        }
        try noteChange()
    }

    /// Lets everybody load the catalog anew.
    package func noteChange() throws {
        try connection.statement(
            "INSERT INTO kith_meta (name, value) VALUES ('catalog', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1"
        ).run()
    }

    private func corrupt(_ table: String) -> StoreError {
        StoreError(
            .corrupt, "The table \(table) of this store does not hold together. Restore the file, or delete it and let peers refill it.")
    }
}
