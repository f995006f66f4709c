import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A write goes unseen")
struct CaptureTests {
    @Test(arguments: Backend.allCases) func `an insertion stamps every column with one commit`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        let state = try #require(try notes.state(rowID(1)))
        for column in ["title", "color", "tags", "views"] { #expect(state.sequences(column) == [1]) }
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `an update stamps the columns that changed and no others`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title, color) VALUES (?, 'one', 1)", [key(1)])
        try notes.execute("UPDATE note SET title = 'two', color = 1")
        let state = try #require(try notes.state(rowID(1)))
        #expect(state.sequences("title") == [2])
        for column in ["color", "tags", "views"] { #expect(state.sequences(column) == [1]) }
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `a save that changes nothing makes no commit`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        try notes.execute("UPDATE note SET title = title, tags = tags, views = views")
        try notes.execute("INSERT OR IGNORE INTO note (id, title) VALUES (?, 'other')", [key(1)])
        try notes.execute("DELETE FROM note WHERE id = ?", [key(9)])
        #expect(try notes.sequence() == 1)
        try notes.expectSound()
    }

    @Test func `values that compare equal in SQL but are not the same are a change`() throws {
        let notes = try TestStore(
            sql: "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, a, b TEXT COLLATE NOCASE)", tables: [TrackedTable("note")])
        try notes.execute("INSERT INTO note VALUES (?, 1, 'x')", [key(1)])
        try notes.execute("UPDATE note SET a = 1.0, b = 'X'")
        let state = try #require(try notes.state(rowID(1)))
        #expect(state.sequences("a") == [2])
        #expect(state.sequences("b") == [2])
        guard case .register(let register)? = state.cell("a") else { return #expect(Bool(false), "a is a register") }
        #expect(register.shown?.value == .real(1.0))
    }

    @Test(arguments: Backend.allCases) func `a deletion leaves a tombstone that has seen the row`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        try notes.execute("DELETE FROM note")
        let state = try #require(try notes.state(rowID(1)))
        #expect(state.state.tombstones.map(\.dot.sequence) == [2])
        #expect(state.state.tombstones.first?.seen.entries.map(\.sequence) == [1])
        #expect(state.sequences("title") == [1])
        #expect(try notes.row(rowID(1)) == nil)
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `DELETE without WHERE notes every row`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.write { db in
            for number in 1...50 { try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(UInt64(number))]) }
        }
        try notes.execute("DELETE FROM note")
        for number in 1...50 {
            #expect(try notes.state(rowID(UInt64(number)))?.state.tombstones.map(\.dot.sequence) == [2])
        }
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `statements over many rows share one commit`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute(
            "INSERT INTO note (id, title) VALUES (?, 'a'), (?, 'b'), (?, 'c')", [key(1), key(2), key(3)])
        try notes.execute("UPDATE note SET color = 7")
        for number: UInt64 in 1...3 {
            let state = try #require(try notes.state(rowID(number)))
            #expect(state.sequences("title") == [1])
            #expect(state.sequences("color") == [2])
        }
        #expect(try notes.sequence() == 2)
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `UPSERT that inserts and UPSERT that updates are both seen`(backend: Backend) throws {
        let notes = try TestStore(backend)
        let sql = "INSERT INTO note (id, title) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET title = excluded.title"
        try notes.execute(sql, [key(1), "one"])
        try notes.execute(sql, [key(1), "two"])
        let state = try #require(try notes.state(rowID(1)))
        #expect(state.sequences("title") == [2])
        #expect(state.sequences("color") == [1])
        #expect(!state.isDeleted)
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `REPLACE of a row is an update of what differs, not a deletion`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title, color, tags, views) VALUES (?, 'one', 1, '[\"a\"]', 5)", [key(1)])
        try notes.execute("REPLACE INTO note (id, title, color, tags, views) VALUES (?, 'two', 1, '[\"a\",\"b\"]', 7)", [key(1)])
        let state = try #require(try notes.state(rowID(1)))
        #expect(!state.isDeleted)
        #expect(state.sequences("title") == [2])
        #expect(state.sequences("color") == [1])
        guard case .counter(let views)? = state.cell("views"), case .set(let tags)? = state.cell("tags") else {
            return #expect(Bool(false), "the kinds are kept")
        }
        #expect(views.value == 7)
        #expect(tags.elements.map { $0.dots.map(\.sequence) } == [[1], [2]])
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `INSERT OR REPLACE of a new row is an insertion`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT OR REPLACE INTO note (id, title) VALUES (?, 'one')", [key(1)])
        #expect(try notes.state(rowID(1))?.sequences("title") == [1])
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases) func `a row moved to another rowid keeps its clocks`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'a'), (?, 'b')", [key(1), key(2)])
        try notes.execute("UPDATE note SET rowid = rowid + 1000")
        try notes.execute("UPDATE note SET rowid = rowid + 1, title = 'c' WHERE id = ?", [key(2)])
        #expect(try notes.state(rowID(1))?.sequences("title") == [1])
        #expect(try notes.state(rowID(2))?.sequences("title") == [2])
        try notes.expectSound()
    }

    @Test(arguments: [-1, 0]) func `a rowid that is not positive is refused and nothing changes`(rowid: Int) throws {
        let notes = try TestStore()
        #expect(throws: DatabaseError.self) { try notes.execute("INSERT INTO note (rowid, id) VALUES (?, ?)", [rowid, key(1)]) }
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        #expect(throws: DatabaseError.self) { try notes.execute("UPDATE note SET rowid = ?", [rowid]) }
        #expect(try notes.sequence() == 1)
        try notes.expectSound()
    }

    @Test func `the id of a row is final`() throws {
        let notes = try TestStore()
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        let error = #expect(throws: DatabaseError.self) { try notes.execute("UPDATE note SET id = ?", [key(2)]) }
        #expect(error?.message?.contains("final") == true)
        try notes.expectSound()
    }

    @Test(arguments: ["x'00'", "'0123456789abcdef'", "17", "zeroblob(17)", "zeroblob(0)"])
    func `an id that is not a UUID is refused`(value: String) throws {
        let notes = try TestStore()
        #expect(throws: DatabaseError.self) { try notes.execute("INSERT INTO note (id) VALUES (\(value))") }
        #expect(try notes.store.vector().isEmpty)
        try notes.expectSound()
    }

    @Test(arguments: ["'x'", "1", "'{}'", "'[1'", "x'5b5d'"]) func `a set column takes a JSON array only`(value: String) throws {
        let notes = try TestStore()
        #expect(throws: DatabaseError.self) { try notes.execute("INSERT INTO note (id, tags) VALUES (?, \(value))", [key(1)]) }
        try notes.expectSound()
    }

    @Test(arguments: ["'x'", "1.5", "x'01'"]) func `a counter column takes an INTEGER only`(value: String) throws {
        let notes = try TestStore()
        #expect(throws: DatabaseError.self) { try notes.execute("INSERT INTO note (id, views) VALUES (?, \(value))", [key(1)]) }
        try notes.expectSound()
    }
}
