import Foundation
import GRDB
import Kith

/// The store against plain SQLite with the same table, in one run.
enum StoreBenchmarks {
    static func batchInsert(rounds: Int, count: Int) throws -> Line {
        let notes = Corpus.notes(count)
        func run(tracked: Bool) throws -> Double {
            let database = try NotesDatabase(tracked: tracked)
            return try processorSeconds { try database.insert(notes) }
        }
        let result = try compare(rounds, { try run(tracked: true) }, { try run(tracked: false) })
        return Line(
            name: "P1", work: "insert \(count) notes in one transaction, processor time", ours: format(result.ours.median),
            limit: format(result.limit.median), ratio: result.ratio, goal: "≤ 1.3")
    }

    static func singleCommits(rounds: Int, count: Int) throws -> [Line] {
        let notes = Corpus.notes(count)
        func insert(tracked: Bool) throws -> Double {
            let database = try NotesDatabase(tracked: tracked)
            return try processorSeconds { for note in notes { try database.insert(CollectionOfOne(note)) } }
        }
        func update(tracked: Bool) throws -> Double {
            let database = try NotesDatabase(tracked: tracked)
            try database.insert(notes)
            return try processorSeconds {
                for note in notes {
                    try database.pool.write { db in
                        try db.cachedStatement(sql: "UPDATE note SET title = ? WHERE id = ?").execute(arguments: ["new title", note.id])
                    }
                }
            }
        }
        let inserts = try compare(rounds, { try insert(tracked: true) }, { try insert(tracked: false) })
        let updates = try compare(rounds, { try update(tracked: true) }, { try update(tracked: false) })
        return [
            Line(
                name: "P2", work: "insert \(count) notes, one per transaction, processor time", ours: format(inserts.ours.median),
                limit: format(inserts.limit.median), ratio: inserts.ratio, goal: "≤ 1.5"),
            Line(
                name: "P2", work: "update one column of \(count) notes, one per transaction, processor time",
                ours: format(updates.ours.median),
                limit: format(updates.limit.median), ratio: updates.ratio, goal: "≤ 1.5"),
        ]
    }

    static func reads(rounds: Int, count: Int) throws -> Line {
        let notes = Corpus.notes(count)
        let (tracked, plain) = (try NotesDatabase(tracked: true), try NotesDatabase(tracked: false))
        try tracked.insert(notes)
        try plain.insert(notes)
        func run(_ database: NotesDatabase) throws -> Double {
            try seconds {
                try database.pool.read { db in
                    let rows = try Row.fetchCursor(db, sql: "SELECT * FROM note")
                    var bytes = 0
                    while let row = try rows.next() { bytes += (row[2] as String).utf8.count }
                    precondition(bytes > 0)
                }
            }
        }
        let result = try compare(rounds, { try run(tracked) }, { try run(plain) })
        return Line(
            name: "P3", work: "read \(count) notes", ours: format(result.ours.median), limit: format(result.limit.median),
            ratio: result.ratio, goal: "1.0")
    }
}
