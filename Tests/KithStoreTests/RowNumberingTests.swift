import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("VACUUM moves rows away from their clocks")
struct RowNumberingTests {
    /// A store with a history: rows that were changed, deleted and merged.
    private static func livedIn(_ backend: Backend) throws -> TestStore {
        let notes = try TestStore(backend)
        for number: UInt64 in 1...30 {
            try notes.execute("INSERT INTO note (id, title, tags) VALUES (?, ?, '[\"a\"]')", [key(number), "note \(number)"])
        }
        try notes.execute("DELETE FROM note WHERE rowid % 3 = 0")
        try notes.execute("UPDATE note SET color = rowid WHERE rowid % 2 = 0")
        try notes.execute("UPDATE note SET tags = '[\"a\",\"b\"]' WHERE rowid % 5 = 0")
        let other = try TestStore()
        try other.receive(from: notes)
        try other.execute("UPDATE note SET title = 'other' WHERE rowid % 4 = 0")
        try notes.execute("UPDATE note SET title = 'mine' WHERE id IN (SELECT id FROM note ORDER BY id LIMIT 12)")
        try notes.receive(from: other)
        return notes
    }

    private static func content(_ store: SyncedDatabase) throws -> Set<RowPart> {
        Set(try store.delta(since: VersionVector()).rows)
    }

    /// Does to the file what VACUUM may do by its documentation: gives rows other numbers.
    private static func renumber(_ notes: TestStore, _ statement: String = "UPDATE note SET rowid = 5000 - rowid") throws {
        try notes.database.writeWithoutTransaction { db in
            let triggers = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            try db.inTransaction {
                for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger["name"] as String)") }
                try db.execute(sql: statement)
                try db.execute(sql: "UPDATE kith_canary SET rowid = 1")
                for trigger in triggers { try db.execute(sql: trigger["sql"]) }
                return .commit
            }
        }
    }

    @Test(arguments: Backend.allCases) func `VACUUM in mid-life changes nothing that matters`(backend: Backend) throws {
        let notes = try Self.livedIn(backend)
        let before = try Self.content(notes.store)
        try notes.database.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        #expect(try Self.content(notes.store) == before)
        try notes.execute("UPDATE note SET color = 99")
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `a file made by VACUUM INTO is a whole store`(backend: Backend) throws {
        let notes = try Self.livedIn(backend)
        let copy = notes.folder.file("copy.sqlite")
        try notes.database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy]) }
        let copied = try TestStore(.pool, folder: notes.folder, name: "copy.sqlite")
        #expect(try Self.content(copied.store) == Self.content(notes.store))
        #expect(try copied.store.vector() == notes.store.vector())
        try copied.expectSound()
    }

    @Test(arguments: Backend.allCases) func `a backup in mid-life is a whole store`(backend: Backend) throws {
        let notes = try Self.livedIn(backend)
        let target = try DatabaseQueue(path: notes.folder.file("backup.sqlite"))
        try notes.database.backup(to: target)
        try target.close()
        let copied = try TestStore(.queue, folder: notes.folder, name: "backup.sqlite")
        #expect(try Self.content(copied.store) == Self.content(notes.store))
        try copied.expectSound()
    }

    @Test(arguments: Backend.allCases) func `when rows were renumbered, a reader finds every clock again`(backend: Backend) throws {
        let notes = try Self.livedIn(backend)
        let before = try Self.content(notes.store)
        try Self.renumber(notes)
        #expect(try Self.content(notes.store) == before)
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `when rows were renumbered, a merge finds every clock again`(backend: Backend) throws {
        let notes = try Self.livedIn(backend)
        let other = try TestStore()
        try other.receive(from: notes)
        try other.execute("UPDATE note SET title = 'later'")
        try Self.renumber(notes)
        try notes.receive(from: other)
        #expect(try Self.content(notes.store) == Self.content(other.store))
        try notes.expectSound()
    }

    private static let writes = [
        "INSERT INTO note (id, title) VALUES (x'000000000000000000000000000000ff', 'new')",
        "UPDATE note SET color = 7",
        "UPDATE note SET rowid = rowid + 10000, title = 'moved'",
        "DELETE FROM note",
        "DELETE FROM note WHERE substr(hex(id), -1) IN ('2', '5', 'A')",
        "REPLACE INTO note (id, title) SELECT id, 'replaced' FROM note",
        "INSERT INTO note (id, title) SELECT id, 'x' FROM note WHERE true ON CONFLICT (id) DO UPDATE SET title = 'upserted'",
    ]

    @Test(arguments: writes) func `when rows were renumbered, the next write of any kind finds every clock again`(sql: String) throws {
        let notes = try Self.livedIn(.memory)
        let twin = try TestStore(replica: try notes.store.summary().replica)
        try twin.receive(from: notes)
        try Self.renumber(notes)
        try notes.execute(sql)
        try twin.execute(sql)
        try notes.expectSound()
        try twin.expectSound()
        func shape(_ store: SyncedDatabase) throws -> [[Dot]] {
            try store.delta(since: VersionVector()).rows.map { $0.state.liveDots }
        }
        #expect(try shape(notes.store) == shape(twin.store))
    }

    @Test func `rows renumbered onto each other's numbers find their own clocks`() throws {
        let notes = try Self.livedIn(.memory)
        let before = try Self.content(notes.store)
        try Self.renumber(notes, "UPDATE note SET rowid = rowid + 100000; UPDATE note SET rowid = 100031 - rowid")
        #expect(try Self.content(notes.store) == before)
        try notes.expectSound()
    }
}
