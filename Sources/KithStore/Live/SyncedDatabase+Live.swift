import GRDB
import KithSQLite

/// The changes of a live list, one after the other; see ``SyncedDatabase/live(_:)``.
///
/// Each loop over it follows the database by itself.
public struct LiveChanges<Record: LiveRecord>: AsyncSequence, Sendable where Record.ID: Sendable {
    /// What the list has become, and how.
    public typealias Element = LiveChange<Record>
    /// Why the list is followed no more.
    public typealias Failure = StoreError

    let store: SyncedDatabase
    let query: LiveQuery<Record>

    /// Waits for changes of the list.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: LiveReader<Record>

        /// The next change, or `nil` if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(StoreError) -> Element? {
            try await reader.next()
        }

        public mutating func next() async throws(StoreError) -> Element? {
            try await reader.next()
        }
    }

    /// A reader of its own, which begins with all rows.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: LiveReader(store, query))
    }
}

extension SyncedDatabase {
    /// Follows the rows of a request: the first change brings all of them, and each further one what is different, by ids.
    ///
    ///     for try await change in store.live(Item.order(Column("position"))) {
    ///         table.apply(change.difference)
    ///         list = change.rows
    ///     }
    ///
    /// Commits of this process, merges, and commits of other processes (within about 30 milliseconds) arrive alike. Each change shows
    /// the database between two transactions. What happens while the reader is busy arrives as one change, and a reader that never
    /// comes back costs nothing but the names of 4,096 rows.
    ///
    /// If the request is of one tracked table, with any filter and order but no join, subquery, limit, grouping or full-text search,
    /// only rows that were written are read, whatever the length of the list, in whatever process. For any other request, and where another
    /// process has shown or hidden rows without a commit or has written a table with columns that only this device has, all rows are read
    /// and compared, away from the thread of the reader. Rows that the order leaves open stand by their keys.
    ///
    /// The loop throws ``StoreError``: `valueRejected` if two rows have one id, what the database answers if it cannot be read, and
    /// `failed` once the store is closed. A filter or an order that depends on more than the database, such as the time, is looked at when
    /// rows are written.
    public func live<Record: LiveRecord>(_ request: QueryInterfaceRequest<Record>) -> LiveChanges<Record> where Record.ID: Sendable {
        LiveChanges(store: self, query: LiveQuery(request))
    }
}
