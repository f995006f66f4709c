import GRDB
import GRDBSQLite

extension Database {
    /// How long Kith's own transactions wait where the app's would fail at once.
    private static let waitMilliseconds: Int32 = 5_000

    /// Runs `body` so that it waits while another process keeps the file busy. If the app says itself how it waits, that holds;
    /// its own transactions are as it has set them, before and after.
    func waitingForOthers<Result>(_ body: () throws -> Result) throws -> Result {
        // A callback cannot be asked for, and so not be put back.
        guard case .immediateError = configuration.busyMode, let handle = sqliteConnection, try waitsNever() else { return try body() }
        sqlite3_busy_timeout(handle, Self.waitMilliseconds)
        defer { sqlite3_busy_timeout(handle, 0) }
        return try body()
    }

    /// Runs `body`, after which `last_insert_rowid()` answers what it did before: the app asks for its own rows.
    func keepingLastInsertedRowID<Result>(_ body: () throws -> Result) rethrows -> Result {
        let row = lastInsertedRowID
        defer { sqlite3_set_last_insert_rowid(sqliteConnection, row) }
        return try body()
    }

    /// Refuses what begins a transaction of its own within one that is open.
    func requireNoAccess() throws {
        if !isInsideTransaction { return }
        throw StoreError(
            .failed,
            "This was called inside an access to the store's database, and begins a transaction of its own. Call the form that takes `db`, or call it outside."
        )
    }

    /// Whether the access may only read, as GRDB lets it.
    func isReading() throws -> Bool {
        try Int.fetchOne(cachedStatement(sql: "PRAGMA query_only")) == 1
    }

    private func waitsNever() throws -> Bool {
        try Int.fetchOne(cachedStatement(sql: "PRAGMA busy_timeout")) == 0
    }
}
