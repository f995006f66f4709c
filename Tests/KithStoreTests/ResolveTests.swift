import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
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

    @Test(arguments: ["first", "second", "third"])
    func `what was kept is shown everywhere and no alternative is left`(value: String) throws {
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

    @Test func `a resolution that a rule of the table refuses changes nothing, even if the transaction goes on`() throws {
        let sql = TestStore.noteSQL.replacing("title TEXT", with: "title TEXT CHECK (title <> 'bad')")
        let (first, _) = try Self.conflict(sql: sql)
        let before = try first.store.vector()
        try first.database.write { db in
            let error = #expect(throws: StoreError.self) {
                try first.store.resolve(db, table: "note", id: rowID(1), column: "title", keeping: .text("bad"))
            }
            #expect(error?.code == .valueRejected)
        }
        #expect(try first.store.vector() == before)
        #expect(try first.store.alternatives(table: "note", id: rowID(1)).count == 1)
        try first.expectSound()
        try Self.resolve(first, "good")
        #expect(try first.row(rowID(1))?["title"] == "good")
        try first.expectSound()
    }

    private static func save(_ notes: TestStore, _ value: String, base: String) throws {
        try notes.database.write {
            try notes.store.saveValue($0, table: "note", id: rowID(1), column: "title", .text(value), base: .text(base))
        }
    }

    @Test func `whoever saves a value made from an alternative has seen that one, and leaves the value that was shown`() throws {
        let (first, second) = (try TestStore(), try TestStore())
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        try second.receive(from: first)
        try first.execute("UPDATE note SET title = 'one'")
        try second.execute("UPDATE note SET title = 'two'")
        try first.receive(from: second)
        try second.receive(from: first)
        let shown = try #require(try first.row(rowID(1))?["title"] as String?)
        let other = shown == "one" ? "two" : "one"
        try Self.save(first, "three", base: other)
        try second.receive(from: first)
        for store in [first, second] {
            #expect(try store.row(rowID(1))?["title"] == "three")
            #expect(try store.store.alternatives(table: "note", id: rowID(1)).map(\.value) == [.text(shown)])
            try store.expectSound()
        }
    }

    @Test func `a value that was made without having seen another one leaves both to choose from, on every device`() throws {
        let (first, second) = (try TestStore(), try TestStore())
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        try second.receive(from: first)
        try second.execute("UPDATE note SET title = 'b'")
        try first.receive(from: second)
        try Self.save(first, "c", base: "a")
        #expect(try first.row(rowID(1))?["title"] == "c")
        #expect(try first.store.alternatives(table: "note", id: rowID(1)).map(\.value) == [.text("b")])
        #expect(try first.store.conflicts().count == 1)
        try first.expectSound()
        try second.receive(from: first)
        #expect(try second.row(rowID(1))?["title"] == "c")
        #expect(try second.store.alternatives(table: "note", id: rowID(1)) == first.store.alternatives(table: "note", id: rowID(1)))
        try second.expectSound()
        // A choice made there ends it here, too.
        try Self.resolve(second, "b")
        try first.receive(from: second)
        #expect(try first.row(rowID(1))?["title"] == "b")
        #expect(try first.store.conflicts().isEmpty)
        try first.expectSound()
    }

    @Test func `a value that was made from what is shown takes its place, and one that says nothing new writes nothing`() throws {
        let (first, second) = try Self.conflict()
        try Self.save(first, "third", base: "second")
        #expect(try first.row(rowID(1))?["title"] == "third")
        #expect(try first.store.alternatives(table: "note", id: rowID(1)).map(\.value) == [.text("first")])
        let before = try first.store.vector()
        try Self.save(first, "third", base: "second")
        try Self.save(first, "second", base: "second")
        #expect(try first.store.vector() == before)
        try second.receive(from: first)
        #expect(try second.store.alternatives(table: "note", id: rowID(1)).map(\.value) == [.text("first")])
        try second.expectSound()
    }

    @Test func `values that nobody has seen gather up to the limit, and what makes room is noted`() throws {
        let notes = try TestStore()
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        try notes.execute("UPDATE note SET title = 'b'")
        let count = SyncedDatabase.alternativesMax + 3
        for number in 1...count { try Self.save(notes, "file \(number)", base: "a") }
        #expect(try notes.row(rowID(1))?["title"] == "file \(count)")
        #expect(try notes.store.alternatives(table: "note", id: rowID(1)).count == SyncedDatabase.alternativesMax)
        #expect(try notes.store.supersededValues(table: "note", id: rowID(1)).map(\.value).contains(.text("b")))
        try notes.expectSound()
        // In one transaction, the last one counts.
        try notes.database.write { db in
            for value in ["x", "y"] {
                try notes.store.saveValue(db, table: "note", id: rowID(1), column: "title", .text(value), base: .text("a"))
            }
        }
        #expect(try notes.row(rowID(1))?["title"] == "y")
        try notes.expectSound()
    }

    @Test func `who observes a table hears of what is resolved and restored in it`() throws {
        let (first, _) = try Self.conflict()
        let observer = Observer()
        first.database.add(transactionObserver: observer, extent: .databaseLifetime)
        try Self.resolve(first, "kept")
        #expect(observer.commits.withLock { $0 } == 1)
        try first.execute("DELETE FROM note")
        try first.store.restore(table: "note", id: rowID(1))
        #expect(observer.commits.withLock { $0 } == 3)
    }

    /// Counts the commits that changed the table.
    private final class Observer: TransactionObserver, Sendable {
        let commits = Mutex(0)
        private let isChanged = Mutex(false)

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "note" }
        func databaseDidChange() { isChanged.withLock { $0 = true } }
        func databaseDidChange(with event: DatabaseEvent) { databaseDidChange() }
        func databaseDidRollback(_ db: Database) { isChanged.withLock { $0 = false } }

        func databaseDidCommit(_ db: Database) {
            let changed = isChanged.withLock { value in
                defer { value = false }
                return value
            }
            if changed { commits.withLock { $0 += 1 } }
        }
    }

    @Test func `a plain save replaces what was shown and keeps the alternatives`() throws {
        let (first, second) = try Self.conflict()
        try first.execute("UPDATE note SET title = 'saved'")
        try second.receive(from: first)
        #expect(try second.row(rowID(1))?["title"] == "saved")
        #expect(try second.store.alternatives(table: "note", id: rowID(1)).count == 1)
    }

    @Test func `what triggers of the app make of a resolution is noted as their write`() throws {
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

    @Test func `a row or column that is not there is named`() throws {
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
