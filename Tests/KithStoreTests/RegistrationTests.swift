import Foundation
import GRDB
import KithCausality
import KithLedger
import KithStore
import KithSync
import Testing

@Suite("A table is tracked that cannot be merged")
struct RegistrationTests {
    private static func open(_ sql: String, _ table: TrackedTable) throws {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: sql) }
        let store = try SyncedDatabase(database, tables: [table])
        store.close()
    }

    private static let mergeable = [
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a)",
        "CREATE TABLE t (id BLOB PRIMARY KEY, a)",
        "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a)",
        "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, a TEXT)",
        "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a TEXT) STRICT",
        "CREATE TABLE t (id VARCHAR(36) PRIMARY KEY, a)",
        "CREATE TABLE t (id UUID PRIMARY KEY NOT NULL, a)",
        "CREATE TABLE t (id BLOB(16) PRIMARY KEY NOT NULL, a)",
        "CREATE TABLE t (id PRIMARY KEY NOT NULL, a)",
        "CREATE TABLE t (id ANY PRIMARY KEY NOT NULL, a ANY) STRICT",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, oid INTEGER, _rowid_ TEXT)",
        "CREATE TABLE t (id blob primary key not null, a)",
        "CREATE TABLE t (id BLOB NOT NULL, a TEXT, PRIMARY KEY (id))",
        "CREATE TABLE t (a TEXT, id BLOB PRIMARY KEY NOT NULL) STRICT",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a ANY) STRICT",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT NOT NULL DEFAULT '')",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a INT NOT NULL DEFAULT (1 + 1))",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a REAL DEFAULT 1.5, b NUMERIC, c VARCHAR(10))",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT, b AS (a || '!') VIRTUAL)",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT, b AS (a || '!') STORED)",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT COLLATE NOCASE)",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT CHECK (length(a) < 100))",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); CREATE INDEX i ON t (a)",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); CREATE INDEX i ON t (a) WHERE a > 1",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, p BLOB REFERENCES t (id))",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, \"a \"\"b\" TEXT, [select] INT, 'c''d' TEXT)",
        "CREATE TABLE t (\"the id\" BLOB PRIMARY KEY NOT NULL, a)",
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a DATE DEFAULT CURRENT_TIMESTAMP)",
        "CREATE TABLE t (id BLOB PRIMARY KEY ON CONFLICT REPLACE NOT NULL, a)",
    ]

    @Test(arguments: mergeable) func `what can be merged is taken`(sql: String) throws {
        try Self.open(sql, TrackedTable("t"))
    }

    private static let unmergeable: [(sql: String, reason: String)] = [
        ("CREATE TABLE u (id BLOB PRIMARY KEY NOT NULL)", "no such table"),
        ("CREATE TABLE T (id BLOB PRIMARY KEY NOT NULL)", "case-sensitive"),
        ("CREATE VIEW t AS SELECT 1", "it is a view"),
        ("CREATE VIRTUAL TABLE t USING fts5 (a)", "not an ordinary table"),
        ("CREATE TEMP TABLE t (id BLOB PRIMARY KEY NOT NULL)", "no such table"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID", "WITHOUT ROWID"),
        ("CREATE TABLE t (a)", "primary key must be one column"),
        ("CREATE TABLE t (id BLOB UNIQUE NOT NULL)", "primary key must be one column"),
        ("CREATE TABLE t (id BLOB, b BLOB, PRIMARY KEY (id, b))", "primary key must be one column"),
        ("CREATE TABLE t (id INTEGER PRIMARY KEY)", "declared INTEGER"),
        ("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a)", "declared INTEGER"),
        ("CREATE TABLE t (id INT PRIMARY KEY NOT NULL)", "declared INT"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT UNIQUE)", "a is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a, b, UNIQUE (a, b))", "a, b is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); CREATE UNIQUE INDEX i ON t (a)", "a is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); CREATE UNIQUE INDEX i ON t (a) WHERE a > 1", "a is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); CREATE UNIQUE INDEX i ON t (lower(a))", "is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL UNIQUE, a TEXT UNIQUE)", "is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT NOT NULL)", "NOT NULL without a default"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a INT NOT NULL DEFAULT NULL)", "NOT NULL without a default"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); INSERT INTO t VALUES (x'01', 1)", "not a BLOB of 16 bytes"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY, a); INSERT INTO t VALUES (NULL, 1)", "not a BLOB of 16 bytes"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY, a); INSERT INTO t VALUES ('0123456789abcdef', 1)", "not a BLOB of 16 bytes"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL)", "no column that synchronises beside its id"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a AS (hex(id)))", "no column that synchronises beside its id"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, RowID INTEGER)", "hides SQLite's rowid"),
        ("CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, a TEXT) STRICT", "declared INTEGER"),
        (
            "CREATE TABLE t (id BLOB PRIMARY KEY, \((0...60).map { "c\($0)" }.joined(separator: ", ")))",
            "it has 61 columns; at most 60"
        ),
    ]

    @Test(arguments: unmergeable) func `what cannot is refused with the reason and the way out`(sql: String, reason: String) throws {
        let error = #expect(throws: StoreError.self) { try Self.open(sql, TrackedTable("t")) }
        #expect(error?.code == .tableRejected)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    private static let misfits: [(table: TrackedTable, sql: String, reason: String)] = [
        (TrackedTable("t", sets: ["x"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL)", "no column x"),
        (TrackedTable("t", localColumns: ["x"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL)", "no column x"),
        (
            TrackedTable("t", localColumns: ["x"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a, x TEXT NOT NULL)",
            "x is NOT NULL without a default, so a row from a machine that does not send it"
        ),
        (
            TrackedTable("t"), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, \(String(repeating: "x", count: 600)) TEXT)",
            "longer than 512 bytes"
        ),
        (TrackedTable("t"), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a, \"\" TEXT)", "a column of it has no name"),
        (TrackedTable("t", texts: ["a"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a JSON)", "a is a text, which needs TEXT"),
        (TrackedTable("t", ids: .blob), "CREATE TABLE t (id INTEGER PRIMARY KEY, a)", "INTEGER, which cannot hold a BLOB of 16 bytes"),
        (TrackedTable("t", ids: .text), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL) STRICT", "BLOB, which cannot hold the 36"),
        (TrackedTable("t", counters: ["id"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL)", "the key"),
        (TrackedTable("kith_x"), "CREATE TABLE kith_x (id BLOB PRIMARY KEY NOT NULL)", "Kith's own"),
        (TrackedTable("sqlite_sequence"), "CREATE TABLE x (id INTEGER PRIMARY KEY AUTOINCREMENT)", "SQLite's own"),
        (TrackedTable(String(repeating: "t", count: 2_000)), "SELECT 1", "longer than"),
        (TrackedTable(""), "SELECT 1", "no such table"),
        (
            TrackedTable("t", sets: ["a"]),
            "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT); INSERT INTO t VALUES (zeroblob(16), 'x')",
            "JSON array"
        ),
        (
            TrackedTable("t", counters: ["a"]),
            "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a INTEGER); INSERT INTO t VALUES (zeroblob(16), 'x')",
            "INTEGER"
        ),
        (
            TrackedTable("t", counters: ["a"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT)",
            "a is a counter, which needs INTEGER; its column is TEXT"
        ),
        (TrackedTable("t", counters: ["a"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a)", "its column is without a type"),
        (TrackedTable("t", sets: ["a"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a INTEGER)", "a is a set, which needs TEXT"),
        (TrackedTable("t", sets: ["a"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a BLOB) STRICT", "its column is BLOB"),
        (TrackedTable("t", texts: ["a"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a NUMERIC)", "a is a text, which needs TEXT"),
        (TrackedTable("t", sets: ["a"], texts: ["a"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT)", "of two kinds"),
        (
            TrackedTable("t", counters: ["a"], localColumns: ["a"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a INTEGER)",
            "of two kinds"
        ),
        (
            TrackedTable("t", counters: ["Stock"]),
            "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, Stock INTEGER NOT NULL DEFAULT 0, CHECK ('Stock' <> '' AND abs([stock]) < 9))",
            "a CHECK looks at the counter Stock"
        ),
        (
            TrackedTable("t"), "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, p TEXT REFERENCES t)",
            "a key that SQLite compares by NOCASE"
        ),
        (TrackedTable("a\"b"), "CREATE TABLE \"a\"\"b\" (id BLOB PRIMARY KEY NOT NULL, a)", "quotation mark"),
        (
            TrackedTable("t", key: ["a"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT NOT NULL UNIQUE COLLATE NOCASE)",
            "Drop the COLLATE"
        ),
    ]

    @Test(arguments: misfits)
    func `a declaration that does not fit the table is refused`(table: TrackedTable, sql: String, reason: String) throws {
        let error = #expect(throws: StoreError.self) { try Self.open(sql, table) }
        #expect(error?.code == .tableRejected)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func `the check finds something exactly where opening refuses, of each kind`() throws {
        let reference = "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, p BLOB REFERENCES z (id))"
        let cases =
            (Self.mergeable + Self.unmergeable.map(\.sql) + [reference]).map { (TrackedTable("t"), $0) }
            + Self.misfits.map { ($0.table, $0.sql) }
        var codes: Set<SchemaProblem.Code> = []
        for (table, sql) in cases {
            let database = try DatabaseQueue()
            try database.write { try $0.execute(sql: sql) }
            let check = try SyncedDatabase.check(database, tables: [table])
            codes.formUnion(check.problems.map(\.code))
            let isRefused: Bool
            do {
                try Self.open(sql, table)
                isRefused = false
            } catch is StoreError {
                isRefused = true
            }
            #expect(check.isReady == !isRefused, "\(sql)")
        }
        #expect(codes == Set(SchemaProblem.Code.allCases))
    }

    @Test func `a refusal leaves the database as it was`() throws {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); CREATE TABLE u (a UNIQUE)") }
        #expect(throws: StoreError.self) { try SyncedDatabase(database, tables: [TrackedTable("t"), TrackedTable("u")]) }
        let names = try database.read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'kith%'") }
        #expect(names == [])
        try database.write { try $0.execute(sql: "INSERT INTO t VALUES (zeroblob(16), 1)") }
    }

    @Test func `the same table declared twice is refused`() throws {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a)") }
        let error = #expect(throws: StoreError.self) { try SyncedDatabase(database, tables: [TrackedTable("t"), TrackedTable("t")]) }
        #expect(error?.code == .tableRejected)
    }

    @Test(
        arguments: [
            "a TEXT CHECK (length(a) < 9)", "a TEXT CHECK ('stock' <> a)", "a TEXT DEFAULT 'check (stock)'",
            "a TEXT /* CHECK (stock > 0) */",
            "\"check\" TEXT DEFAULT (stock2())",
        ])
    func `a CHECK that does not look at a counter is no reason, nor is what looks like one`(column: String) throws {
        try Self.open(
            "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, stock INTEGER NOT NULL DEFAULT 0, \(column.replacing("stock2()", with: "1")))",
            TrackedTable("t", counters: ["stock"]))
    }

    @Test func `all that stands against the tables is said at once`() throws {
        let database = try DatabaseQueue()
        try database.write {
            try $0.execute(
                sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL, b UNIQUE, p REFERENCES z (id)); CREATE TABLE u (a)")
        }
        let error = #expect(throws: StoreError.self) {
            try SyncedDatabase(database, tables: [TrackedTable("t", sets: ["c"]), TrackedTable("u"), TrackedTable("v")])
        }
        let message = try #require(error?.message)
        for reason in [
            "Table t cannot be tracked, for 5 reasons", "declared INTEGER", "a is NOT NULL", "b is UNIQUE", "no column c", "refers to z",
            "Table u cannot be tracked: its primary key", "Table v cannot be tracked: there is no such table",
        ] { #expect(message.contains(reason), "\(message)") }
    }

    @Test(arguments: ["UTF-16le", "UTF-16be"]) func `a database that keeps text as UTF-16 is refused in words`(name: String) throws {
        let database = try DatabaseQueue()
        try database.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA encoding = '\(name)'; CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a)")
        }
        let error = #expect(throws: StoreError.self) { try SyncedDatabase(database, tables: [TrackedTable("t")]) }
        #expect(error?.code == .notAStore)
        #expect(error?.message.contains("keeps text as \(name)") == true)
    }

    @Test func `a key of another declared type holds ids, which peers understand`() throws {
        let sql = "CREATE TABLE note (id UUID PRIMARY KEY NOT NULL, title TEXT)"
        let (first, second) = (
            try TestStore(sql: sql, tables: [TrackedTable("note")]), try TestStore(sql: sql, tables: [TrackedTable("note")])
        )
        try first.execute("INSERT INTO note VALUES (?, 'a')", [key(1)])
        try second.receive(from: first)
        #expect(try second.row(rowID(1))?["title"] == "a")
        try second.expectSound()
    }

    @Test func `rows that were there before become one commit`() throws {
        let notes = try TestStore(
            sql: TestStore.noteSQL + "; INSERT INTO note (id, title) VALUES (x'\(rowID(1))', 'a'), (x'\(rowID(2))', 'b')")
        #expect(try notes.sequence() == 1)
        #expect(try notes.state(rowID(1))?.sequences("title") == [1])
        let other = try TestStore()
        try other.receive(from: notes)
        #expect(try other.row(rowID(2))?["title"] == "b")
        try notes.expectSound()
    }

    @Test func `sixty columns can be tracked, each with a change of its own`() throws {
        let columns = (0..<TrackedTable.columnsMax).map { "c\($0)" }
        let sql = "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, \(columns.joined(separator: ", ")))"
        let notes = try TestStore(sql: sql, tables: [TrackedTable("t")])
        try notes.execute("INSERT INTO t (id) VALUES (?)", [key(1)])
        for (index, column) in columns.enumerated() {
            try notes.execute("UPDATE t SET \(column) = 1")
            #expect(try notes.state(rowID(1), table: "t")?.sequences(column) == [UInt64(index + 2)])
        }
        try notes.expectSound()
    }

    private static let formats: [(sql: String, code: StoreError.Code, words: String)] =
        (1..<StoreFormat.current).map { ("\($0)", .notAStore, "an older version of Kith (format \($0);") }
        + [StoreFormat.current + 1, .max].map { ("\($0)", .notAStore, "a newer version of Kith (format \($0);") }
        + ["0", "-1", "NULL", "7.5", "'\(StoreFormat.current)'", "x'08'"].map { ($0, .corrupt, "what no version of Kith writes") }

    @Test(arguments: formats)
    func `a store of another format is refused, called what it is, and not touched`(
        format: String, code: StoreError.Code, words: String
    ) throws {
        let notes = try TestStore(.queue)
        notes.store.close()
        try notes.execute("UPDATE kith_meta SET value = \(format) WHERE name = 'format'")
        let before = try notes.database.read { try Row.fetchAll($0, sql: "SELECT * FROM kith_meta") }
        let error = #expect(throws: StoreError.self) { try SyncedDatabase(notes.database, tables: [TestStore.note]) }
        #expect(error?.code == code)
        #expect(error?.message.contains(words) == true)
        #expect(try notes.database.read { try Row.fetchAll($0, sql: "SELECT * FROM kith_meta") } == before)
    }

    @Test(arguments: Backend.allCases)
    func `a program that has the store open notices when a newer version takes it over`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        // As a newer version does, which also counts the catalog on.
        try notes.execute("UPDATE kith_meta SET value = value + 1 WHERE name IN ('format', 'catalog')")
        #expect(throws: DatabaseError.self) { try notes.execute("UPDATE note SET color = 1") }
        let error = #expect(throws: StoreError.self) { try notes.store.delta(since: VersionVector()) }
        #expect(error?.code == .notAStore)
    }

    @Test(arguments: Backend.allCases) func `a store that was closed answers with a StoreError, and with nothing else`(backend: Backend)
        throws
    {
        let notes = try TestStore(backend)
        notes.store.close()
        do throws(StoreError) {
            _ = try notes.store.trash()
            Issue.record("A closed store answers.")
        } catch {
            #expect(error.code == .failed)
        }
        #expect(throws: StoreError.self) { try notes.store.restore(table: "note", id: RowID(high: 0, low: 1)) }
    }
}
