import Foundation
import GRDB

/// The saves that were done here last, by the names that their editors gave them: an editor that got no answer sends its save again, and
/// does not know whether it was done.
///
/// It is noted in the transaction that does it, and on this machine alone.
enum DoneSaves {
    /// Older ones are forgotten: an editor that sends so late writes its change once more.
    static let rowsMax = 10_000

    static func create(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE note_save (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE)")
    }

    static func contains(_ key: UUID, _ db: Database) throws -> Bool {
        let find = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM note_save WHERE key = ?)")
        return try Bool.fetchOne(find, arguments: [Data(key.bytes)]) ?? false
    }

    static func add(_ key: UUID, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT INTO note_save (key) VALUES (?)").execute(arguments: [Data(key.bytes)])
        let forget = try db.cachedStatement(sql: "DELETE FROM note_save WHERE number <= ?")
        try forget.execute(arguments: [db.lastInsertedRowID - Int64(rowsMax)])
    }
}
