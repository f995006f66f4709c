import GRDB
import KithSQLite

extension SyncedDatabase {
    /// A copy in memory of a database file that cannot be opened because nothing can be written beside it: on a full disk, or one that is
    /// read-only. The last commit in the write-ahead log is in it.
    ///
    /// Hand it to ``SyncedDatabase/init(_:tables:migrator:options:)`` with ``Options/copy``, so that what nobody would keep is not written. Not for a file that this
    /// process has open.
    /// - Parameter configuration: as for the file; WAL mode does not apply.
    /// - Throws: ``StoreError``, with code `notFound` if there is no such file.
    public static func copyInMemory(ofDatabaseAt path: String, configuration: Configuration = Configuration()) throws(StoreError)
        -> DatabaseQueue
    {
        try StoreError.typed {
            let image = try DatabaseImage(readingFrom: path)
            var configuration = configuration
            configuration.journalMode = .default
            // Of a database in memory that is declared read-only, SQLite lets the app write all the same, and GRDB tells the store, which
            // refuses writes, of none.
            configuration.readonly = false
            let queue = try DatabaseQueue(configuration: configuration)
            try queue.inDatabase(image.load)
            return queue
        }
    }
}
