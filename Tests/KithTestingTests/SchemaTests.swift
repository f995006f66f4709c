import GRDB
import KithStore
import KithTesting
import TestSupport
import Testing

/// Risk: an app's schema is called broken for what SQLite does with it, or green though nothing of it was judged.
@Suite struct SchemaTests {
    private static func simulator(_ sql: String, _ table: TrackedTable = TrackedTable("note")) throws -> KithSimulator {
        var simulator = try KithSimulator(SimulatedSchema(sql: sql, tables: [table]))
        simulator.nodeCount = 3
        simulator.commitCount = 25
        return simulator
    }

    private static func note(_ columns: String) -> String { "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, \(columns));" }

    @Test(
        arguments: [
            "done INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1)), title TEXT",
            "rank INTEGER NOT NULL DEFAULT 1 CHECK (rank BETWEEN 1 AND 5), title TEXT CHECK (length(title) < 50)",
            "state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'done')), title TEXT",
            "price DECIMAL(10, 2) DEFAULT 0.0, title TEXT", "n TEXT DEFAULT 0, r REAL DEFAULT 1, i INTEGER DEFAULT '5', b BLOB DEFAULT '5'",
            "made TEXT DEFAULT CURRENT_TIMESTAMP, token BLOB DEFAULT (randomblob(8)), moment REAL DEFAULT (julianday('now')), title TEXT",
            "j TEXT NOT NULL DEFAULT '{}', title TEXT); CREATE INDEX kind ON note (json_extract(j, '$.kind')",
            "j TEXT NOT NULL DEFAULT '{}', kind TEXT GENERATED ALWAYS AS (json_extract(j, '$.kind')) STORED, title TEXT",
            "j TEXT DEFAULT (json('{}')), t TEXT DEFAULT ('a' || 'b'), b BOOLEAN DEFAULT TRUE, d DATE",
        ])
    func `what SQLite makes of defaults and constraints is no fault of the store`(columns: String) throws {
        let failures = try Self.simulator(Self.note(columns)).failures(seeds: 0..<UInt64(Soak.count(1, soaking: 3)))
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func `a text that no longer is what an index of the app can read is no fault of the store`() throws {
        let sql = Self.note("body TEXT NOT NULL DEFAULT '{}', title TEXT") + "CREATE INDEX kind ON note (json_extract(body, '$.kind'))"
        let failures = try Self.simulator(sql, TrackedTable("note", texts: ["body"])).failures(
            seeds: 0..<UInt64(Soak.count(2, soaking: 20)))
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func `a constraint is obeyed in texts, too, and by who resolves`() throws {
        let sql = Self.note("body TEXT NOT NULL DEFAULT '' CHECK (body IS NOT 'x'), done INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1))")
        let simulator = try Self.simulator(sql, TrackedTable("note", texts: ["body"]))
        let failures = try simulator.failures(seeds: 0..<3)
        #expect(failures.isEmpty, "\(failures)")
        let report = simulator.run(
            try simulator.script(
                parsing: "nodes 2\nA: insert note 1\nA: resolve note 1 done=5; update note 1 done=7\nA: update note 1 done=1"))
        #expect(report.violation == nil)
        #expect(report.statistics.commits == 3)
    }

    @Test(arguments: KeyForm.allCases)
    func `tables whose ids are text, with references that every row has, and others, synchronise as those with BLOBs do`(form: KeyForm)
        throws
    {
        let sql = """
            CREATE TABLE parent (id TEXT PRIMARY KEY NOT NULL, name TEXT, n INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE child (id TEXT PRIMARY KEY NOT NULL DEFAULT (kith_uuid_text()), name TEXT,
                a TEXT NOT NULL REFERENCES parent (id) ON DELETE CASCADE, b TEXT REFERENCES parent (id) ON DELETE RESTRICT,
                c TEXT REFERENCES child (id) ON DELETE SET NULL);
            CREATE TABLE entry (id TEXT PRIMARY KEY NOT NULL, day TEXT NOT NULL UNIQUE, p TEXT NOT NULL REFERENCES parent (id),
                body TEXT NOT NULL DEFAULT '', tags TEXT NOT NULL DEFAULT '[]');
            """
        let tables = [
            TrackedTable("parent", counters: ["n"], ids: form), TrackedTable("child", ids: form),
            TrackedTable("entry", sets: ["tags"], texts: ["body"], key: ["day"], ids: form),
        ]
        let draws: [KeyForm: String] = [.blob: "kith_uuid()", .text: "kith_uuid_text()", .upperCaseText: "upper(kith_uuid_text())"]
        let made = sql.replacing("kith_uuid_text()", with: draws[form] ?? "")
        var simulator = try KithSimulator(SimulatedSchema(sql: made, tables: tables))
        simulator.nodeCount = 3
        simulator.commitCount = 25
        let failures = try simulator.failures(seeds: 0..<UInt64(Soak.count(1, soaking: 60)))
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func `the same seed gives the same trace, though the default is another one each time`() throws {
        let sql = Self.note("made TEXT DEFAULT CURRENT_TIMESTAMP, token TEXT DEFAULT (hex(randomblob(8))), title TEXT")
        let hashes = try (0..<2).map { _ in
            let simulator = try Self.simulator(sql)
            return try simulator.run(simulator.script(seed: 1)).traceHash
        }
        #expect(hashes[0] == hashes[1])
    }

    @Test func `rows that a migration inserts are left out`() throws {
        let sql = Self.note("title TEXT") + "INSERT INTO note VALUES (randomblob(16), 'welcome');"
        let failures = try Self.simulator(sql).failures(seeds: 0..<UInt64(Soak.count(1, soaking: 4)))
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func `a key that names rows of another table is refused`() throws {
        let sql = """
            CREATE TABLE tag (id BLOB PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE noteTag (
                id BLOB PRIMARY KEY NOT NULL, day TEXT NOT NULL, tag BLOB NOT NULL REFERENCES tag (id) ON DELETE CASCADE, UNIQUE (day, tag));
            """
        let schema = SimulatedSchema(tables: [TrackedTable("tag"), TrackedTable("noteTag", key: ["day", "tag"])]) { database in
            try database.write { try $0.execute(sql: sql) }
        }
        let error = #expect(throws: SchemaError.self) { try KithSimulator(schema) }
        #expect(error?.message.contains("The key of table noteTag names rows of another table (tag)") == true, "\(error?.message ?? "")")
    }

    @Test func `a trigger that writes a table that synchronises is refused by name, and one that keeps an index is not`() throws {
        let index = """
            CREATE TABLE found (note BLOB, word TEXT);
            CREATE TRIGGER find AFTER UPDATE ON note BEGIN INSERT INTO found VALUES (new.id, new.title); END;
            """
        let touch =
            "CREATE TRIGGER touch AFTER UPDATE OF title ON note BEGIN UPDATE Note SET updated = datetime('now') WHERE id = new.id; END;"
        let chain = "CREATE TRIGGER late AFTER INSERT ON found BEGIN DELETE FROM note WHERE title = new.word; END;"
        let tables = Self.note("title TEXT, updated TEXT") + index
        #expect(try Self.simulator(tables).failures(seeds: 0..<2).isEmpty)
        for (trigger, name) in [(touch, "touch"), (chain, "late")] {
            let error = #expect(throws: SchemaError.self) { try Self.simulator(tables + trigger) }
            #expect(error?.message.contains("The trigger \(name) writes the table note") == true, "\(error?.message ?? "")")
        }
    }

    @Test(
        arguments: [
            (TrackedTable("note", counters: ["title"]), "a counter, which needs INTEGER; its column is TEXT"),
            (TrackedTable("note", sets: ["weight"]), "a set, which needs TEXT; its column is REAL"),
            (TrackedTable("note", texts: ["views"]), "a text, which needs TEXT; its column is INTEGER"),
        ])
    func `a column of a kind that is not for its type is refused`(table: TrackedTable, part: String) {
        let error = #expect(throws: StoreError.self) {
            try Self.simulator(Self.note("title TEXT, weight REAL, views INTEGER NOT NULL DEFAULT 0"), table)
        }
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test func `an update that inserts rows is refused`() throws {
        var schema = SimulatedSchema(tables: [TrackedTable("note")]) { database in
            try database.write { db in
                if try !db.tableExists("note") { try db.execute(sql: Self.note("title TEXT")) }
                try db.execute(sql: "INSERT INTO note VALUES (x'00000000000000000000000000000001', 'new here')")
            }
        }
        #expect(throws: Never.self) { try KithSimulator(schema) }
        schema.older = .init(tables: [TrackedTable("note")]) { database in
            try database.write { try $0.execute(sql: Self.note("title TEXT")) }
        }
        let error = #expect(throws: SchemaError.self) { try KithSimulator(schema) }
        #expect(error?.message.contains("inserts or changes rows") == true, "\(error?.message ?? "")")
    }

    @Test(
        arguments: [
            "UPDATE note SET title = 'x'", "ALTER TABLE note ADD COLUMN rank INTEGER; UPDATE note SET rank = 3 WHERE rank IS NULL",
            "DELETE FROM note WHERE title IS NULL",
        ])
    func `an update that changes rows is refused, and not called a fault`(update: String) {
        let schema = SimulatedSchema(
            sql: Self.note("title TEXT"), olderTables: [TrackedTable("note")], update: update, tables: [TrackedTable("note")])
        let error = #expect(throws: SchemaError.self) { try KithSimulator(schema) }
        #expect(error?.message.contains("inserts or changes rows") == true, "\(error?.message ?? "")")
    }

    @Test(
        arguments: [
            "ALTER TABLE note ADD COLUMN rank INTEGER NOT NULL DEFAULT 4; ALTER TABLE note DROP COLUMN old;",
            """
            CREATE TABLE built (id BLOB PRIMARY KEY NOT NULL, rank INTEGER NOT NULL DEFAULT 4, title TEXT NOT NULL DEFAULT 'none');
            INSERT INTO built (id, title) SELECT id, coalesce(title, 'none') FROM note;
            DROP TABLE note;
            ALTER TABLE built RENAME TO note;
            """,
        ])
    func `an update drops columns and builds tables anew, and no row goes with them`(update: String) throws {
        var simulator = try KithSimulator(
            SimulatedSchema(
                sql: Self.note("title TEXT NOT NULL DEFAULT 'none', old TEXT"),
                olderTables: [TrackedTable("note")], update: update, tables: [TrackedTable("note")]))
        simulator.nodeCount = 3
        simulator.commitCount = 25
        simulator.faults = [.oldVersion, .lostConnection, .crash, .foundRows]
        simulator.faultRates = [.oldVersion: 0.1]
        let failures = try simulator.failures(seeds: 0..<UInt64(Soak.count(2, soaking: 5)))
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func `a migration of an app's own that drops a column is told what to call first`() throws {
        var schema = SimulatedSchema(tables: [TrackedTable("note")]) { database in
            try database.write { db in
                if try !db.tableExists("note") { try db.execute(sql: Self.note("title TEXT, rest TEXT")) }
                try db.execute(sql: "ALTER TABLE note DROP COLUMN title")
            }
        }
        schema.older = .init(tables: [TrackedTable("note")]) { database in
            try database.write { try $0.execute(sql: Self.note("title TEXT, rest TEXT")) }
        }
        let error = #expect(throws: SchemaError.self) { try KithSimulator(schema) }
        #expect(error?.message.contains("SyncedDatabase.removeTriggers") == true, "\(error?.message ?? "")")
    }

    @Test(
        arguments: [
            (TrackedTable("note", key: ["title"]), "ADD COLUMN more TEXT", "a natural key cannot change"),
            (TrackedTable("note", texts: ["rest"]), "ADD COLUMN more TEXT", "note.rest as another kind"),
        ])
    func `an update that cannot be taken over says why`(table: TrackedTable, change: String, part: String) throws {
        let schema = SimulatedSchema(
            sql: Self.note("title TEXT, rest TEXT"), olderTables: [TrackedTable("note")], update: "ALTER TABLE note \(change)",
            tables: [table])
        let error = #expect(throws: SchemaError.self) { try KithSimulator(schema) }
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test func `a table that no trigger fills is not called judged`() throws {
        let fills = "CREATE TRIGGER t AFTER INSERT ON note BEGIN INSERT INTO copy VALUES (new.id, new.title); END;"
        for (kind, trigger) in [("", ""), ("WITHOUT ROWID", fills)] {
            var schema = SimulatedSchema(
                sql: Self.note("title TEXT") + "CREATE TABLE copy (id PRIMARY KEY, title) \(kind);\(trigger)",
                tables: [TrackedTable("note")])
            schema.filled = [FilledTable("copy", holds: "SELECT id, title FROM note")]
            let error = #expect(throws: SchemaError.self) { try KithSimulator(schema) }
            #expect(error?.message.contains("nothing would be judged") == true, "\(error?.message ?? "")")
        }
    }

    @Test func `a transaction that a deferred foreign key ends is no fault of the store`() throws {
        let sql =
            Self.note("title TEXT") + """
                CREATE TABLE line (id BLOB PRIMARY KEY NOT NULL, note BLOB NOT NULL REFERENCES note (id) DEFERRABLE INITIALLY DEFERRED);
                """
        var simulator = try KithSimulator(SimulatedSchema(sql: sql, tables: [TrackedTable("note"), TrackedTable("line")]))
        simulator.nodeCount = 3
        simulator.commitCount = 25
        let failures = try simulator.failures(seeds: 0..<UInt64(Soak.count(3, soaking: 20)))
        #expect(failures.isEmpty, "\(failures)")
        let two = "x'00000000000000000000000000000002'"
        let report = simulator.run(
            try simulator.script(parsing: "nodes 1\nA: insert line 1 note=\(two)\nA: insert line 3 note=\(two); insert note 2"))
        #expect(report.violation == nil && report.statistics.commits == 1)
    }

    @Test(
        arguments: [
            (.sum(table: "nosuch", column: "n"), "a counter"), (.sum(table: "note", column: "title"), "a counter"),
            (.ring(table: "note", column: "n"), "written as a whole"), (.ring(table: "note", column: "parent"), "refers to no table"),
            (.order(table: "note", column: "title"), "the position"),
        ] as [(Invariant, String)])
    func `an invariant that no statement keeps is refused and not called broken`(invariant: Invariant, part: String) {
        let sql = Self.note("title TEXT, n INTEGER NOT NULL DEFAULT 0, parent BLOB REFERENCES note (id)")
        var schema = SimulatedSchema(sql: sql, tables: [TrackedTable("note", counters: ["n"])])
        schema.invariants = [invariant]
        let error = #expect(throws: SchemaError.self) { try KithSimulator(schema) }
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test func `a schema of which nothing would be judged is refused`() {
        #expect(throws: SchemaError.self) { try KithSimulator(SimulatedSchema(sql: Self.note("title TEXT"), tables: [])) }
        var schema = SimulatedSchema(sql: Self.note("title TEXT"), tables: [TrackedTable("note")])
        schema.judgesHistory = true
        #expect(throws: SchemaError.self) { try KithSimulator(schema) }
    }
}
