import Foundation
import GRDB
import KithStore
import TestSupport
import Testing

@Suite("A developer learns of one obstacle after the other")
struct SchemaCheckTests {
    /// What an app might have that was not made for synchronisation.
    static let sql = """
        CREATE TABLE recipe (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, cooked INTEGER NOT NULL DEFAULT 0 CHECK (cooked >= 0),
            tags TEXT NOT NULL DEFAULT '[]', code TEXT UNIQUE, updated TEXT);
        CREATE TABLE step (id INTEGER PRIMARY KEY, recipe INTEGER NOT NULL REFERENCES recipe (id) ON DELETE CASCADE, text TEXT NOT NULL DEFAULT '');
        CREATE TABLE tag (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
        CREATE UNIQUE INDEX tag_name ON tag (name);
        CREATE TABLE recipeTag (recipe INTEGER NOT NULL REFERENCES recipe (id), tag TEXT NOT NULL REFERENCES tag (id), PRIMARY KEY (recipe, tag)) WITHOUT ROWID;
        CREATE TABLE journal (day TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL DEFAULT '');
        CREATE VIEW titles AS SELECT id, title FROM recipe;
        CREATE INDEX step_recipe ON step (recipe);
        CREATE TRIGGER touch AFTER UPDATE OF title ON recipe BEGIN UPDATE recipe SET updated = 'now' WHERE id = new.id; END;
        INSERT INTO recipe (title, tags) VALUES ('soup', 'x'), ('bread', '["a"]');
        INSERT INTO step VALUES (1, 1, 'boil'), (2, 2, 'bake');
        INSERT INTO tag VALUES ('018f3c2e-4a6b-7c1d-9e2f-3a4b5c6d7e8f', 'quick');
        INSERT INTO recipeTag VALUES (1, '018f3c2e-4a6b-7c1d-9e2f-3a4b5c6d7e8f');
        INSERT INTO journal VALUES ('2026-11-21', 'Rain');
        """
    private static let tables = [
        TrackedTable("recipe", sets: ["tags"], counters: ["cooked"]), TrackedTable("step"), TrackedTable("tag"), TrackedTable("recipeTag"),
        TrackedTable("journal"),
    ]

    private static func database(_ sql: String = sql) throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: sql) }
        return database
    }

    @Test(arguments: [
        ("b TEXT UNIQUE", "from NULL, which 1 row has", false), ("b TEXT COLLATE NOCASE UNIQUE", "another collation", false),
        ("b TEXT, UNIQUE (id, b)", "from NULL, which 1 row has", false),
        ("b TEXT); CREATE UNIQUE INDEX i ON t (lower(b)", "an expression", false),
        ("b TEXT); CREATE UNIQUE INDEX i ON t (b) WHERE (b > ''", "some rows only", false),
        ("b TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'x' UNIQUE", "Derive the id", true),
    ])
    func `a key is advised only where ids can follow from it`(columns: String, words: String, isAdvised: Bool) throws {
        let database = try Self.database(
            "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, \(columns)); INSERT INTO t VALUES (randomblob(16), 'a'), (randomblob(16), NULL)")
        let problems = try SyncedDatabase.check(database, tables: [TrackedTable("t")]).problems.filter { $0.code == .unique }
        #expect(problems.count == 1)
        #expect(problems.first?.message.contains(words) == true, "\(problems)")
        #expect((problems.first?.declaration != nil) == isAdvised)
        #expect(problems.first?.message.contains("Derive the id") == isAdvised)
    }

    @Test func `a snapshot of a database is checked as the database is`() throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("app.sqlite"))
        try pool.write { try $0.execute(sql: Self.sql) }
        let problems = try SyncedDatabase.check(pool, tables: Self.tables).problems
        #expect(try SyncedDatabase.check(pool.makeSnapshot(), tables: Self.tables).problems == problems && !problems.isEmpty)
    }

    @Test func `everything is told at once, each with what to write, and nothing is changed`() throws {
        let database = try Self.database()
        let before = try database.read { try String.fetchAll($0, sql: "SELECT coalesce(sql, name) FROM sqlite_master") }
        let check = try SyncedDatabase.check(database, tables: Self.tables)
        #expect(try database.read { try String.fetchAll($0, sql: "SELECT coalesce(sql, name) FROM sqlite_master") } == before)
        #expect(!check.isReady)
        func problem(_ table: String, _ code: SchemaProblem.Code, _ column: String? = nil) -> SchemaProblem? {
            check.problems.first { $0.table == table && $0.code == code && (column == nil || $0.column == column) }
        }
        #expect(problem("recipe", .key, "id") != nil)
        #expect(problem("recipe", .missingDefault, "title")?.sql == "title TEXT NOT NULL DEFAULT ''")
        #expect(problem("recipe", .check, "cooked")?.sql == "cooked INTEGER NOT NULL DEFAULT 0")
        #expect(problem("recipe", .unique, "code")?.sql == "code TEXT")
        #expect(problem("recipe", .unique, "code")?.declaration == nil)
        #expect(problem("tag", .unique, "name")?.declaration == "TrackedTable(\"tag\", key: [\"name\"])")
        #expect(problem("recipe", .values, "tags")?.sql?.hasPrefix("UPDATE \"recipe\" SET \"tags\" = '[]'") == true)
        #expect(problem("step", .missingDefault) == nil)
        #expect(problem("step", .key) != nil)
        #expect(problem("tag", .unique, "name")?.sql == "DROP INDEX \"tag_name\"; CREATE INDEX tag_name ON tag (name)")
        #expect(problem("tag", .missingDefault, "name") != nil)
        #expect(problem("tag", .key) == nil)
        #expect(problem("recipeTag", .table)?.sql?.contains("WITHOUT ROWID") == false)
        #expect(problem("journal", .key, "day")?.declaration == "TrackedTable(\"journal\", key: [\"day\"])")
        #expect(Set(check.problems.map(\.table)) == ["recipe", "step", "tag", "recipeTag", "journal"])
        let copy = try JSONDecoder().decode(SchemaCheck.self, from: JSONEncoder().encode(check))
        #expect(copy.problems.map(\.message) == check.problems.map(\.message))
    }

    @Test func `what the check says, done, is all: the script, new ids, and then the tables are ready`() throws {
        let database = try Self.database()
        let tables = [
            Self.tables[0], Self.tables[1], Self.tables[2], TrackedTable("recipeTag", key: ["recipe", "tag"]),
            TrackedTable("journal", key: ["day"]),
        ]
        let script = try SyncedDatabase.check(database, tables: tables).script
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.inTransaction {
                for statement in script { try db.execute(sql: statement) }; return .commit
            }
            try db.execute(sql: "PRAGMA foreign_keys = ON")
        }
        try KeyMigration(tables, form: .text).run(on: database)
        let check = try SyncedDatabase.check(database, tables: tables)
        #expect(check.problems.map(\.message) == [])
        #expect(check.keys == nil && check.script == [])
        let store = try SyncedDatabase(database, tables: tables, options: TestStore.options())
        #expect(try store.verify().problems == [])
        try database.write { try $0.execute(sql: "UPDATE recipe SET title = 'stew' WHERE title = 'soup'") }
        let shown = try database.read {
            try String.fetchAll(
                $0,
                sql:
                    "SELECT t.title || ' ' || r.updated || ' ' || s.text || ' ' || g.name FROM titles t JOIN recipe r ON r.id = t.id JOIN step s ON s.recipe = r.id JOIN recipeTag x ON x.recipe = r.id JOIN tag g ON g.id = x.tag"
            )
        }
        #expect(shown == ["stew now boil quick"])
    }

    @Test func `a table with a mark in its name is an objection, and keeps no other from being looked at`() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.file("app.sqlite"))
        try queue.write {
            try $0.execute(sql: "CREATE TABLE \"th\"\"ird\" (id BLOB PRIMARY KEY NOT NULL, a); CREATE TABLE t (id INTEGER PRIMARY KEY, b)")
        }
        let check = try SyncedDatabase.check(databaseAt: folder.file("app.sqlite")) { tables in
            #expect(tables == ["th\"ird": ["id", "a"], "t": ["id", "b"]])
            return tables.keys.sorted().map { TrackedTable($0) }
        }
        #expect(check.problems.contains { $0.table == "th\"ird" && $0.message.contains("quotation mark") })
        #expect(check.problems.contains { $0.table == "t" && $0.code == .key })
    }

    @Test func `tables that are ready have no problems, and what cannot be looked at is an error`() throws {
        let ready = try Self.database("CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL DEFAULT (kith_uuid_text()), a TEXT)")
        #expect(try SyncedDatabase.check(ready, tables: [TrackedTable("t")]).isReady)
        let missing = try SyncedDatabase.check(ready, tables: [TrackedTable("u")])
        #expect(missing.problems.map(\.code) == [.table])
        #expect(throws: StoreError.self) { try SyncedDatabase.check(databaseAt: "/nowhere/at/all") { _ in [] } }
        #expect(try ready.read { try SyncedDatabase.ownTables($0) } == ["t"])
    }

    private static let definitions: [(sql: String, edit: String, result: String)] = [
        ("CREATE TABLE t (a TEXT /* x */ NOT NULL, -- why\n b)", "default", "a TEXT /* x */ NOT NULL DEFAULT ''"),
        (
            "CREATE TABLE t (a, \"a b\" VARCHAR(3, 4) CONSTRAINT u UNIQUE ON CONFLICT REPLACE COLLATE NOCASE)", "unique",
            "\"a b\" VARCHAR(3, 4) COLLATE NOCASE"
        ),
        ("CREATE TABLE t (n INT CHECK (n IN (1, 2)) DEFAULT -1)", "check", "n INT DEFAULT -1"),
        ("CREATE TABLE t (n INT DEFAULT -1 NOT NULL)", "setDefault", "n INT DEFAULT 'x' NOT NULL"),
        ("CREATE TABLE t (n INT DEFAULT (1 + (2)) NOT NULL)", "setDefault", "n INT DEFAULT 'x' NOT NULL"),
        ("CREATE TABLE IF NOT EXISTS t ([n] UNSIGNED BIG INT NOT NULL)", "type", "[n] TEXT NOT NULL"),
        ("CREATE TABLE t (n NOT NULL)", "type", "n TEXT NOT NULL"),
    ]

    @Test(arguments: definitions) func `a definition is rewritten in place, and the rest of it stays as it was written`(
        sql: String, edit: String, result: String
    ) throws {
        let database = try Self.database(sql)
        let column = try #require(try database.read { try $0.columns(in: "t").last(where: { $0.name != "b" })?.name })
        #expect(try SchemaCheckProbe.rewritten(sql, column, edit) == result)
    }
}
