import Foundation
import GRDB
import Kith

/// What Kith keeps beside the notes, and what a migration writes.
enum MetadataBenchmarks {
    /// After a sync and a look at the digest, on the store that wrote the notes and on the one that received them.
    static func bytes(count: Int) throws -> [Line] {
        let (author, receiver, plain) = (
            try NotesDatabase(tracked: true), try NotesDatabase(tracked: true), try NotesDatabase(tracked: false)
        )
        let notes = Corpus.notes(count)
        try author.insert(notes)
        try plain.insert(notes)
        guard let from = author.store, let to = receiver.store else { return [] }
        _ = try to.apply(try from.delta(since: try to.vector()))
        let limit = try plain.bytes()
        return try [("the author's", author, from), ("the receiver's", receiver, to)].map { name, database, store in
            _ = try store.digest()
            let ours = try database.bytes()
            let size = try store.size()
            let parts = size.metadata.filter { $0.value > 50_000 }.sorted { $0.value > $1.value }
                .map { "\($0.key.rawValue) \($0.value / 1_000)" }.joined(separator: ", ")
            return Line(
                name: "P10", work: "bytes of \(name) file after sync, \(count) notes",
                ours: "\(ours / 1_000) kB (\(parts))", limit: "\(limit / 1_000) kB", ratio: Double(ours) / Double(limit), goal: "≤ 1.15")
        }
    }

    /// A column with a default in a table of `count` rows: nothing may be written for a row.
    static func addedColumn(count: Int) throws -> Line {
        let database = try NotesDatabase(tracked: true)
        try database.insert(Corpus.smallNotes(count))
        let before = try database.store?.size()
        database.store?.close()
        let statement = "ALTER TABLE note ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0"
        var store: SyncedDatabase?
        let altered = try seconds { try database.pool.write { try $0.execute(sql: statement) } }
        let opened = try seconds { store = try SyncedDatabase(database.pool, tables: [TrackedTable("note", sets: ["tags"])]) }
        defer { store?.close() }
        let after = try store?.size()
        let grown = (after?.metadataBytes ?? 0) - (before?.metadataBytes ?? 0)
        return Line(
            name: "P13",
            work: "add a column with a default to \(count) rows: ALTER TABLE, then opening the store; metadata grows by \(grown) bytes",
            ours: "\(format(altered)) + \(format(opened))", limit: "–", goal: "milliseconds")
    }
}
