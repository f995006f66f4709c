import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A resolved conflict comes back, or takes more than it should")
struct ResolveTests {
    /// Two stores that have written the same title apart and met; the first shows the second's.
    private static func conflict(sql: String = TestStore.noteSQL) throws -> (TestStore, TestStore) {
        let (first, second) = (try TestStore(sql: sql), try TestStore(sql: sql))
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        try second.receive(from: first)
        try first.execute("UPDATE note SET title = 'first'")
        try second.execute("UPDATE note SET title = 'second'")
        try first.receive(from: second)
        try second.receive(from: first)
        return (first, second)
    }

    private static func resolve(_ notes: TestStore, _ value: String) throws {
        try notes.database.write {
            try notes.store.resolve($0, table: "note", id: rowID(1), column: "title", keeping: .text(value))
        }
    }

    @Test("what was kept is shown everywhere and no alternative is left", arguments: ["first", "second", "third"])
    func resolved(value: String) throws {
        let (first, second) = try Self.conflict()
        #expect(try first.store.alternatives(table: "note", id: rowID(1)).count == 1)
        #expect(try first.store.alternatives(table: "note", id: rowID(1)) == second.store.alternatives(table: "note", id: rowID(1)))
        try Self.resolve(first, value)
        try second.receive(from: first)
        for store in [first, second] {
            #expect(try store.row(rowID(1))?["title"] == value)
            #expect(try store.store.alternatives(table: "note", id: rowID(1)).isEmpty)
            try store.expectSound()
        }
    }

    @Test("a plain save replaces what was shown and keeps the alternatives")
    func plainSave() throws {
        let (first, second) = try Self.conflict()
        try first.execute("UPDATE note SET title = 'saved'")
        try second.receive(from: first)
        #expect(try second.row(rowID(1))?["title"] == "saved")
        #expect(try second.store.alternatives(table: "note", id: rowID(1)).count == 1)
    }

    @Test("what triggers of the app make of a resolution is noted as their write")
    func trigger() throws {
        let sql =
            TestStore.noteSQL + """
                ; CREATE TRIGGER edits AFTER UPDATE OF title ON note BEGIN
                    UPDATE note SET color = coalesce(color, 0) + 1 WHERE id = new.id;
                END
                """
        let (first, second) = try Self.conflict(sql: sql)
        try Self.resolve(first, "kept")
        try second.receive(from: first)
        #expect(try first.row(rowID(1)) == second.row(rowID(1)))
        #expect(try first.row(rowID(1))?["title"] == "kept")
        try first.expectSound()
        try second.expectSound()
    }

    @Test("a row or column that is not there is named")
    func notFound() throws {
        let (first, _) = try Self.conflict()
        for (table, id, column) in [
            ("other", rowID(1), "title"), ("note", rowID(9), "title"), ("note", rowID(1), "x"), ("note", rowID(1), "tags"),
        ] {
            let error = #expect(throws: StoreError.self) {
                try first.database.write { try first.store.resolve($0, table: table, id: id, column: column, keeping: .null) }
            }
            #expect(error?.code == .notFound)
        }
        #expect(throws: StoreError.self) {
            try first.database.read { try first.store.resolve($0, table: "note", id: rowID(1), column: "title", keeping: .null) }
        }
    }
}
