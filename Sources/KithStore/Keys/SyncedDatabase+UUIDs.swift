import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithSQLite

extension SyncedDatabase {
    /// Lets a connection call `kith_uuid()` and `kith_uuid_text()` without a store: in an app's own migrations, or where a table that is
    /// not tracked has such a default.
    ///
    ///     var configuration = Configuration()
    ///     configuration.prepareDatabase { db in try SyncedDatabase.addFunctions(to: db) }
    ///
    /// Opening a store, with the migrations that are given to it, does so for the connection that writes.
    public static func addFunctions(to db: Database) throws(StoreError) {
        try addFunctions(to: db, clock: Options().clock)
    }

    static func addFunctions(to db: Database, clock: @escaping @Sendable () -> HybridTimestamp) throws(StoreError) {
        try StoreError.typed {
            guard let handle = db.sqliteConnection else { throw StoreError(.failed, "The database is closed.") }
            try UUIDFunctions.install(on: handle) { clock().milliseconds }
        }
    }
}
