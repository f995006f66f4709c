import GRDB
import KithCapture

extension SyncedDatabase {
    /// Runs `body`, which inserts rows that other machines may have, or insert as well, under the same ids, such as notes of a file.
    ///
    /// They count as rows that were there before their table was tracked: equal values are one, texts among them, and none wins over a
    /// value that a device has written. A row of which something is known, such as a deleted one, is written as ever; so is a row of a table of which
    /// only other versions of the app know a column. See docs/store.md, "Rows that were there before".
    ///
    /// - Parameters:
    ///   - db: a writing access to the store's database.
    ///   - body: does nothing but insert.
    package func findingRows<Result>(_ db: Database, _ body: () throws -> Result) throws -> Result {
        let capture = try writerState(db).capture
        capture.findsInserts = true
        defer { capture.findsInserts = false }
        return try body()
    }
}
