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

    @Test func `who leaves out a table that another open store tracks is refused, and harms nobody`() throws {
        let sql = """
            CREATE TABLE category (id BLOB PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE recipe (id BLOB PRIMARY KEY NOT NULL, category BLOB REFERENCES category ON DELETE SET NULL, title TEXT)
            """
        let tables = [TrackedTable("category"), TrackedTable("recipe")]
        let app = try TestStore(.pool, sql: sql, tables: tables)
        try app.execute("INSERT INTO category VALUES (?, 'Soup')", [key(1)])
        let widget = try DatabasePool(path: app.path)
        let error = #expect(throws: StoreError.self) { try SyncedDatabase(widget, tables: [tables[0]]) }
        #expect(
            error?.code == .tableRejected && error?.message.contains("Table recipe is not declared") == true, "\(String(describing: error))"
        )
        try app.execute("INSERT INTO recipe VALUES (?, ?, 'Broth')", [key(2), key(1)])
        try app.expectSound()
        // With the same tables both write.
        let whole = try SyncedDatabase(widget, tables: tables)
        try widget.write { try $0.execute(sql: "DELETE FROM category") }
        #expect(try app.store.verify().isSound)
        whole.close()
        app.store.close()
        // Alone it may: what it leaves out is not tracked any more.
        let parents = try SyncedDatabase(widget, tables: [tables[0]])
        try widget.write { try $0.execute(sql: "INSERT INTO category VALUES (?, 'Cake')", arguments: [key(3)]) }
        let report = try parents.verify()
        #expect(report.isSound, "\(report)")
    }

    @Test func `a table that is left out for a while keeps what it had, and shows what others wrote once it is declared again`() throws {
        let sql = """
            CREATE TABLE category (id BLOB PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE recipe (id BLOB PRIMARY KEY NOT NULL, category BLOB REFERENCES category ON DELETE SET NULL, title TEXT, steps TEXT)
            """
        let tables = [TrackedTable("category"), TrackedTable("recipe", texts: ["steps"])]
        let (app, other) = (try App(sql, tables, replica: 1), try App(sql, tables, replica: 2))
        func sync() throws {
            let pair = try SessionPair(app.store, other.store)
            try pair.wait(seconds: 1_200)
            #expect(pair.statuses.map { $0?.rowsMended } == [0, 0])
            #expect(pair.statuses.map { $0?.isInSync } == [true, true])
            #expect(pair.closings.isEmpty, "\(pair.closings)")
            for app in [app, other] { try app.expectSound() }
        }
        try app.execute("INSERT INTO category VALUES (?, 'Soup')", [key(1)])
        for number in 2...5 { try app.execute("INSERT INTO recipe VALUES (?, ?, 'Broth', 'Boil it.')", [key(UInt64(number)), key(1)]) }
        try app.execute("DELETE FROM recipe WHERE id = ?", [key(5)])
        try sync()
        try app.migrate("SELECT 1", [tables[0]])
        try app.execute("UPDATE category SET name = 'Soups'")
        // The store exchanges nothing meanwhile, so that no row is lost.
        let error = #expect(throws: StoreError.self) { try sync() }
        #expect(error?.message.contains("Table recipe") == true, "\(String(describing: error))")
        try app.expectSound()
        try other.execute("UPDATE recipe SET title = 'Stock', steps = 'Boil it long.' WHERE id = ?", [key(2)])
        try other.execute("DELETE FROM recipe WHERE id = ?", [key(3)])
        try other.execute("INSERT INTO recipe VALUES (?, ?, 'Cake', 'Bake it.')", [key(6), key(1)])
        try app.migrate("SELECT 1", tables)
        try sync()
        let shown = "SELECT hex(id) || title || steps || hex(category) FROM recipe ORDER BY id"
        #expect(try app.text(shown) == other.text(shown))
        #expect(try app.text(shown).count == 3)
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

    @Test func `a program that leaves out a table takes its rows for lost neither alone nor beside a peer`() throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT); CREATE TABLE tab (id BLOB PRIMARY KEY NOT NULL, name TEXT)"
        let both = [TrackedTable("note"), TrackedTable("tab")]
        let (a, b) = (try App(sql, both, replica: 1), try App(sql, both, replica: 2))
        for number: UInt64 in 1...40 { try a.execute("INSERT INTO tab VALUES (?, 'tab')", [key(number)]) }
        try b.receive(from: a)
        let digest = try #require(try a.store.digest())
        #expect(try b.store.digest() == digest)
        try a.migrate("SELECT 1", [TrackedTable("note")])
        #expect(try a.store.digest() == nil)
        let sessions = try SessionPair(a.store, b.store)
        try sessions.wait(seconds: 200)
        #expect(sessions.questionCount == 0)
        try a.migrate("SELECT 1", both)
        for app in [a, b] {
            try app.expectSound()
            #expect(try app.store.digest() == digest)
            #expect(try app.text("SELECT name FROM tab").count == 40)
        }
    }
}
