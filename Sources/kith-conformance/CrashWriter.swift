import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync

/// Writes, merges and collects in a store without end, and says after each step what is committed: for tests that kill it.
enum CrashWriter {
    static func run(path: String) throws {
        let database = try DatabasePool(path: path)
        try database.write { try $0.execute(sql: tableSQL) }
        let store = try SyncedDatabase(database, tables: [table])
        let peer = try peer(knowing: store)
        say("open \(try store.summary().replica)")
        while true {
            try database.write { db in
                // Two rows of one transaction: both are there, or neither. Of some transactions the clocks are stored later.
                for _ in 0..<([1, 20].randomElement() ?? 1) {
                    let pair = Data((0..<15).map { _ in UInt8.random(in: 0...255) })
                    for half: UInt8 in 0...1 {
                        try db.execute(
                            sql: "INSERT INTO item (id, title, tags, body) VALUES (?, hex(?), '[\"a\"]', 'text')",
                            arguments: [pair + [half], pair])
                    }
                }
                try db.execute(sql: "UPDATE item SET views = views + 1, color = 1 WHERE rowid % 7 = 0")
                try db.execute(sql: "UPDATE item SET body = body || ' and more' WHERE rowid % 5 = 0")
                // The peer edits none of these: an edit would bring back one half of what is deleted at the same time.
                try db.execute(
                    sql: "DELETE FROM item WHERE title = (SELECT title FROM item WHERE rowid % 11 = 5 AND id >= x'80' LIMIT 1)")
            }
            try peer.database.write {
                try $0.execute(sql: "INSERT INTO item (id, title) VALUES (randomblob(16), 'peer')")
                try $0.execute(sql: "UPDATE item SET body = 'peer ' || body WHERE rowid % 3 = 0 AND id < x'80'")
            }
            let delta = try peer.store.slice(SliceRequest(since: try store.vector()), limits: SliceLimits(rowsMax: 3))
            _ = try store.apply(delta)
            try store.emptyTrash()
            try store.collectGarbage(acknowledged: [])
            try store.packTexts()
            let summary = try store.summary()
            say("committed \(summary.vector[summary.replica])")
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    private static let tableSQL = """
        CREATE TABLE IF NOT EXISTS item (
            id BLOB PRIMARY KEY NOT NULL, title TEXT, color INTEGER,
            tags TEXT NOT NULL DEFAULT '[]', views INTEGER NOT NULL DEFAULT 0, body TEXT NOT NULL DEFAULT '')
        """
    private static let table = TrackedTable("item", sets: ["tags"], counters: ["views"], texts: ["body"])

    private static func peer(knowing store: SyncedDatabase) throws -> (database: DatabaseQueue, store: SyncedDatabase) {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: tableSQL) }
        let peer = try SyncedDatabase(database, tables: [table])
        _ = try peer.apply(try store.delta(since: VersionVector()))
        return (database, peer)
    }
}
