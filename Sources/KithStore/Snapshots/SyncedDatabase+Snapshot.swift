import Foundation
import GRDB
import KithSnapshot

extension SyncedDatabase {
    /// Keeps what a query answers in a small file, for widgets, menus and other programs, which read it with `SnapshotReader` and open no
    /// database.
    ///
    ///     let top = store.snapshot("top", to: url) { db in try Item.order(Column("title")).limit(5).fetchAll(db) }
    ///     try top.write()      // once
    ///     await top.run()      // as long as the task runs
    ///
    /// The file is replaced as a whole, and only if the answer is another one than it holds. It may have ``SnapshotFormat/bytesMax`` bytes.
    ///
    /// - Parameters:
    ///   - name: what it is called, which stands in it.
    ///   - url: where it lies, in a folder that is there.
    ///   - query: reads in one transaction.
    public func snapshot<Value: Encodable & Sendable>(
        _ name: String, to url: URL, options: SnapshotOptions = SnapshotOptions(), query: @escaping @Sendable (Database) throws -> Value
    ) -> SnapshotWriter {
        SnapshotWriter(self, name, url, options) { db in SnapshotContent(try query(db)) }
    }

    /// The same with a query that also says until when its answer holds, and when there will be another one without a write.
    public func snapshot<Value: Encodable & Sendable>(
        _ name: String, to url: URL, options: SnapshotOptions = SnapshotOptions(),
        content: @escaping @Sendable (Database) throws -> SnapshotContent<Value>
    ) -> SnapshotWriter {
        SnapshotWriter(self, name, url, options, content)
    }
}
