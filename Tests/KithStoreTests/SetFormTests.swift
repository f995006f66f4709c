import GRDB
import KithStore
import KithSync
import Testing

@Suite("A set looks otherwise on each device")
struct SetFormTests {
    private static let sql = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, tags TEXT, colors TEXT NOT NULL DEFAULT '["a"]');
        CREATE TABLE log (line TEXT);
        """
    private static let declared = [TrackedTable("note", sets: ["tags", "colors"])]

    private static func store(_ backend: Backend = .memory, _ more: String = "") throws -> TestStore {
        try TestStore(backend, sql: sql + more, tables: declared)
    }

    private static func tags(_ store: TestStore) throws -> [String?] {
        try store.database.read { try String?.fetchAll($0, sql: "SELECT tags FROM note ORDER BY id") }
    }

    /// A peer shows what `store` shows, and both say the same of all rows.
    private static func expectSameLook(_ store: TestStore, _ location: SourceLocation = #_sourceLocation) throws {
        let peer = try Self.store()
        try peer.receive(from: store)
        let all = "SELECT tags, colors FROM note ORDER BY id"
        let shown = try store.database.read { try Row.fetchAll($0, sql: all) }
        #expect(try peer.database.read { try Row.fetchAll($0, sql: all) } == shown, sourceLocation: location)
        #expect(try peer.store.recomputedDigest() == store.store.recomputedDigest(), sourceLocation: location)
        try store.expectSound(location)
        try peer.expectSound(location)
    }

    @Test
    func `a set that comes back has the form that peers show, also where the app's trigger keeps it from being given that at the end`()
        throws
    {
        let sql =
            HistoryTests.sql + """
                CREATE VIRTUAL TABLE found USING fts5 (tags);
                CREATE TRIGGER index_tags AFTER UPDATE OF tags ON item BEGIN INSERT INTO found VALUES (new.tags); END;
                """
        let (here, there) = (try TestStore(sql: sql, tables: HistoryTests.tables), try TestStore(sql: sql, tables: HistoryTests.tables))
        try here.execute("INSERT INTO item (id, tags) VALUES (?, '[\"b\",\"c\"]')", [key(1)])
        let undo = here.store.undo(scope: "editor")
        try undo.group { try $0.execute(sql: #"UPDATE item SET tags = '["a","c"]'"#) }
        func tags(_ store: TestStore) throws -> String? {
            try store.database.read { try String.fetchOne($0, sql: "SELECT tags FROM item") }
        }
        for expected in [#"["b","c"]"#, #"["a","c"]"#] {
            _ = expected == #"["a","c"]"# ? try undo.redo() : try undo.undo()
            try there.receive(from: here)
            #expect(try tags(here) == expected && tags(there) == expected)
        }
        try here.expectSound()
    }

    @Test(arguments: Backend.allCases)
    func `the transaction that writes a set sees what it wrote, and everybody the same once it has committed`(backend: Backend) throws {
        let store = try Self.store(backend)
        let wrong = [
            #"["warm","cheap"]"#, #"["b","a","b",1,1.0]"#, #"[ "x" ]"#, "[]", nil, #"["a","a"]"#, #"["a!","a"]"#, #"["\u0061", {"k" : 1}]"#,
        ]
        let tidy = [
            #"["cheap","warm"]"#, #"["a","b",1,1.0]"#, #"["x"]"#, "[]", "[]", #"["a"]"#, #"["a!","a"]"#, #"["a",{"k":1}]"#,
        ]
        try store.database.write { db in
            for (number, text) in wrong.enumerated() {
                try db.execute(sql: "INSERT INTO note (id, tags) VALUES (?, ?)", arguments: [key(UInt64(number)), text])
            }
            #expect(try String?.fetchAll(db, sql: "SELECT tags FROM note ORDER BY id") == wrong)
        }
        #expect(try Self.tags(store) == tidy)
        try Self.expectSameLook(store)
        // Saved again with the same elements, a set does not change, nor do its looks.
        let commits = try store.sequence()
        try store.execute(#"UPDATE note SET tags = '["b",1.0,1,"a"]' WHERE id = ?"#, [key(1)])
        #expect(try Self.tags(store) == tidy)
        #expect(try store.sequence() <= commits + 1)
        try store.execute(#"UPDATE note SET title = 't', tags = '["z","y"]', colors = '["2","1"]'"#)
        #expect(try Self.tags(store) == Array(repeating: #"["y","z"]"#, count: wrong.count))
        try Self.expectSameLook(store)
    }

    @Test(arguments: [Backend.memory, .pool])
    func `what a savepoint takes back is not written, and rows that move or are replaced are found`(backend: Backend) throws {
        let store = try Self.store(backend)
        try store.execute(
            #"INSERT INTO note (rowid, id, tags) VALUES (1, ?, '["a"]'), (2, ?, '["c"]'), (3, ?, '[]')"#, [key(1), key(2), key(3)])
        try store.database.write { db in
            try db.inSavepoint {
                try db.execute(sql: #"UPDATE note SET tags = '["y","x"]' WHERE id = ?"#, arguments: [key(1)])
                return .rollback
            }
            try db.execute(sql: #"UPDATE note SET tags = '["y","x"]', rowid = 9 WHERE id = ?"#, arguments: [key(2)])
            try db.execute(sql: "UPDATE note SET rowid = 10 WHERE id = ?", arguments: [key(2)])
            try db.execute(sql: #"REPLACE INTO note (id, tags) VALUES (?, '["q","p"]')"#, arguments: [key(3)])
        }
        #expect(try Self.tags(store) == [#"["a"]"#, #"["x","y"]"#, #"["p","q"]"#])
        try Self.expectSameLook(store)
    }

    @Test func `a bulk insertion and single statements keep last_insert_rowid() and wake the app's triggers`() throws {
        let store = try Self.store(.queue, "CREATE TRIGGER seen AFTER UPDATE OF tags ON note BEGIN INSERT INTO log VALUES (new.tags); END;")
        let (row, changes) = try store.database.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                    INSERT INTO note (id, tags) SELECT randomblob(16), json_array('b' || i, 'a' || i) FROM n
                    """)
            return (db.lastInsertedRowID, db.changesCount)
        }
        #expect(row == 100)
        #expect(changes == 100)
        #expect(try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log WHERE line LIKE '[\"a%'") } == 100)
        try Self.expectSameLook(store)
    }

    @Test func `what the database makes of a set follows it: generated columns, indexes, checks`() throws {
        let sql = """
            CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, tags TEXT NOT NULL DEFAULT '[]', first TEXT AS (json_extract(tags, '$[0]')) STORED);
            CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, tags TEXT NOT NULL DEFAULT '[]' CHECK (tags <> '["a","b"]'));
            CREATE TABLE leaf (id BLOB PRIMARY KEY NOT NULL, tags TEXT NOT NULL DEFAULT '[]'); CREATE INDEX leaves ON leaf (tags);
            CREATE TABLE part (id BLOB PRIMARY KEY NOT NULL, tags TEXT NOT NULL DEFAULT '[]');
            CREATE INDEX parts ON part (id) WHERE json_extract(tags, '$[0]') = 'a';
            """
        let tables = ["note", "page", "leaf", "part"]
        let store = try TestStore(.queue, sql: sql, tables: tables.map { TrackedTable($0, sets: ["tags"]) })
        try store.database.write { db in
            for table in tables {
                try db.execute(sql: #"INSERT INTO \#(table) (id, tags) VALUES (?, '["b","a"]')"#, arguments: [key(1)])
            }
        }
        try store.database.read { (db: Database) throws in
            #expect(try String.fetchOne(db, sql: "SELECT first FROM note") == "a")
            #expect(try String.fetchOne(db, sql: "SELECT tags FROM page") == #"["b","a"]"#)
            #expect(try Int.fetchOne(db, sql: #"SELECT count(*) FROM leaf WHERE tags = '["a","b"]'"#) == 1)
            let part = "SELECT count(*) FROM part INDEXED BY parts WHERE json_extract(tags, '$[0]') = 'a'"
            #expect(try Int.fetchOne(db, sql: part) == 1)
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        }
        try store.expectSound()
    }

    @Test func `live lists show the form that others see`() async throws {
        let store = try Self.store(.pool)
        let observation = ValueObservation.tracking { try String.fetchAll($0, sql: "SELECT tags FROM note") }
        try store.execute("INSERT INTO note (id, tags) VALUES (?, '[]')", [key(1)])
        var isChanged = false
        for try await value in observation.values(in: store.database) {
            if !isChanged { try store.execute(#"UPDATE note SET tags = '["b","a"]'"#) }
            isChanged = true
            if value == ["[]"] { continue }
            #expect(value == [#"["a","b"]"#])
            break
        }
    }

    @Test func `sets that were there before Kith came get the form, too, and an empty column of an older row does not`() throws {
        let store = try Self.store(
            .queue, #"INSERT INTO note VALUES (x'00000000000000000000000000000001', 't', '["b","a"]', '["2","1"]');"#)
        #expect(try Self.tags(store) == [#"["a","b"]"#])
        try Self.expectSameLook(store)
    }

    @Test(arguments: [
        "CREATE TRIGGER a BEFORE INSERT ON other WHEN new.failures IS NULL BEGIN SELECT RAISE(ABORT, 'rollback: it failed (fail)'); END",
        "CREATE TABLE more (id INTEGER PRIMARY KEY ON CONFLICT IGNORE, rollback_of INTEGER, fail TEXT DEFAULT 'or fail')",
        "CREATE VIEW failures AS SELECT 'raise(fail' AS \"or fail\", failures AS fail FROM other",
    ])
    func `a word in a message or a name is no rule that ends transactions`(rule: String) throws {
        let store = try Self.store(.queue, "CREATE TABLE other (failures INTEGER); \(rule);")
        try store.execute(#"INSERT INTO note (id, title, tags) VALUES (?, 't', '["b","a"]')"#, [key(1)])
        #expect(try Self.tags(store) == [#"["a","b"]"#])
    }

    @Test(arguments: [
        "SELECT RAISE(ABORT, 'no')", "SELECT RAISE(FAIL, 'no')", "SELECT RAISE(ROLLBACK, 'no')", "SELECT RAISE(IGNORE)",
        "SELECT json_extract(old.title || '{', '$')", "INSERT OR FAIL INTO taken VALUES (1)", "INSERT OR ROLLBACK INTO taken VALUES (1)",
        "INSERT INTO taken VALUES ('a')",
    ])
    func `where a rule of the app forbids it, the set stays as it was written and nothing fails`(how: String) throws {
        let rule = """
            CREATE TABLE taken (n INTEGER PRIMARY KEY); INSERT INTO taken VALUES (1);
            CREATE TRIGGER final BEFORE UPDATE ON note BEGIN \(how); END;
            """
        let store = try Self.store(.queue, rule)
        try store.execute(#"INSERT INTO note (id, title, tags) VALUES (?, 't', '["b","a"]')"#, [key(1)])
        try store.database.write { db in
            try db.execute(sql: #"INSERT INTO note (id, title, tags) VALUES (?, 't', '["d","c"]')"#, arguments: [key(2)])
        }
        #expect(try Self.tags(store) == [#"["b","a"]"#, #"["d","c"]"#])
        let peer = try Self.store()
        try peer.receive(from: store)
        #expect(try Self.tags(peer) == [#"["a","b"]"#, #"["c","d"]"#])
        #expect(try peer.store.recomputedDigest() == store.store.recomputedDigest())
        try store.expectSound()
    }

    @Test func `a column that nobody has written keeps its default`() throws {
        let store = try Self.store()
        try store.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        store.store.close()
        try store.database.write { db in
            try SyncedDatabase.removeTriggers(of: "note", in: db)
            try db.execute(sql: "ALTER TABLE note ADD COLUMN more TEXT")
        }
        let again = try SyncedDatabase(
            store.database, tables: [TrackedTable("note", sets: ["tags", "colors", "more"])], options: TestStore.options())
        try store.execute("UPDATE note SET title = 'b'")
        #expect(try store.database.read { try Bool.fetchOne($0, sql: "SELECT more IS NULL FROM note") } == true)
        #expect(try again.verify().problems == [])
    }

    @Test func `a search index that triggers keep lets no commit of a set fail, and follows what is shown`() throws {
        let sql =
            TestStore.noteSQL + """
                ; CREATE VIRTUAL TABLE found USING fts5 (tags, content='note', content_rowid='rowid');
                CREATE TRIGGER found_in AFTER INSERT ON note BEGIN INSERT INTO found (rowid, tags) VALUES (new.rowid, new.tags); END;
                CREATE TRIGGER found_change AFTER UPDATE ON note BEGIN
                    INSERT INTO found (found, rowid, tags) VALUES ('delete', old.rowid, old.tags);
                    INSERT INTO found (rowid, tags) VALUES (new.rowid, new.tags); END;
                """
        let (store, peer) = (try TestStore(sql: sql), try TestStore(sql: sql))
        try store.execute("INSERT INTO note (id, tags) VALUES (?, '[\"b\", \"a\"]')", [key(1)])
        try store.execute("UPDATE note SET tags = '[\"c\",\"a\",\"a\"]'")
        try peer.receive(from: store)
        try peer.execute("UPDATE note SET tags = '[\"d\",\"c\"]'")
        try store.receive(from: peer)
        for store in [store, peer] {
            let found = try store.database.read {
                try String.fetchAll($0, sql: "SELECT rowid || '' FROM found WHERE found MATCH 'd AND c'")
            }
            #expect(found == ["1"])
            try store.execute("INSERT INTO found (found) VALUES ('integrity-check')")
            try store.expectSound()
        }
        #expect(try store.store.digest() == peer.store.digest())
    }

    @Test(arguments: Backend.allCases) func `a counter that is NULL shows 0 on each device`(backend: Backend) throws {
        let sql = "CREATE TABLE stock (id BLOB PRIMARY KEY NOT NULL, title TEXT, count INTEGER, more INTEGER)"
        let tables = [TrackedTable("stock", counters: ["count", "more"])]
        let (here, there) = (try TestStore(backend, sql: sql, tables: tables), try TestStore(backend, sql: sql, tables: tables))
        func counts(_ store: TestStore) throws -> [Row] {
            try store.database.read { try Row.fetchAll($0, sql: "SELECT count, more FROM stock ORDER BY title") }
        }
        try here.execute("INSERT INTO stock (id, title) VALUES (?, 'a'), (?, 'b')", [key(1), key(2)])
        #expect(try counts(here) == [["count": 0, "more": 0], ["count": 0, "more": 0]])
        try here.execute("UPDATE stock SET count = 3")
        try here.execute("UPDATE stock SET count = NULL WHERE title = 'b'")
        try there.receive(from: here)
        for store in [here, there] {
            #expect(try counts(store) == [["count": 3, "more": 0], ["count": 0, "more": 0]])
            try store.expectSound()
        }
        #expect(try there.store.recomputedDigest() == here.store.recomputedDigest())
    }

    @Test func `a counter that was NULL before the store was there shows 0 on each device`() throws {
        let database = try DatabaseQueue()
        try database.write { db in
            try db.execute(sql: "CREATE TABLE stock (id BLOB PRIMARY KEY NOT NULL, title TEXT, count INTEGER)")
            try db.execute(sql: "INSERT INTO stock (id, title, count) VALUES (?, 'a', NULL), (?, 'b', 4)", arguments: [key(1), key(2)])
        }
        let store = try SyncedDatabase(database, tables: [TrackedTable("stock", counters: ["count"])], options: TestStore.options())
        #expect(try database.read { try Int?.fetchAll($0, sql: "SELECT count FROM stock ORDER BY title") } == [0, 4])
        #expect(try store.verify().problems == [])
    }
}
