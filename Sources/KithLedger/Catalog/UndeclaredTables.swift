import KithSQLite

extension RowLedger {
    /// Refuses to synchronise where the file has tracked tables that this process has not declared; an older version of the app,
    /// perhaps. Its deltas would lack their rows, though its vector names them, and it could not merge what peers send of them.
    package func requireAllTables() throws {
        guard let table = try undeclaredTable() else { return }
        throw StoreError(
            .tableRejected,
            "Table \(String(decoding: table, as: UTF8.self)) of this store is synchronised, but this program has not declared it: it may be an older version of the app. It synchronises nothing, so that no row is lost. Use the newer version, or name the table when the store is opened."
        )
    }

    /// The name of a tracked table that this process has not declared, so that it sees none of its rows.
    package func undeclaredTable() throws -> [UInt8]? {
        for table in catalog.tables where table.tracked == nil {
            let select = try connection.statement(
                "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'kith_' || ? || '_*' LIMIT 1")
            select.bind(1, table.number)
            defer { select.reset() }
            if try select.step() { return table.name }
        }
        return nil
    }
}
