import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("What a migration step writes is lost, or wins over what somebody wrote elsewhere")
struct MigrationStepTests {
    private static let sql = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, color TEXT DEFAULT 'none', tags TEXT NOT NULL DEFAULT '[]',
            views INTEGER NOT NULL DEFAULT 0, body TEXT)
        """
    private static let table = TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body"])

    /// An app on one device, with the steps that its version has.
    private final class Device {
        let database: any DatabaseWriter
        private(set) var store: SyncedDatabase
        var migrator = DatabaseMigrator()
        var table: TrackedTable
        private let options: SyncedDatabase.Options

        init(
            _ backend: Backend = .memory, replica: UInt64, folder: TemporaryFolder? = nil, sql: String = MigrationStepTests.sql,
            table: TrackedTable = MigrationStepTests.table
        ) throws {
            database = try backend.open(folder?.file("\(replica)") ?? "")
            self.table = table
            options = TestStore.options(ReplicaID(high: 1, low: replica))
            migrator.registerMigration("v1") { try $0.execute(sql: sql) }
            store = try SyncedDatabase(database, tables: [table], migrator: migrator, options: options)
        }

        func update(_ steps: String..., table: TrackedTable? = nil) throws {
            store.close()
            self.table = table ?? self.table
            for sql in steps { migrator.registerMigration("v\(migrator.migrations.count + 1)") { try $0.execute(sql: sql) } }
            store = try SyncedDatabase(database, tables: [self.table], migrator: migrator, options: options)
            try expectClean()
        }

        func expectClean() throws {
            #expect(try store.verify().problems == [])
            #expect(try store.digest() == store.recomputedDigest())
            #expect(try text("SELECT name FROM sqlite_master WHERE name GLOB 'kith_before*' OR name GLOB 'kith_gone*'") == [])
            #expect(try text("SELECT name FROM sqlite_temp_master") == [])
        }

        func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
            try database.write { try $0.execute(sql: sql, arguments: arguments) }
        }

        func text(_ sql: String) throws -> [String?] { try database.read { try Optional<String>.fetchAll($0, sql: sql) } }

        func receive(from other: Device) throws {
            let slice = try other.store.delta(since: try store.vector())
            guard case .applied = try store.apply(slice) else { throw StoreError(.failed, "refused") }
        }

        func alternatives(_ number: UInt64) throws -> [String] {
            try store.alternatives(table: "note", id: rowID(number)).map { "\($0.column) \($0.value)" }
        }
    }

    private func meet(_ devices: Device...) throws {
        for _ in devices { for a in devices { for b in devices where a !== b { try b.receive(from: a) } } }
        for device in devices {
            try device.expectClean()
            #expect(try device.store.digest() == devices[0].store.digest())
        }
    }

    private func pair() throws -> (Device, Device) {
        let (a, b) = (try Device(replica: 1), try Device(replica: 2))
        try a.execute("INSERT INTO note VALUES (?, 'one', 'red', '[\"x\"]', 1, 'text'), (?, 'two', NULL, '[]', 2, NULL)", [key(1), key(2)])
        try b.receive(from: a)
        return (a, b)
    }

    @Test func `without a store's help an update in a migration fails, and does not go unnoticed`() throws {
        let (a, _) = try pair()
        a.store.close()
        #expect(throws: DatabaseError.self) { try a.execute("UPDATE note SET title = 'x'") }
    }

    @Test(arguments: Backend.allCases)
    func `what a step changes, deletes and inserts reaches others in one commit`(backend: Backend) throws {
        let folder = try TemporaryFolder()
        let (a, b) = (try Device(backend, replica: 1, folder: folder), try Device(backend, replica: 2, folder: folder))
        try a.execute("INSERT INTO note (id, title, tags) VALUES (?, 'one', '[\"x\"]'), (?, 'two', '[]')", [key(1), key(2)])
        try b.receive(from: a)
        let before = try a.store.vector()
        try a.update(
            """
            UPDATE note SET title = upper(title), tags = '["y"]' WHERE title = 'one'; DELETE FROM note WHERE title = 'two';
            INSERT INTO note (id, title, views, body) VALUES (x'\(rowID(3))', 'three', 3, 'body')
            """)
        let summary = try a.store.summary()
        #expect(summary.vector[summary.replica] == before[summary.replica] + 1)
        try b.receive(from: a)
        #expect(try b.text("SELECT title || tags || views || coalesce(body, '') FROM note ORDER BY id") == ["ONE[\"y\"]0", "three[]3body"])
        #expect(try b.store.trash().count == 1)
        try meet(a, b)
        a.store.close()
        b.store.close()
    }

    @Test func `devices that run the same step in turn are of one mind, and nobody has written anything`() throws {
        let (a, b) = try pair()
        for device in [a, b] {
            try device.update(
                """
                UPDATE note SET title = upper(title), tags = json_insert(tags, '$[#]', 'y'), color = coalesce(color, 'blue');
                INSERT INTO note (id, title, views, body) VALUES (x'\(rowID(3))', 'three', 3, 'body')
                """)
        }
        try meet(a, b)
        let shown = try a.text("SELECT title || color || views || body FROM note WHERE body NOT NULL ORDER BY id")
        #expect(shown == ["ONEred1text", "threenone3body"])
        for number: UInt64 in 1...3 { #expect(try a.alternatives(number) == []) }
    }

    @Test func `an edit wins over a step that did not know of it, whichever came later`() throws {
        let (a, b) = try pair()
        try b.execute("UPDATE note SET title = 'edited' WHERE id = ?", [key(1)])
        for number in 0..<20 { try a.execute("UPDATE note SET views = \(number)") }
        try a.update("UPDATE note SET title = upper(title)")
        try meet(a, b)
        #expect(try a.text("SELECT title FROM note ORDER BY id") == ["edited", "TWO"])
        #expect(try b.text("SELECT title FROM note ORDER BY id") == ["edited", "TWO"])
    }

    @Test func `a step on rows that were adopted wins over no edit either, and its result is one with what others find`() throws {
        let sql = Self.sql + "; INSERT INTO note (id, title) VALUES (x'\(rowID(1))', 'one')"
        let devices = try (1...3).map { try Device(replica: $0, sql: sql) }
        try devices[1].execute("UPDATE note SET title = 'edited'")
        try devices[0].update("UPDATE note SET title = upper(title)")
        try devices[2].update("UPDATE note SET title = upper(title)")
        try meet(devices[0], devices[2])
        #expect(try devices[0].text("SELECT title FROM note") == ["ONE"])
        #expect(try devices[0].alternatives(1) == [])
        try meet(devices[0], devices[1], devices[2])
        #expect(try devices[2].text("SELECT title FROM note") == ["edited"])
    }

    @Test(
        arguments: [
            ("UPDATE note SET body = 'other'", "body"), ("UPDATE note SET views = views + 1", "views"),
            ("UPDATE note SET body = NULL WHERE views = 1", "body"),
            ("ALTER TABLE note RENAME COLUMN body TO content; UPDATE note SET content = title", "content"),
        ])
    func `texts and counters are not changed by steps; the step is rolled back and says what to do`(sql: String, column: String) throws {
        let (a, _) = try pair()
        let before = try a.text("SELECT title || views || coalesce(body, '') FROM note ORDER BY id")
        let isRenamed = column == "content"
        let table = TrackedTable(
            "note", sets: ["tags"], counters: ["views"], texts: [isRenamed ? column : "body"], renamed: isRenamed ? [column: "body"] : [:])
        let error = #expect(throws: StoreError.self) { try a.update("UPDATE note SET title = 'done'", sql, table: table) }
        #expect(error?.code == .valueRejected)
        #expect(error?.message.contains("\"v3\" changes note.\(column)") == true)
        #expect(error?.message.contains("into a new column") == true)
        // The first step is done, the second is not.
        let after = try a.text("SELECT title || views || coalesce(body, '') FROM note ORDER BY id")
        #expect(after == before.map { $0.map { "done" + $0.dropFirst(3) } })
        let again = try SyncedDatabase(a.database, tables: [Self.table], options: TestStore.options())
        defer { again.close() }
        #expect(try again.verify().problems == [])
        #expect(try again.vector().entries.map(\.sequence) == [2])
    }

    @Test func `a new column takes what a step makes of texts and counters, once for all devices`() throws {
        let (a, b) = try pair()
        let table = TrackedTable("note", sets: ["tags", "words"], counters: ["views", "total"], texts: ["body", "summary"])
        let step = """
            ALTER TABLE note ADD COLUMN summary TEXT; ALTER TABLE note ADD COLUMN total INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE note ADD COLUMN words TEXT NOT NULL DEFAULT '[]'; ALTER TABLE note ADD COLUMN length INTEGER NOT NULL DEFAULT 3;
            UPDATE note SET summary = title || '!', total = views * 10, words = json_array(title), length = length(coalesce(body, title))
            """
        try a.update(step, table: table)
        try a.execute("UPDATE note SET summary = 'so ' || summary, total = total + 1 WHERE title = 'one'")
        // What the newer version has sent is not hidden by what the step makes here of an old row.
        try b.receive(from: a)
        try b.update(step, table: table)
        try meet(a, b)
        for device in [a, b] {
            let shown = try device.text("SELECT summary || total || words || length FROM note ORDER BY id")
            #expect(shown == ["so one!11[\"one\"]4", "two!20[\"two\"]3"])
            #expect(try device.alternatives(1) == [])
        }
        let c = try Device(replica: 3)
        try c.update(step, table: table)
        try meet(a, b, c)
    }

    @Test(arguments: [true, false], ["", "; ALTER TABLE note DROP COLUMN title"])
    func `what a step makes of an edit that a newer device had not seen stays, whether they met before the step or not`(
        meets: Bool, rest: String
    ) throws {
        let (a, b) = try pair()
        try b.execute("UPDATE note SET title = 'edited' WHERE title = 'one'")
        let table = TrackedTable("note", sets: ["tags", "words"], counters: ["views", "total"], texts: ["body", "summary"])
        let step = """
            ALTER TABLE note ADD COLUMN summary TEXT; ALTER TABLE note ADD COLUMN total INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE note ADD COLUMN words TEXT NOT NULL DEFAULT '[]'; ALTER TABLE note ADD COLUMN label TEXT;
            UPDATE note SET summary = title || '!', total = length(title), words = json_array(title), label = '<' || title || '>'\(rest)
            """
        try a.update(step, table: table)
        if meets {
            try b.receive(from: a)
            try a.receive(from: b)
        }
        try b.update(step, table: table)
        // Of a column that is dropped, a device may hold what others have sent since.
        for _ in 0..<2 {
            try b.receive(from: a)
            try a.receive(from: b)
        }
        if rest.isEmpty { try meet(a, b) }
        for device in [a, b] {
            let shown = try device.text("SELECT label || total || words || summary FROM note ORDER BY id")
            #expect(shown == ["<one>3[\"edited\",\"one\"]one!", "<two>3[\"two\"]two!"])
            let kept = try device.alternatives(1)
            #expect(
                kept.count == 3 && ["summary", "total", "label"].allSatisfy { name in kept.contains { $0.hasPrefix(name) } }, "\(kept)")
            #expect(try device.alternatives(2) == [])
        }
    }

    @Test(arguments: [
        (TrackedTable("note"), TrackedTable("note", sets: ["tags"], counters: ["views"])),
        (TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body"]), TrackedTable("note")),
    ])
    func `a column that becomes another kind keeps its values with a migration step, and is refused without one`(
        before: TrackedTable, after: TrackedTable
    ) throws {
        let (first, second, third) = (
            try Device(replica: 1, table: before), try Device(replica: 2, table: before), try Device(replica: 3, table: after)
        )
        let shown = "SELECT title || tags || views || body FROM note ORDER BY id"
        try first.execute("INSERT INTO note (id, title, tags, views, body) VALUES (?, 'a', '[\"x\"]', 4, 'text')", [key(1)])
        try first.execute("INSERT INTO note (id, title, tags, views, body) VALUES (?, 'b', '[\"y\"]', 5, 'more')", [key(2)])
        try second.receive(from: first)
        first.store.close()
        let error = #expect(throws: StoreError.self) {
            try SyncedDatabase(first.database, tables: [after], migrator: first.migrator, options: TestStore.options())
        }
        #expect(error?.code == .tableRejected && error?.message.contains("migration step") == true, "\(error as Any)")
        try first.update("SELECT 1", table: after)
        try second.update("SELECT 1", table: after)
        try third.receive(from: first)
        try second.receive(from: first)
        try second.execute("UPDATE note SET views = views + 1, tags = '[\"x\",\"z\"]' WHERE title = 'a'")
        try first.receive(from: second)
        try third.receive(from: second)
        for device in [first, second, third] {
            #expect(try device.text(shown) == ["a[\"x\",\"z\"]5text", "b[\"y\"]5more"])
            try device.expectClean()
            #expect(try device.store.digest() == first.store.digest())
        }
    }

    @Test func `a table that a step builds anew keeps its rows, and what it changed of them is noted`() throws {
        let (a, b) = try pair()
        let step = """
            CREATE TABLE other (title TEXT NOT NULL DEFAULT '', id BLOB PRIMARY KEY NOT NULL, hue TEXT NOT NULL DEFAULT 'grey',
                tags TEXT NOT NULL DEFAULT '[]', views INTEGER NOT NULL DEFAULT 0, body TEXT, extra INTEGER NOT NULL DEFAULT 7);
            INSERT INTO other SELECT title, id, coalesce(color, 'grey'), tags, views, body, length(title) + 5 FROM note ORDER BY title DESC;
            DROP TABLE note; ALTER TABLE other RENAME TO note
            """
        let table = TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body"], renamed: ["hue": "color"])
        try a.update(step, "UPDATE note SET title = title || '?'; DELETE FROM note WHERE title = 'two?'", table: table)
        try b.receive(from: a)
        #expect(try b.text("SELECT title || color FROM note ORDER BY title") == ["one?red"])
        try b.update(step, "UPDATE note SET title = title || '?' WHERE title NOT LIKE '%?'", table: table)
        try meet(a, b)
        #expect(try b.text("SELECT title || hue || extra || body FROM note") == ["one?red8text"])
    }

    @Test func `a column is dropped without a word to Kith, and a step may drop what it has read`() throws {
        let (a, b) = try pair()
        try a.update("UPDATE note SET title = title || color WHERE color NOT NULL; ALTER TABLE note DROP COLUMN color")
        try b.receive(from: a)
        #expect(try b.text("SELECT title || coalesce(color, '') FROM note ORDER BY id") == ["onered" + "red", "two"])
        try b.update(
            """
            UPDATE note SET title = title || color WHERE color NOT NULL AND title NOT LIKE '%' || color;
            ALTER TABLE note DROP COLUMN color
            """)
        try meet(a, b)
        #expect(try b.text("SELECT title FROM note ORDER BY id") == ["onered", "two"])
    }

    @Test func `steps that ran before the app was stopped are noted at the next start`() throws {
        let (a, b) = try pair()
        let error = #expect(throws: DatabaseError.self) {
            try a.update("UPDATE note SET title = upper(title); DELETE FROM note WHERE title = 'TWO'", "UPDATE nowhere SET a = 1")
        }
        #expect(error?.message == "no such table: nowhere")
        // An older Kith, or an app without a migrator, opens it.
        let again = try SyncedDatabase(a.database, tables: [Self.table], options: TestStore.options())
        #expect(try again.verify().problems == [])
        guard case .applied = try b.store.apply(try again.delta(since: try b.store.vector())) else { throw StoreError(.failed, "refused") }
        #expect(try b.text("SELECT title FROM note") == ["ONE"])
        again.close()
    }

    @Test(arguments: [Backend.queue, .pool])
    func `a migrator that erases on a change of steps erases no store, and says what has changed`(backend: Backend) throws {
        let folder = try TemporaryFolder()
        let device = try Device(backend, replica: 1, folder: folder)
        try device.execute("INSERT INTO note (id, title) VALUES (?, 'kept')", [key(1)])
        device.migrator.eraseDatabaseOnSchemaChange = true
        try device.update()
        // A step that calls Kith's functions, too.
        try device.update("INSERT INTO note (id, title) VALUES (kith_uuid(), 'new'); DELETE FROM note WHERE title = 'new'")
        try device.update()
        try device.update("ALTER TABLE note ADD COLUMN more TEXT")
        #expect(try device.text("SELECT title FROM note") == ["kept"])
        device.store.close()
        var changed = DatabaseMigrator()
        changed.eraseDatabaseOnSchemaChange = true
        changed.registerMigration("v1") { try $0.execute(sql: Self.sql + " STRICT") }
        var shorter = changed
        shorter.registerMigration("v2") { try $0.execute(sql: "ALTER TABLE note ADD COLUMN more TEXT") }
        for migrator in [changed, shorter] {
            let error = #expect(throws: StoreError.self) {
                try SyncedDatabase(device.database, tables: [Self.table], migrator: migrator, options: TestStore.options())
            }
            #expect(error?.code == .valueRejected && error?.message.contains("eraseDatabaseOnSchemaChange") == true, "\(error as Any)")
        }
        #expect(try device.text("SELECT title FROM note") == ["kept"])
        // Before it is a store, the database is the app's alone.
        let plain = try DatabaseQueue()
        try plain.write { try $0.execute(sql: "CREATE TABLE old (x)") }
        changed.registerMigration("v3") { _ in }
        var first = DatabaseMigrator()
        first.registerMigration("v1") { try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)") }
        try first.migrate(plain)
        let store = try SyncedDatabase(plain, tables: [Self.table], migrator: changed)
        #expect(try plain.read { try $0.tableExists("old") } == false)
        store.close()
    }

    @Test func `a migrator with nothing to do changes nothing, and the store of an open database is not migrated`() throws {
        let (a, _) = try pair()
        let vector = try a.store.vector()
        try a.update()
        #expect(try a.store.vector() == vector)
        a.migrator.registerMigration("v2") { try $0.execute(sql: "UPDATE note SET title = 'x'") }
        let error = #expect(throws: StoreError.self) { try SyncedDatabase(a.database, tables: [Self.table], migrator: a.migrator) }
        #expect(error?.code == .busy)
        try a.execute("UPDATE note SET title = 'still open'")
        try a.expectClean()
    }

    @Test func `steps run though a merge has left a key of an untracked table without its row, and none leaves another`() throws {
        let sql = Self.sql + "; CREATE TABLE page (number INTEGER PRIMARY KEY, note BLOB REFERENCES note (id))"
        let (a, b) = (try Device(replica: 1, sql: sql), try Device(replica: 2, sql: sql))
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'a'), (?, 'b')", [key(1), key(2)])
        try b.receive(from: a)
        try b.execute("INSERT INTO page VALUES (1, ?), (2, ?)", [key(1), key(2)])
        try a.execute("DELETE FROM note WHERE title = 'a'")
        try b.receive(from: a)
        try b.update("ALTER TABLE note ADD COLUMN summary TEXT; UPDATE note SET summary = title", "CREATE INDEX pages ON page (note)")
        #expect(try b.text("SELECT summary FROM note") == ["b"])
        let error = #expect(throws: DatabaseError.self) { try b.update("UPDATE page SET note = x'00' WHERE number = 2") }
        #expect(error?.message?.hasPrefix("FOREIGN KEY constraint violation") == true)
        #expect(try b.text("SELECT hex(note) FROM page WHERE number = 2") == b.text("SELECT hex(id) FROM note"))
        #expect(try b.text("PRAGMA foreign_keys") == ["1"])
    }
}
