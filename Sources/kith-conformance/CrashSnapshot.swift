import Foundation
import GRDB
import KithStore

/// Writes snapshots of a table that changes, without end, and says which it has written: for tests that kill it.
enum CrashSnapshot {
    static func run(path: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS item (id BLOB PRIMARY KEY NOT NULL, n INTEGER)") }
        let store = try SyncedDatabase(database, tables: [TrackedTable("item")])
        // Long enough for a kill to come in the middle.
        let snapshot = store.snapshot("count", to: URL(filePath: path + ".snapshot")) { db in
            [Int](repeating: try Int.fetchOne(db, sql: "SELECT count(*) FROM item") ?? 0, count: 100_000)
        }
        FileHandle.standardOutput.write(Data("open\n".utf8))
        while true {
            try database.write { try $0.execute(sql: "INSERT INTO item (id) VALUES (randomblob(16))") }
            try snapshot.write()
            let count = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") ?? 0 }
            FileHandle.standardOutput.write(Data("committed \(count)\n".utf8))
        }
    }
}
