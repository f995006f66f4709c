import Foundation
import GRDB
import Kith

/// A notes table in a file of its own, tracked or plain.
final class NotesDatabase {
    let folder: URL
    let pool: DatabasePool
    let store: SyncedDatabase?
    private let isTemporary: Bool

    static let insertSQL = "INSERT INTO note (id, title, body, color, tags, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)"

    /// - Parameter kept: a folder that stays; otherwise one that is gone afterwards.
    init(tracked: Bool, in kept: URL? = nil) throws {
        isTemporary = kept == nil
        folder = kept ?? FileManager.default.temporaryDirectory.appending(path: "kith-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        pool = try DatabasePool(path: folder.appending(path: "notes.sqlite").path)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS note (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT NOT NULL DEFAULT '',
                        color INTEGER NOT NULL DEFAULT 0, tags TEXT NOT NULL DEFAULT '[]', created INTEGER NOT NULL DEFAULT 0,
                        updated INTEGER NOT NULL DEFAULT 0)
                    """)
        }
        store = tracked ? try SyncedDatabase(pool, tables: [TrackedTable("note", sets: ["tags"])]) : nil
    }

    deinit {
        store?.close()
        try? pool.close()
        if isTemporary { try? FileManager.default.removeItem(at: folder) }
    }

    func insert(_ notes: some Collection<Corpus.Note>) throws {
        try pool.write { db in
            let statement = try db.cachedStatement(sql: Self.insertSQL)
            for note in notes { try Self.insert(note, statement) }
        }
    }

    static func insert(_ note: Corpus.Note, _ statement: Statement) throws {
        try statement.execute(arguments: [note.id, note.title, note.body, note.color, note.tags, note.created, note.updated])
    }

    /// Bytes of the database after a checkpoint and VACUUM.
    func bytes() throws -> Int {
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let path = folder.appending(path: "compact.sqlite").path
        try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
}
