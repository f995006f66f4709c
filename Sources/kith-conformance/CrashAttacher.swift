import Foundation
import GRDB
import KithStore
import KithSync

/// Attaches content and receives some, without end, and says which attachments rows name: for tests that kill it.
enum CrashAttacher {
    static func run(path: String) throws {
        let (database, store) = try open(path)
        let (_, sender) = try open(path + "-sender-\(getpid())")
        say("open")
        while true {
            let id = try store.attach(content())
            try database.write { db in
                try db.execute(sql: "INSERT INTO photo (id, file) VALUES (randomblob(16), ?)", arguments: [id.description])
            }
            say("committed \(id)")
            try receive(try sender.attach(content()), from: sender, in: store)
            try store.collectAttachments()
        }
    }

    private static func open(_ path: String) throws -> (DatabaseQueue, SyncedDatabase) {
        let database = try DatabaseQueue(path: path)
        try database.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS photo (id BLOB PRIMARY KEY NOT NULL, file TEXT)") }
        return (database, try SyncedDatabase(database, tables: [TrackedTable("photo", attachments: ["file"])]))
    }

    private static func content() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return [UInt8](repeating: UInt8.random(in: 0...255, using: &generator), count: Int.random(in: 0...700_000, using: &generator))
    }

    private static func receive(_ id: AttachmentID, from sender: SyncedDatabase, in store: SyncedDatabase) throws {
        guard case .outline(_, let outline)? = try sender.piece(AttachmentPiece(id, chunk: nil)) else { return }
        var incoming = try store.keepOutline(outline, of: id)
        guard try store.beginFetching(incoming) else { return }
        while !incoming.isComplete,
            case .chunk(_, let index, let bytes)? = try sender.piece(AttachmentPiece(id, chunk: incoming.chunksHeld))
        {
            try incoming.append(bytes, chunk: index)
        }
        try store.finish(incoming)
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
