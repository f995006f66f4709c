import Foundation
import GRDB
import KithCausality
import KithStore

/// A tracked table in memory in which nothing is left to chance.
final class CountedNotes {
    let database: DatabaseQueue
    let store: SyncedDatabase

    init(_ replica: UInt64) throws {
        database = try DatabaseQueue()
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT NOT NULL DEFAULT '',
                        color INTEGER NOT NULL DEFAULT 0, tags TEXT NOT NULL DEFAULT '[]')
                    """)
        }
        let options = SyncedDatabase.Options(
            clock: { HybridTimestamp(milliseconds: 1_700_000_000_000) }, makeReplicaID: { ReplicaID(high: 1, low: replica) })
        store = try SyncedDatabase(database, tables: [TrackedTable("note", sets: ["tags"])], options: options)
    }

    deinit {
        store.close()
        try? database.close()
    }

    func insert(from first: Int, count: Int, tags: String = #"["ideas","work"]"#) throws {
        let body = String(repeating: "Some words of a note. ", count: 40)
        try database.write { db in
            let insert = try db.cachedStatement(sql: "INSERT INTO note (id, title, body, color, tags) VALUES (?, ?, ?, ?, ?)")
            for number in first..<first + count {
                try insert.execute(arguments: [Self.id(number), "note \(number)", body, number % 5, tags])
            }
        }
    }

    /// Gives the first `count` notes another title, each in a transaction of its own.
    func retitle(count: Int, _ title: String) throws {
        for number in 0..<count {
            try database.write { db in
                try db.cachedStatement(sql: "UPDATE note SET title = ? WHERE id = ?").execute(arguments: [title, Self.id(number)])
            }
        }
    }

    private static func id(_ number: Int) -> Data {
        withUnsafeBytes(of: UInt64(number).bigEndian) { Data(repeating: 7, count: 8) + $0 }
    }
}
