import GRDB

// What an app asks of its store most, by the app itself.

extension SyncedApp {
    /// Follows the rows of a request, each time with what is different; see ``SyncedDatabase/live(_:)``.
    ///
    ///     for try await change in app.live(Item.order(Column("position"))) {
    ///         table.apply(change.difference)
    ///         list = change.rows
    ///     }
    public func live<Record: LiveRecord>(_ request: QueryInterfaceRequest<Record>) -> LiveChanges<Record> where Record.ID: Sendable {
        store.live(request)
    }

    /// Steps that can be taken back, of a part of the app such as a window; see ``SyncedDatabase/undo(scope:)``.
    public func undo(scope: String) -> UndoList { store.undo(scope: scope) }

    /// The conflicts of all tables, the latest write first; see ``SyncedDatabase/conflicts()``.
    public func conflicts() throws(StoreError) -> [Conflict] { try store.conflicts() }

    /// The same as a part of what is open on `db`, such as an observation.
    public func conflicts(_ db: Database) throws(StoreError) -> [Conflict] { try store.conflicts(db) }
}
