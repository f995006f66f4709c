import Foundation
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

    /// Keeps what a query answers in a small file, for widgets and other programs; see ``SyncedDatabase/snapshot(_:to:options:query:)``.
    ///
    ///     let top = app.snapshot("top", to: url) { db in try Item.order(Column("title")).limit(5).fetchAll(db) }
    ///     await top.run()
    public func snapshot<Value: Encodable & Sendable>(
        _ name: String, to url: URL, options: SnapshotOptions = SnapshotOptions(), query: @escaping @Sendable (Database) throws -> Value
    ) -> SnapshotWriter {
        store.snapshot(name, to: url, options: options, query: query)
    }

    /// The same with a query that also says until when its answer holds, and when there will be another one without a write.
    public func snapshot<Value: Encodable & Sendable>(
        _ name: String, to url: URL, options: SnapshotOptions = SnapshotOptions(),
        content: @escaping @Sendable (Database) throws -> SnapshotContent<Value>
    ) -> SnapshotWriter {
        store.snapshot(name, to: url, options: options, content: content)
    }

    /// Moves rows of a table with a declared position in the order that people make by hand, as `move` of ``SyncedDatabase`` does; see
    /// ``Position``.
    @discardableResult
    public func move(
        _ db: Database, _ rows: [UUID], to place: Position.Place, in table: String, among condition: SQL? = nil
    ) throws(StoreError) -> Int {
        try store.move(db, rows, to: place, in: table, among: condition)
    }
}
