import GRDB
import GRDBSQLite

extension DatabaseConnection {
    /// How long Kith's own transactions wait where the app's would fail at once.
    private static let waitMilliseconds: Int32 = 5_000

    /// Runs `body` so that it waits while another process keeps the file busy, where the app has not said itself how long to wait.
    /// The app's own transactions are as it has set them, before and after.
    package func waitingForOthers<Result>(_ body: () throws -> Result) throws -> Result {
        if waitsByCallback { return try body() }
        let timeout = try statement("PRAGMA busy_timeout")
        let waits = try timeout.step() && timeout.int(0) != 0
        timeout.reset()
        if waits { return try body() }
        sqlite3_busy_timeout(handle, Self.waitMilliseconds)
        defer { sqlite3_busy_timeout(handle, 0) }
        return try body()
    }
}

extension Configuration {
    /// Whether the app has a callback of its own that waits for others.
    package var waitsByCallback: Bool { if case .callback = busyMode { true } else { false } }
}

extension DatabaseWriter {
    /// Writes in a transaction of its own. Throws within one that is open, where GRDB's `write` would end the process.
    package func writeUnnested<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try unsafeReentrantWrite { db in
            try db.requireNoAccess()
            return try db.inOneTransaction(.immediate, body)
        }
    }
}

extension Database {
    /// What `body` returns, once its transaction is committed.
    package func inOneTransaction<Result>(_ kind: TransactionKind, _ body: (Database) throws -> Result) throws -> Result {
        var result: Swift.Result<Result, any Error>?
        try inTransaction(kind) {
            let made = try body(self)
            result = .success(made)
            return .commit
        }
        guard let result else { throw StoreError(.failed, "The transaction has no outcome.") }
        return try result.get()
    }

    /// Refuses what begins a transaction of its own within one that is open.
    package func requireNoAccess() throws {
        guard let handle = sqliteConnection, sqlite3_get_autocommit(handle) == 0 else { return }
        throw StoreError(
            .failed,
            "This was called inside an access to the store's database, and begins a transaction of its own. Call the form that takes `db`, or call it outside."
        )
    }

    /// Whether the access may only read, as GRDB lets it.
    package func isReading() throws -> Bool {
        try Int.fetchOne(cachedStatement(sql: "PRAGMA query_only")) == 1
    }
}
