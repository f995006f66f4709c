import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("Versions of an app that meet lose what one of them does not know")
struct SchemaSkewTests {
    private static let old = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)"
    private static let new = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, color TEXT NOT NULL DEFAULT 'none',
            tags TEXT NOT NULL DEFAULT '[]', views INTEGER NOT NULL DEFAULT 0)
        """
    private static let toNew = """
        ALTER TABLE note ADD COLUMN color TEXT NOT NULL DEFAULT 'none';
        ALTER TABLE note ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE note ADD COLUMN views INTEGER NOT NULL DEFAULT 0;
        """
    private static let newTables = [TrackedTable("note", sets: ["tags"], counters: ["views"])]

    @Test
    func `a column that an old version does not know passes through it, survives its edits, and appears when it is updated`() throws {
        let (a, b) = (try App(Self.new, Self.newTables, replica: 1), try App(Self.new, Self.newTables, replica: 2))
        let (old, fresh) = (try App(Self.old, replica: 3), try App(Self.new, Self.newTables, replica: 4))
        try a.execute("INSERT INTO note (id, title, color, tags, views) VALUES (?, 'a', 'red', '[\"x\"]', 3)", [key(1)])
        try b.receive(from: a)
        try a.execute("UPDATE note SET color = 'green', views = 4")
        try b.execute("UPDATE note SET color = 'blue', tags = '[\"x\",\"y\"]'")
        try old.receive(from: a)
        try old.receive(from: b)
        try old.execute("UPDATE note SET title = 'edited'")
        try old.execute("INSERT INTO note (id, title) VALUES (?, 'plain')", [key(2)])
        try fresh.receive(from: old)
        let shown = "SELECT title || color || tags || views FROM note ORDER BY title"
        let expected = ["editedblue[\"x\",\"y\"]4", "plainnone[]0"]
        #expect(try fresh.text(shown).map { $0.replacing("green", with: "blue") } == expected)
        let vector = try old.store.vector()

        try old.migrate(Self.toNew, Self.newTables)
        #expect(try old.store.vector() == vector)
        #expect(try old.text(shown) == fresh.text(shown))
        let alternatives = try old.store.alternatives(table: "note", id: rowID(1))
        #expect(alternatives.count == 1)
        #expect(try alternatives == fresh.store.alternatives(table: "note", id: rowID(1)))
        #expect(try old.store.digest() == fresh.store.digest())
        for app in [old, fresh] { try app.expectSound() }
        try a.receive(from: old)
        #expect(try a.text(shown) == fresh.text(shown))
    }

    @Test
    func `a table that an old version does not know passes through it and appears when it is updated, but for what a rule refuses`() throws
    {
        let tables = [TrackedTable("note"), TrackedTable("item")]
        let item = "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, text TEXT)"
        let a = try App(Self.old + ";" + item, tables, replica: 1)
        let (old, fresh) = (try App(Self.old, replica: 2), try App(Self.old + ";" + item, tables, replica: 3))
        try a.execute("INSERT INTO item VALUES (?, 'one'), (?, 'two'), (?, 'bad')", [key(1), key(2), key(3)])
        try a.execute("DELETE FROM item WHERE text = 'two'")
        try old.receive(from: a)
        try old.expectSound()
        let vector = try old.store.vector()
        try old.migrate("CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, text TEXT CHECK (text <> 'bad'))", tables)
        #expect(try old.text("SELECT text FROM item") == ["one"])
        #expect(try old.store.vector() == vector)
        #expect(try old.store.trash().map(\.id) == [rowID(2)])
        try old.expectSound()
        try fresh.receive(from: old)
        #expect(try fresh.text("SELECT text FROM item ORDER BY text") == ["bad", "one"])
        #expect(try fresh.store.digest() == a.store.digest())
        // The rule falls, and the row that it refused is shown.
        try old.migrate(
            """
            CREATE TABLE other (id BLOB PRIMARY KEY NOT NULL, text TEXT, size INTEGER);
            INSERT INTO other (id, text) SELECT id, text FROM item; DROP TABLE item; ALTER TABLE other RENAME TO item
            """, tables)
        #expect(try old.text("SELECT text FROM item ORDER BY text") == ["bad", "one"])
        #expect(try old.store.vector() == vector)
        try old.expectSound()
    }

    @Test func `a rule that comes with a column, and has no value for what peers sent of it, refuses these rows and not the opening`()
        throws
    {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, meta TEXT)"
        let (new, old) = (try App(sql, replica: 1), try App(Self.old, replica: 2))
        try new.execute("INSERT INTO note VALUES (?, 'a', '{bad'), (?, 'b', '{}')", [key(1), key(2)])
        try old.receive(from: new)
        #expect(try old.text("SELECT title FROM note ORDER BY title") == ["a", "b"])
        try old.migrate("ALTER TABLE note ADD COLUMN meta TEXT; CREATE INDEX i ON note (json_extract(meta, '$.x'))")
        #expect(try old.text("SELECT title FROM note") == ["b"])
        #expect(try old.store.refusedRows().map(\.reason) == ["malformed JSON"])
        try new.execute("UPDATE note SET meta = '{\"x\": 1}' WHERE title = 'a'")
        try old.receive(from: new)
        #expect(try old.text("SELECT title FROM note ORDER BY title") == ["a", "b"])
        #expect(try old.store.digest() == new.store.digest())
        try old.expectSound()
    }

    @Test func `a column of the same name and another kind is another column, and both are kept`() throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, tags TEXT NOT NULL DEFAULT '[]')"
        let (register, set) = (try App(sql, replica: 1), try App(sql, [TrackedTable("note", sets: ["tags"])], replica: 2))
        try register.execute("INSERT INTO note VALUES (?, 'a', '[\"r\"]')", [key(1)])
        try set.receive(from: register)
        #expect(try set.text("SELECT tags FROM note") == ["[]"])
        try set.execute("UPDATE note SET tags = '[\"s\"]'")
        try register.receive(from: set)
        #expect(try register.text("SELECT tags FROM note") == ["[\"r\"]"])
        for app in [register, set] { try app.expectSound() }
        // Which of them the table shows is for a migration step to say.
        #expect(throws: StoreError.self) { try register.migrate("SELECT 1", [TrackedTable("note", sets: ["tags"])]) }
    }

    @Test func `a column that is added with a default makes no commit and no record, and reads as the default everywhere`() throws {
        let (a, b) = (try App(Self.old, replica: 1), try App(Self.new, Self.newTables, replica: 2))
        for number: UInt64 in 1...50 { try a.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(number)]) }
        let records = "SELECT 'x' FROM kith_dot UNION ALL SELECT 'y' FROM kith_clock_0 WHERE exceptions IS NOT NULL"
        let (before, vector) = (try a.text(records).count, try a.store.vector())
        try a.migrate(Self.toNew, Self.newTables)
        #expect(try a.text(records).count == before)
        #expect(try a.store.vector() == vector)
        try b.receive(from: a)
        #expect(try b.text("SELECT DISTINCT color || tags || views FROM note") == ["none[]0"])
        #expect(try a.store.digest() == b.store.digest())
    }

    @Test func `a renamed column stays the same column for those who have not renamed it`() throws {
        let (a, b) = (try App(Self.old, replica: 1), try App(Self.old, replica: 2))
        try a.execute("INSERT INTO note VALUES (?, 'first')", [key(1)])
        try a.migrate("ALTER TABLE note RENAME COLUMN title TO heading", [TrackedTable("note", renamed: ["heading": "title"])])
        try b.receive(from: a)
        #expect(try b.text("SELECT title FROM note") == ["first"])
        try b.execute("UPDATE note SET title = 'second'")
        try a.receive(from: b)
        #expect(try a.text("SELECT heading FROM note") == ["second"])
        try a.execute("UPDATE note SET heading = 'third'")
        try b.receive(from: a)
        #expect(try b.text("SELECT title FROM note") == ["third"])
        #expect(try a.store.digest() == b.store.digest())
        let error = #expect(throws: StoreError.self) {
            try a.migrate("ALTER TABLE note ADD COLUMN title TEXT", [TrackedTable("note", renamed: ["heading": "title"])])
        }
        #expect(error?.code == .tableRejected)
    }

    @Test func `a column that is dropped and added again does not claim that anybody wrote its default`() throws {
        let (a, b) = (try App(Self.new, Self.newTables, replica: 1), try App(Self.new, Self.newTables, replica: 2))
        try a.execute("INSERT INTO note (id, title, color) VALUES (?, 'a', 'red'), (?, 'b', 'blue')", [key(1), key(2)])
        try a.execute("UPDATE note SET color = 'green' WHERE title = 'a'")
        try b.receive(from: a)
        #expect(try a.store.digest() == b.store.digest())
        a.store.close()
        try a.database.write { try SyncedDatabase.removeTriggers(of: "note", in: $0) }
        try a.migrate("ALTER TABLE note DROP COLUMN color", Self.newTables)
        try a.expectSound()
        #expect(try a.store.digest() == a.store.recomputedDigest())
        try b.execute("UPDATE note SET color = 'pink' WHERE title = 'b'")
        try a.receive(from: b)
        try a.migrate("ALTER TABLE note ADD COLUMN color TEXT NOT NULL DEFAULT 'none'", Self.newTables)
        #expect(try a.text("SELECT color FROM note ORDER BY title") == ["none", "pink"])
        try a.expectSound()
        try b.receive(from: a)
        #expect(try b.text("SELECT color FROM note ORDER BY title") == ["green", "pink"])
    }

    private static let page = "CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
    private static let pages = [TrackedTable("page", texts: ["body"])]

    @Test func `the history of a text that is dropped is not in the way of one that is added again`() throws {
        let (a, b) = (try App(Self.page, Self.pages, replica: 1), try App(Self.page, Self.pages, replica: 2))
        try a.execute("INSERT INTO page VALUES (?, 'shown', 'one'), (?, 'deleted', 'one')", [key(1), key(2)])
        try a.execute("UPDATE page SET body = 'one two'")
        try b.receive(from: a)
        try a.execute("DELETE FROM page WHERE title = 'deleted'")
        a.store.close()
        try a.database.write { try SyncedDatabase.removeTriggers(of: "page", in: $0) }
        try a.migrate("ALTER TABLE page DROP COLUMN body", [TrackedTable("page")])
        try a.expectSound()
        try a.migrate("ALTER TABLE page ADD COLUMN body TEXT", Self.pages)
        try a.execute("UPDATE page SET body = 'new'")
        try a.execute("UPDATE page SET body = 'new text'")
        try a.expectSound()
        try a.store.restore(table: "page", id: rowID(2))
        #expect(try a.text("SELECT body FROM page ORDER BY title") == ["one two", "new text"])
        try b.execute("UPDATE page SET body = 'one two three'")
        guard case .applied = try a.store.apply(try b.store.delta(since: VersionVector())) else { throw StoreError(.failed, "refused") }
        try a.expectSound()
        try b.receive(from: a)
        try b.expectSound()
    }

    @Test func `a text whose row a migration has left out comes back whole`() throws {
        let (a, b) = (try App(Self.page, Self.pages, replica: 1), try App(Self.page, Self.pages, replica: 2))
        try a.execute("INSERT INTO page VALUES (?, 'left out', 'one')", [key(1)])
        try a.execute("UPDATE page SET body = 'one two'")
        try b.receive(from: a)
        try a.migrate("DROP TABLE page; \(Self.page)", Self.pages)
        try b.execute("UPDATE page SET body = 'one two three'")
        guard case .applied = try a.store.apply(try b.store.delta(since: VersionVector())) else { throw StoreError(.failed, "refused") }
        #expect(try a.text("SELECT body FROM page") == ["one two three"])
        try a.expectSound()
    }

    @Test(arguments: [true, false])
    func `rows that a migration has left out, or dropped with their table, leave nothing behind`(isTableDropped: Bool) throws {
        let tables = Self.pages + [TrackedTable("note")]
        let a = try App(Self.page + ";" + Self.old, tables, replica: 1)
        try a.execute("INSERT INTO page VALUES (?, 'left out', 'one'), (?, 'stays', 'one')", [key(1), key(2)])
        try a.execute("INSERT INTO note VALUES (?, 'left out'), (?, 'stays')", [key(1), key(2)])
        try a.execute("UPDATE page SET body = 'one two'")
        _ = try a.store.digest()
        if isTableDropped {
            try a.migrate("DROP TABLE page")
        } else {
            try a.migrate(
                """
                CREATE TABLE a AS SELECT * FROM page WHERE title = 'stays'; CREATE TABLE b AS SELECT * FROM note WHERE title = 'stays';
                DROP TABLE page; DROP TABLE note; \(Self.page); \(Self.old);
                INSERT INTO page SELECT * FROM a; INSERT INTO note SELECT * FROM b
                """, tables)
        }
        try a.expectSound()
        #expect(try a.store.digest() == a.store.recomputedDigest())
        #expect(try a.text("SELECT count(*) FROM kith_text") == [isTableDropped ? "0" : "1"])
        #expect(try a.text("SELECT title FROM note ORDER BY title") == (isTableDropped ? ["left out", "stays"] : ["stays"]))
    }

    @Test func `rows of a table that was dropped are shown when it is declared again`() throws {
        let item = "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, text TEXT, note BLOB REFERENCES note (id) ON DELETE CASCADE)"
        let tables = [TrackedTable("note"), TrackedTable("item")]
        let (a, b) = (try App(Self.old + ";" + item, tables, replica: 1), try App(Self.old + ";" + item, tables, replica: 2))
        try a.execute("INSERT INTO note VALUES (?, 'deleted')", [key(1)])
        try b.receive(from: a)
        try a.execute("DELETE FROM note")
        try b.execute("INSERT INTO item VALUES (?, 'waits', ?)", [key(2), key(1)])
        try a.receive(from: b)
        #expect(try a.text("SELECT text FROM item") == [])
        try a.migrate("DROP TABLE item")
        try b.execute("INSERT INTO item (id, text) VALUES (?, 'came')", [key(3)])
        try a.receive(from: b)
        try a.store.restore(table: "note", id: rowID(1))
        try a.expectSound()
        let vector = try a.store.vector()
        try a.migrate(item, tables)
        #expect(try a.text("SELECT text FROM item ORDER BY text") == ["came", "waits"])
        #expect(try a.store.vector() == vector)
        try a.expectSound()
        try b.receive(from: a)
        #expect(try a.store.digest() == b.store.digest())
    }

    /// Every fifteenth of the 120 orders; a long run takes all.
    private static let orderStep = Soak.count(30, soaking: 1)

    @Test func `five machines on three versions lose nothing, in whatever order they are updated`() throws {
        let versions: [(sql: String, tables: [TrackedTable])] = [
            (Self.old, [TrackedTable("note")]), (Self.toNew, Self.newTables),
            ("CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, text TEXT)", Self.newTables + [TrackedTable("item")]),
        ]
        let orders = permutations([0, 1, 2, 3, 4])
        for order in stride(from: 0, to: orders.count, by: Self.orderStep).map({ orders[$0] }) {
            var levels = [0, 0, 1, 1, 2]
            let apps = try levels.enumerated().map { index, level in
                try App(versions[...level].map(\.sql).joined(separator: ";"), versions[level].tables, replica: UInt64(index + 1))
            }
            try apps[2].execute("INSERT INTO note VALUES (?, 'two', 'red', '[\"x\"]', 1)", [key(1)])
            try apps[4].execute("INSERT INTO item VALUES (?, 'item')", [key(2)])
            for (index, app) in apps.enumerated() { try app.receive(from: apps[(index + 4) % 5]) }
            for (turn, index) in order.enumerated() {
                while levels[index] < 2 {
                    levels[index] += 1
                    try apps[index].migrate(versions[levels[index]].sql, versions[levels[index]].tables)
                }
                try apps[index].execute("INSERT INTO item VALUES (?, ?)", [key(UInt64(10 + index)), "of \(index)"])
                try apps[order[(turn + 1) % 5]].receive(from: apps[index])
                try apps[order[(turn + 3) % 5]].execute("UPDATE note SET title = ?", ["\(turn)"])
            }
            for _ in 0..<2 { for (index, app) in apps.enumerated() { try app.receive(from: apps[(index + 4) % 5]) } }
            let digest = try apps[0].store.digest()
            for app in apps {
                #expect(try app.store.digest() == digest, "\(order)")
                #expect(try app.text("SELECT color || tags || views FROM note") == ["red[\"x\"]1"], "\(order)")
                #expect(try app.text("SELECT text FROM item").count == 6, "\(order)")
            }
            try apps[0].expectSound()
        }
    }

    private func permutations(_ list: [Int]) -> [[Int]] {
        if list.isEmpty { return [[]] }
        return list.indices.flatMap { index in
            var rest = list
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }

    @Test func `a register and a text that an update brings at once are both shown`() throws {
        let texts = [TrackedTable("note", texts: ["body"])]
        let added = "ALTER TABLE note ADD COLUMN color TEXT NOT NULL DEFAULT 'none'; ALTER TABLE note ADD COLUMN body TEXT"
        let (a, old) = (try App(Self.old + ";" + added, texts, replica: 1), try App(Self.old, replica: 2))
        try a.execute("INSERT INTO note VALUES (?, 'a', 'red', 'text')", [key(1)])
        try a.execute("UPDATE note SET body = 'a text', color = 'green'")
        try old.receive(from: a)
        try old.migrate(added, texts)
        #expect(try old.text("SELECT title || color || body FROM note") == ["agreena text"])
        try old.expectSound()
        #expect(try old.store.digest() == a.store.digest())
    }

    @Test func `a row that the older schema refused shows what it has in new columns, too`() throws {
        let new = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, k TEXT DEFAULT 'x', c TEXT)"
        let old = try App("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, k TEXT NOT NULL DEFAULT 'x')", replica: 1)
        let a = try App(new, replica: 2)
        try a.execute("INSERT INTO note VALUES (?, 'a', NULL, 'new')", [key(1)])
        try old.receive(from: a)
        #expect(try old.store.refusedRows().count == 1)
        try old.migrate(
            "ALTER TABLE note RENAME TO before; \(new); INSERT INTO note (id, title, k) SELECT * FROM before; DROP TABLE before")
        #expect(try old.text("SELECT title || c FROM note WHERE k IS NULL") == ["anew"])
        #expect(try old.store.refusedRows() == [])
        try old.expectSound()
    }
}
