import Foundation
import GRDB
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("What a column holds that does not synchronise is lost when its row goes and comes back")
struct LocalColumnTests {
    private static let sql = """
        CREATE TABLE IF NOT EXISTS folder (id BLOB PRIMARY KEY NOT NULL, name TEXT);
        CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS note (
            id BLOB PRIMARY KEY NOT NULL, title TEXT, folder BLOB REFERENCES folder (id) ON DELETE CASCADE,
            "is read" INTEGER NOT NULL DEFAULT 0, slot TEXT, place INTEGER REFERENCES place (id),
            length INTEGER GENERATED ALWAYS AS (length(title)) VIRTUAL);
        CREATE INDEX IF NOT EXISTS note_folder ON note (folder);
        CREATE TRIGGER IF NOT EXISTS note_slot BEFORE INSERT ON note WHEN EXISTS (SELECT 1 FROM note WHERE slot = new.slot)
        BEGIN SELECT RAISE(ABORT, 'the slot is taken'); END;
        """

    private static func open(_ backend: Backend = .memory, journal: TrackedTable.Journal? = nil) throws -> TestStore {
        try TestStore(
            backend, sql: sql,
            tables: [
                TrackedTable("folder"), TrackedTable("note", localColumns: ["is read", "slot", "place"], journal: journal),
            ])
    }

    /// Two stores with one note in a folder, which the second has read and put into a slot.
    private static func pair() throws -> (TestStore, TestStore) {
        let (a, b) = (try open(), try open())
        try a.execute("INSERT INTO folder VALUES (?, 'f')", [key(1)])
        try a.execute("INSERT INTO note (id, title, folder) VALUES (?, 't', ?)", [key(2), key(1)])
        try b.receive(from: a)
        try b.execute("UPDATE note SET \"is read\" = 1, slot = 'one'")
        return (a, b)
    }

    /// Title, whether it was read, and slot of each note.
    private static func notes(_ store: TestStore) throws -> [String] {
        try store.database.read {
            try String.fetchAll($0, sql: "SELECT title || ' ' || \"is read\" || ' ' || coalesce(slot, '-') FROM note ORDER BY id")
        }
    }

    private static func kept(_ store: TestStore) throws -> Int {
        try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kith_local") } ?? -1
    }

    @Test func `a note that is hidden with its folder, or deleted by another device, comes back as it was here`() throws {
        let (a, b) = try Self.pair()
        try b.execute("UPDATE note SET title = 'u'")
        try a.execute("DELETE FROM folder")
        try b.receive(from: a)
        #expect(try Self.notes(b) == [])
        #expect(try Self.kept(b) == 1)
        try a.receive(from: b)
        try a.store.restore(table: "folder", id: rowID(1))
        try b.receive(from: a)
        #expect(try Self.notes(b) == ["u 1 one"])
        #expect(try Self.kept(b) == 0)
        try a.receive(from: b)
        #expect(try Self.notes(a) == ["u 0 -"], "it is still this device's alone")

        try a.execute("DELETE FROM note")
        try b.receive(from: a)
        #expect(try Self.notes(b) == [])
        try a.store.restore(table: "note", id: rowID(2))
        try b.receive(from: a)
        #expect(try Self.notes(b) == ["u 1 one"])
        try a.expectSound()
        try b.expectSound()
    }

    @Test(arguments: Backend.allCases) func `a note that was deleted here comes back as it was, from the trash and by an undo`(
        backend: Backend
    )
        throws
    {
        let store = try Self.open(backend, journal: .days(30))
        let undo = store.store.undo(scope: "list")
        try store.execute("INSERT INTO note (id, title, \"is read\", slot) VALUES (?, 't', 1, 'one'), (?, 's', 1, NULL)", [key(2), key(3)])
        try store.execute("DELETE FROM note")
        for row in [2, 3] as [UInt64] { try store.store.restore(table: "note", id: rowID(row)) }
        #expect(try Self.notes(store) == ["t 1 one", "s 1 -"])
        try undo.group("Delete") { try $0.execute(sql: "DELETE FROM note WHERE title = 't'") }
        #expect(try Self.notes(store) == ["s 1 -"])
        _ = try undo.undo()
        #expect(try Self.notes(store) == ["t 1 one", "s 1 -"])
        _ = try undo.redo()
        _ = try undo.undo()
        #expect(try Self.notes(store) == ["t 1 one", "s 1 -"])
        // What the app says itself counts.
        try store.execute("DELETE FROM note")
        try store.execute("INSERT INTO note (id, title) VALUES (?, 'new')", [key(2)])
        #expect(try Self.notes(store) == ["new 0 -"])
        try store.expectSound()
    }

    @Test func `a value that no longer fits gives way to the default, and keeps no row away`() throws {
        let (a, b) = try Self.pair()
        try a.execute("DELETE FROM note")
        try b.receive(from: a)
        try b.execute("INSERT INTO note (id, title, slot) VALUES (?, 'other', 'one')", [key(3)])
        try a.store.restore(table: "note", id: rowID(2))
        try b.receive(from: a)
        #expect(try Self.notes(b) == ["t 0 -", "other 0 one"])
        #expect(try b.store.refusedRows().isEmpty)
        #expect(try Self.kept(b) == 0)
        try b.expectSound()
    }

    @Test func `a damaged record of them costs the values, and keeps no row away`() throws {
        let (a, b) = try Self.pair()
        try a.execute("DELETE FROM note")
        try b.receive(from: a)
        try b.execute("UPDATE kith_local SET vals = x'FF'")
        try a.store.restore(table: "note", id: rowID(2))
        try b.receive(from: a)
        #expect(try Self.notes(b) == ["t 0 -"])
        try b.execute("DELETE FROM note")
        try b.execute("UPDATE kith_local SET vals = x'0501'")
        try b.store.restore(table: "note", id: rowID(2))
        #expect(try Self.notes(b) == ["t 0 -"])
        try b.expectSound()
    }

    @Test func `a column that the app has dropped meanwhile keeps no row away`() throws {
        let (a, b) = try Self.pair()
        try b.execute("DELETE FROM note")
        try a.receive(from: b)
        b.store.close()
        try b.execute("ALTER TABLE note DROP COLUMN \"is read\"")
        let again = try SyncedDatabase(
            b.database, tables: [TrackedTable("folder"), TrackedTable("note", localColumns: ["slot", "place"])],
            options: TestStore.options())
        try again.restore(table: "note", id: rowID(2))
        #expect(try b.database.read { try String.fetchAll($0, sql: "SELECT title || slot FROM note") } == ["tone"])
        #expect(try again.verify().problems == [])
        again.close()
    }

    @Test func `what is kept goes with the row for good, and a reference of the app's own is not kept`() throws {
        let (a, b) = try Self.pair()
        try b.execute("INSERT INTO place VALUES (7)")
        try b.execute("UPDATE note SET place = 7")
        try a.execute("DELETE FROM note")
        try b.receive(from: a)
        try b.execute("DELETE FROM place")
        try a.store.restore(table: "note", id: rowID(2))
        try b.receive(from: a)
        #expect(try Self.notes(b) == ["t 1 one"])
        #expect(try b.database.read { try Int.fetchOne($0, sql: "SELECT count(place) FROM note") } == 0)
        try b.execute("DELETE FROM note")
        #expect(try Self.kept(b) == 1)
        try b.store.emptyTrash()
        try a.receive(from: b)
        try b.store.collectGarbage(acknowledged: [a.store.vector()])
        #expect(try Self.kept(b) == 0)
    }
}
