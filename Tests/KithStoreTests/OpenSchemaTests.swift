import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("The schema changes under an open store")
struct OpenSchemaTests {
    private static let changes = [
        "ALTER TABLE note ADD COLUMN extra TEXT", "ALTER TABLE note RENAME COLUMN title TO heading",
        "CREATE UNIQUE INDEX one ON note (title)",
        "DROP TABLE note; \(TestStore.noteSQL)", "ALTER TABLE note RENAME TO other; \(TestStore.noteSQL)", "DROP TRIGGER kith_0_update",
        "DROP TABLE note",
    ]

    @Test(
        arguments: changes,
        [true, false])
    func `what changes a tracked table is noticed at the next write of any, and by whatever the store is asked`(change: String, isOwn: Bool)
        throws
    {
        let notes = try TestStore(
            .pool, sql: TestStore.noteSQL + "; CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, a)",
            tables: [TestStore.note, TrackedTable("page")])
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        let other = try TestStore()
        try other.execute("INSERT INTO note (id) VALUES (?)", [key(2)])
        if isOwn {
            try notes.execute(change)
        } else {
            let plain = try DatabaseQueue(path: notes.path)
            try plain.write { try $0.execute(sql: change) }
        }
        let error = #expect(throws: DatabaseError.self) { try notes.execute("INSERT INTO page (id) VALUES (?)", [key(3)]) }
        #expect(error?.message?.contains("note was changed while its store was open") == true, "\(String(describing: error))")
        #expect(throws: StoreError.self) { try notes.store.delta(since: VersionVector()) }
        let refusal = #expect(throws: StoreError.self) { try notes.store.apply(other.store.delta(since: VersionVector())) }
        #expect(refusal?.code == .tableRejected)
    }

    @Test func `a column that is added while the store is open, and written, reaches peers once the store was opened again`() throws {
        let (first, second) = (
            try App("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, a)", replica: 1),
            try App("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, a)", replica: 2)
        )
        try first.execute("INSERT INTO note VALUES (?, 1)", [key(1)])
        try second.receive(from: first)
        try first.execute("ALTER TABLE note ADD COLUMN extra TEXT DEFAULT 'none'")
        #expect(throws: DatabaseError.self) { try first.execute("UPDATE note SET extra = 'written'") }
        try first.migrate("SELECT 1")
        try first.execute("UPDATE note SET extra = 'written'")
        try second.migrate("ALTER TABLE note ADD COLUMN extra TEXT DEFAULT 'none'")
        try second.receive(from: first)
        #expect(try second.text("SELECT extra FROM note") == ["written"])
        for app in [first, second] { try app.expectSound() }
    }

    @Test(arguments: [true, false])
    func `a change and a write in one transaction fail together, in either order`(changesFirst: Bool) throws {
        let app = try App("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, a)", replica: 1)
        try app.execute("INSERT INTO note VALUES (?, 1)", [key(1)])
        let steps = ["ALTER TABLE note ADD COLUMN extra", "UPDATE note SET a = 2"]
        #expect(throws: DatabaseError.self) {
            try app.database.write { db in
                for sql in changesFirst ? steps : steps.reversed() { try db.execute(sql: sql) }
                if !changesFirst { try db.execute(sql: "UPDATE note SET extra = 3") }
            }
        }
        #expect(try app.text("SELECT a FROM note") == ["1"])
        try app.execute("UPDATE note SET a = 4")
        try app.expectSound()
    }

    @Test(
        arguments: [
            "CREATE TABLE more (x); INSERT INTO more VALUES (1)", "CREATE INDEX i ON note (title)", "CREATE VIEW v AS SELECT * FROM note",
            "ANALYZE", "REINDEX",
            "CREATE TABLE log (x); CREATE TRIGGER t AFTER UPDATE ON note BEGIN INSERT INTO log VALUES (new.title); END",
            "CREATE TEMP TABLE x (y); CREATE TEMP TRIGGER t AFTER UPDATE ON note BEGIN INSERT INTO x VALUES (new.title); END",
        ])
    func `anything else in the file may change`(change: String) throws {
        let notes = try TestStore(.pool)
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try notes.execute(change)
        try notes.database.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        try notes.execute("UPDATE note SET title = 'a'")
        #expect(try notes.state(rowID(1))?.sequences("title") == [2])
        try notes.expectSound()
    }
}
