import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A table gets other keys, and what refers to it, or stands beside it, is lost")
struct KeyMigrationTests {
    private static let sql = """
        CREATE TABLE recipe (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT '', updated TEXT);
        CREATE TABLE step (id INTEGER PRIMARY KEY, recipe INTEGER NOT NULL REFERENCES recipe (id) ON DELETE CASCADE,
            after INTEGER REFERENCES step, text TEXT NOT NULL DEFAULT '', length AS (length(text)));
        CREATE TABLE journal (day TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL DEFAULT '', recipe INTEGER, rating INTEGER);
        CREATE TABLE mention (recipe INTEGER REFERENCES recipe (id), day TEXT REFERENCES journal (day), n INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (recipe, day));
        CREATE TABLE plain (a TEXT);
        CREATE TABLE stats (recipe INTEGER REFERENCES recipe (id), n INTEGER);
        CREATE INDEX step_recipe ON step (recipe);
        CREATE VIEW steps AS SELECT r.title, s.text FROM step s JOIN recipe r ON r.id = s.recipe;
        CREATE TRIGGER touch AFTER UPDATE OF title ON recipe BEGIN UPDATE recipe SET updated = 'now' WHERE id = new.id; END;
        CREATE TRIGGER steps_in INSTEAD OF UPDATE ON steps BEGIN UPDATE step SET text = new.text WHERE text = old.text; END;
        CREATE VIRTUAL TABLE found USING fts5 (title, content='recipe', content_rowid='id');
        CREATE TRIGGER found_in AFTER INSERT ON recipe BEGIN INSERT INTO found (rowid, title) VALUES (new.id, new.title); END;
        CREATE TRIGGER found_out AFTER DELETE ON recipe BEGIN INSERT INTO found (found, rowid, title) VALUES ('delete', old.id, old.title); END;
        CREATE TRIGGER found_change AFTER UPDATE ON recipe BEGIN
            INSERT INTO found (found, rowid, title) VALUES ('delete', old.id, old.title);
            INSERT INTO found (rowid, title) VALUES (new.id, new.title); END;
        INSERT INTO recipe (id, title) VALUES (7, 'soup'), (9, 'bread');
        INSERT INTO step VALUES (1, 7, NULL, 'boil'), (2, 7, 1, 'stir');
        INSERT INTO journal VALUES ('2026-11-21', 'Rain', 9, 5);
        INSERT INTO mention VALUES (9, '2026-11-21', 3);
        INSERT INTO plain VALUES ('x'), ('y');
        INSERT INTO stats VALUES (7, 2), (NULL, 1);
        """

    static let tables = [
        TrackedTable("recipe"), TrackedTable("step"), TrackedTable("journal", key: ["day"]),
        TrackedTable("mention", key: ["recipe", "day"]),
        TrackedTable("plain"),
    ]

    private static func migration(_ form: KeyForm = .blob, _ source: KeyMigration.Source = .derived) -> KeyMigration {
        KeyMigration(tables, form: form, source: source, references: ["journal.recipe": "recipe"])
    }

    private static func database(_ sql: String = sql) throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: sql) }
        return database
    }

    private static func text(_ database: some DatabaseReader, _ sql: String) throws -> [String] {
        try database.read { try String.fetchAll($0, sql: sql) }
    }

    private static func dump(_ database: some DatabaseReader) throws -> [String] {
        try database.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'found%' ORDER BY 1")
                .flatMap { table in
                    let columns = try db.columns(in: table).map { "quote(\"\($0.name)\")" }.joined(separator: " || ' ' || ")
                    return try String.fetchAll(db, sql: "SELECT '\(table) ' || \(columns) FROM \"\(table)\" ORDER BY rowid")
                } + String.fetchAll(db, sql: "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY 1")
        }
    }

    @Test(arguments: KeyForm.allCases) func `all rows are there with what they refer to, and all that stands beside them works`(
        form: KeyForm
    ) throws {
        let database = try Self.database()
        let plan = try Self.migration(form).run(on: database)
        #expect(plan.tables.map(\.name) == ["recipe", "step", "journal", "mention", "plain", "stats"])
        #expect(plan.tables.map(\.rows) == [2, 2, 1, 1, 2, 2])
        let type = form == .blob ? "blob" : "text"
        #expect(
            try Self.text(
                database,
                "SELECT DISTINCT typeof(id) FROM recipe UNION ALL SELECT DISTINCT typeof(recipe) FROM step UNION ALL SELECT typeof(recipe) FROM stats WHERE recipe NOT NULL"
            ) == [type, type, type])
        #expect(try Self.text(database, "SELECT title || ' ' || text FROM steps ORDER BY text") == ["soup boil", "soup stir"])
        #expect(try Self.text(database, "SELECT a.text || b.text || b.length FROM step b JOIN step a ON a.id = b.after") == ["boilstir4"])
        #expect(
            try Self.text(
                database,
                "SELECT r.title || j.day || j.rating || m.n FROM mention m JOIN recipe r ON r.id = m.recipe JOIN journal j ON j.id = m.day JOIN recipe o ON o.id = j.recipe"
            ) == ["bread2026-11-2153"])
        #expect(try Self.text(database, "SELECT rowid || title FROM recipe ORDER BY rowid") == ["7soup", "9bread"])
        // The index of words follows as it did, and so do views with triggers.
        try database.write { db in
            try SyncedDatabase.addFunctions(to: db)
            try db.execute(
                sql:
                    "INSERT INTO recipe (title) VALUES ('new stew'); UPDATE recipe SET title = 'old soup' WHERE title = 'soup'; DELETE FROM mention; DELETE FROM recipe WHERE title = 'bread'"
            )
            try db.execute(sql: "UPDATE steps SET text = 'cook' WHERE text = 'boil'; INSERT INTO found (found) VALUES ('integrity-check')")
        }
        #expect(
            try Self.text(
                database,
                "SELECT r.title || coalesce(r.updated, '') FROM found f JOIN recipe r ON r.rowid = f.rowid WHERE found MATCH 'soup OR stew OR bread' ORDER BY 1"
            ) == ["new stew", "old soupnow"])
        #expect(try Self.text(database, "SELECT text FROM step ORDER BY text") == ["cook", "stir"])
        #expect(try database.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check").count } == 0)
        #expect(
            try Self.text(database, "SELECT name FROM sqlite_temp_master UNION SELECT name FROM sqlite_master WHERE name LIKE 'kith%'")
                == [])
        let store = try SyncedDatabase(database, tables: Self.tables, options: TestStore.options())
        #expect(try store.verify().problems == [])
        #expect(try SyncedDatabase.check(database, tables: Self.tables).isReady)
        #expect(try database.read { try KeyMigration(Self.tables, form: form).plan($0).isEmpty })
    }

    @Test func `two devices that migrate the same backup have the same rows, in whatever form; drawn ids differ`() throws {
        let stores = try KeyForm.allCases.map { form in
            let database = try Self.database(
                """
                CREATE TABLE recipe (id INTEGER PRIMARY KEY, title TEXT NOT NULL DEFAULT '');
                CREATE TABLE journal (day TEXT PRIMARY KEY, text TEXT NOT NULL DEFAULT ''); CREATE TABLE plain (a TEXT);
                INSERT INTO recipe VALUES (7, 'soup'), (9, 'bread'); INSERT INTO journal VALUES ('2026-11-21', 'Rain'); INSERT INTO plain VALUES ('x'), ('y');
                """)
            let tables = [TrackedTable("recipe"), TrackedTable("journal", key: ["day"]), TrackedTable("plain")]
            try KeyMigration(tables, form: form).run(on: database)
            return try SyncedDatabase(
                database, tables: tables, options: TestStore.options(ReplicaID(high: 1, low: UInt64(form.rawValue.count))))
        }
        for _ in 0..<2 {
            for a in stores { for b in stores where a !== b { _ = try b.apply(try a.delta(since: try b.vector())) } }
        }
        for store in stores {
            #expect(try store.verify().problems == [])
            #expect(
                try Self.text(
                    store.database,
                    "SELECT count(*) || '' FROM recipe UNION ALL SELECT count(*) || '' FROM journal UNION ALL SELECT count(*) || '' FROM plain"
                ) == ["2", "1", "2"])
        }
        #expect(Set(try stores.map { try $0.digest() }).count == 1)
        #expect(
            try Self.text(stores[0].database, "SELECT lower(hex(id)) FROM recipe ORDER BY title DESC")
                == [7, 9].map { try RowID(table: "recipe", key: .integer($0)).description })

        let drawn = try (0..<2).map { _ in
            let database = try Self.database()
            try Self.migration(.blob, .drawn).run(on: database)
            return Set(try Self.text(database, "SELECT hex(id) FROM recipe"))
        }
        #expect(drawn[0].count == 2 && drawn[0].isDisjoint(with: drawn[1]))
    }

    @Test func `a dry run says what would be done, and changes nothing`() throws {
        let database = try Self.database()
        let before = try Self.dump(database)
        let plan = try database.read { try Self.migration().plan($0) }
        #expect(try Self.dump(database) == before)
        let step = try #require(plan.tables.first { $0.name == "step" })
        #expect(step.key == "id" && step.formerKey == ["id"] && step.references == ["recipe": "recipe", "after": "step"])
        let journal = try #require(plan.tables.first { $0.name == "journal" })
        #expect(journal.key == "id" && journal.formerKey == ["day"] && journal.references == ["recipe": "recipe"])
        #expect(plan.tables.last?.key == nil && plan.tables.last?.references == ["recipe": "recipe"])
        #expect(plan.notes.count == 5)
        #expect(plan.statements.contains { $0.contains("kith_new_recipe") })
    }

    private static let refusals: [(sql: String, tables: [TrackedTable], reason: String)] = [
        ("CREATE TABLE t (a, b, PRIMARY KEY (a, b))", [TrackedTable("t")], "TrackedTable(\"t\", key: [\"a\", \"b\"])"),
        ("CREATE TABLE t (id INTEGER PRIMARY KEY)", [TrackedTable("u")], "no table u"),
        (
            "CREATE TABLE t (id TEXT PRIMARY KEY, a); INSERT INTO t VALUES ('x', 1), (NULL, 2)", [TrackedTable("t")],
            "have no key: id is NULL"
        ),
        ("CREATE TABLE u (id INTEGER PRIMARY KEY); CREATE VIEW t AS SELECT * FROM u", [TrackedTable("t")], "no table t"),
        ("CREATE TABLE t (id INTEGER PRIMARY KEY, a)", [TrackedTable("t", key: ["b"])], "no column b"),
        (
            "CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE u (id INTEGER PRIMARY KEY REFERENCES t (id))",
            [TrackedTable("t"), TrackedTable("u")], "Give it an id of its own"
        ),
        (
            "CREATE TABLE t (a, b, PRIMARY KEY (a, b)); CREATE TABLE u (id INTEGER PRIMARY KEY, a, b, FOREIGN KEY (a, b) REFERENCES t (a, b))",
            [TrackedTable("t", key: ["a", "b"]), TrackedTable("u")], "by several columns"
        ),
        (
            "CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE u (id INTEGER PRIMARY KEY, t INTEGER NOT NULL DEFAULT 1 REFERENCES t)",
            [TrackedTable("t"), TrackedTable("u")], "Take the default away"
        ),
        ("CREATE TABLE t (a TEXT PRIMARY KEY, id, uuid, kith_id)", [TrackedTable("t", key: ["a"])], "none of which is its key"),
        (
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a REAL UNIQUE); INSERT INTO t VALUES (1, 1.5)", [TrackedTable("t", key: ["a"])],
            "NULL or a real"
        ),
        (
            "CREATE TABLE t (id INTEGER PRIMARY KEY); PRAGMA foreign_keys = OFF; CREATE TABLE u (t REFERENCES t); INSERT INTO u VALUES (5)",
            [TrackedTable("t")], "rows that are not there"
        ),
    ]

    @Test(arguments: refusals) func `what cannot be done is refused in words, and nothing is half done`(
        sql: String, tables: [TrackedTable], reason: String
    ) throws {
        let database = try DatabaseQueue()
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
        let before = try Self.dump(database)
        let error = #expect(throws: StoreError.self) { try KeyMigration(tables).run(on: database) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(try Self.dump(database) == before)
        #expect(try Self.text(database, "SELECT name FROM sqlite_temp_master") == [])
    }

    @Test func `a search index gets no ids, and goes on finding`() throws {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE VIRTUAL TABLE doc USING fts5 (a); INSERT INTO doc VALUES ('milk')") }
        let error = #expect(throws: StoreError.self) { try KeyMigration([TrackedTable("doc")]).run(on: database) }
        #expect(error?.message.contains("doc is a virtual table") == true, "\(error?.message ?? "")")
        #expect(try Self.text(database, "SELECT a FROM doc WHERE doc MATCH 'milk'") == ["milk"])
    }

    @Test func `a step of a migrator runs it, unless foreign keys are enforced there; a table that is tracked keeps its ids`() throws {
        for checks in [DatabaseMigrator.ForeignKeyChecks.deferred, .immediate] {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("v1") { try $0.execute(sql: Self.sql) }
            migrator.registerMigration("uuids", foreignKeyChecks: checks) { try Self.migration(.text).run($0) }
            let database = try DatabaseQueue()
            if checks == .immediate {
                let error = #expect(throws: StoreError.self) { try migrator.migrate(database) }
                #expect(error?.message.contains("foreignKeyChecks") == true)
                #expect(try Self.text(database, "SELECT title FROM recipe WHERE id = 7") == ["soup"])
                continue
            }
            let store = try SyncedDatabase(database, tables: Self.tables, migrator: migrator, options: TestStore.options())
            #expect(try store.verify().problems == [])
            store.close()
        }
        let database = try Self.database("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT)")
        let store = try SyncedDatabase(database, tables: [TrackedTable("t")], options: TestStore.options())
        try database.write { try $0.execute(sql: "INSERT INTO t VALUES (?, 'a')", arguments: [key(1)]) }
        store.close()
        let error = #expect(throws: StoreError.self) { try KeyMigration([TrackedTable("t", ids: .text)]).run(on: database) }
        #expect(error?.message.contains("final") == true)
    }

    @Test func `ids of two forms become one, and a natural key gives rows with other ids theirs`() throws {
        let database = try Self.database(
            """
            CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a TEXT); CREATE TABLE u (id TEXT PRIMARY KEY NOT NULL, t TEXT REFERENCES t (id));
            INSERT INTO t VALUES ('018F3C2E-4A6B-7C1D-9E2F-3A4B5C6D7E8F', 'upper'), ('018f3c2e-4a6b-7c1d-9e2f-3a4b5c6d7e90', 'lower');
            INSERT INTO u VALUES ('018f3c2e-4a6b-7c1d-9e2f-3a4b5c6d7e91', '018F3C2E-4A6B-7C1D-9E2F-3A4B5C6D7E8F');
            CREATE TABLE day (id TEXT PRIMARY KEY NOT NULL, day TEXT NOT NULL UNIQUE);
            INSERT INTO day VALUES ('018f3c2e-4a6b-7c1d-9e2f-3a4b5c6d7e92', '2026-11-21');
            """)
        let tables = [TrackedTable("t", ids: .text), TrackedTable("u"), TrackedTable("day", key: ["day"])]
        try KeyMigration(tables, form: .text).run(on: database)
        #expect(try Self.text(database, "SELECT t.id || t.a FROM u JOIN t ON t.id = u.t") == ["018f3c2e-4a6b-7c1d-9e2f-3a4b5c6d7e8fupper"])
        #expect(try SyncedDatabase.check(database, tables: tables).problems.map(\.message) == [])
        #expect(try SyncedDatabase(database, tables: tables, options: TestStore.options()).verify().problems == [])
    }

    @Test func `references that SQLite compares without regard to case follow their rows`() throws {
        let database = try Self.database(
            """
            CREATE TABLE city (name TEXT COLLATE NOCASE PRIMARY KEY, land TEXT);
            CREATE TABLE note (id INTEGER PRIMARY KEY, city TEXT REFERENCES city (name));
            INSERT INTO city VALUES ('Bern', 'CH');
            INSERT INTO note VALUES (1, 'BERN'), (2, 'bern');
            """)
        let tables = [TrackedTable("city"), TrackedTable("note")]
        try KeyMigration(tables).run(on: database)
        #expect(try Self.text(database, "SELECT land FROM note JOIN city ON city.name = note.city") == ["CH", "CH"])
        #expect(try SyncedDatabase.check(database, tables: tables).problems.map(\.message) == [])
        #expect(try SyncedDatabase(database, tables: tables, options: TestStore.options()).verify().problems == [])
    }
}
