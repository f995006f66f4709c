import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A table is tracked that cannot be merged")
struct RegistrationTests {
    private static func open(_ sql: String, _ table: TrackedTable) throws {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: sql) }
        let store = try KithStore(database, tables: [table])
        store.close()
    }

    private static let mergeable = [
        "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL)",
        "CREATE TABLE t (id BLOB PRIMARY KEY)",
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

    @Test("what can be merged is taken", arguments: mergeable)
    func accepted(sql: String) throws {
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
        ("CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL)", "declared TEXT"),
        ("CREATE TABLE t (id INT PRIMARY KEY NOT NULL)", "declared INT"),
        ("CREATE TABLE t (id UUID PRIMARY KEY NOT NULL)", "declared UUID"),
        ("CREATE TABLE t (id BLOB(16) PRIMARY KEY NOT NULL)", "declared BLOB(16)"),
        ("CREATE TABLE t (id PRIMARY KEY NOT NULL)", "without a type"),
        ("CREATE TABLE t (id ANY PRIMARY KEY NOT NULL) STRICT", "declared ANY"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT UNIQUE)", "a is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a, b, UNIQUE (a, b))", "a, b is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); CREATE UNIQUE INDEX i ON t (a)", "a is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); CREATE UNIQUE INDEX i ON t (a) WHERE a > 1", "a is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); CREATE UNIQUE INDEX i ON t (lower(a))", "is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL UNIQUE, a TEXT UNIQUE)", "is UNIQUE"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT NOT NULL)", "NOT NULL without a default"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a INT NOT NULL DEFAULT NULL)", "NOT NULL without a default"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL); INSERT INTO t VALUES (x'01')", "not a UUID of 16 bytes"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY); INSERT INTO t VALUES (NULL)", "not a UUID of 16 bytes"),
        ("CREATE TABLE t (id BLOB PRIMARY KEY); INSERT INTO t VALUES ('0123456789abcdef')", "not a UUID of 16 bytes"),
        (
            "CREATE TABLE t (id BLOB PRIMARY KEY, \((0...60).map { "c\($0)" }.joined(separator: ", ")))",
            "it has 61 columns; at most 60"
        ),
    ]

    @Test("what cannot is refused with the reason and the way out", arguments: unmergeable)
    func refused(sql: String, reason: String) throws {
        let error = #expect(throws: StoreError.self) { try Self.open(sql, TrackedTable("t")) }
        #expect(error?.code == .tableRejected)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    private static let misfits: [(table: TrackedTable, sql: String, reason: String)] = [
        (TrackedTable("t", sets: ["x"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL)", "no column x"),
        (TrackedTable("t", localColumns: ["x"]), "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL)", "no column x"),
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
            "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); INSERT INTO t VALUES (zeroblob(16), 'x')",
            "INTEGER"
        ),
    ]

    @Test("a declaration that does not fit the table is refused", arguments: misfits)
    func badDeclaration(table: TrackedTable, sql: String, reason: String) throws {
        let error = #expect(throws: StoreError.self) { try Self.open(sql, table) }
        #expect(error?.code == .tableRejected)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test("a refusal leaves the database as it was")
    func refusalLeavesNothing() throws {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL); CREATE TABLE u (a UNIQUE)") }
        #expect(throws: StoreError.self) { try KithStore(database, tables: [TrackedTable("t"), TrackedTable("u")]) }
        let names = try database.read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'kith%'") }
        #expect(names == [])
        try database.write { try $0.execute(sql: "INSERT INTO t VALUES (zeroblob(16))") }
    }

    @Test("the same table declared twice is refused")
    func declaredTwice() throws {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL)") }
        let error = #expect(throws: StoreError.self) { try KithStore(database, tables: [TrackedTable("t"), TrackedTable("t")]) }
        #expect(error?.code == .tableRejected)
    }

    @Test("a table of ids alone holds together, whatever is done to it")
    func idsAlone() throws {
        let sql = "CREATE TABLE IF NOT EXISTS t (id BLOB PRIMARY KEY NOT NULL)"
        let notes = try TestStore(.queue, sql: sql + "; INSERT INTO t VALUES (x'\(rowID(1))')", tables: [TrackedTable("t")])
        try notes.execute("INSERT INTO t VALUES (?), (?)", [key(2), key(3)])
        try notes.database.write { db in
            for number: UInt64 in 11...40 { try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [key(number)]) }
        }
        try notes.execute("DELETE FROM t WHERE id = ?", [key(2)])
        try notes.execute("INSERT OR REPLACE INTO t VALUES (?)", [key(3)])
        try notes.expectSound()
        notes.store.close()
        try TestStore(.queue, sql: sql + "; ALTER TABLE t ADD COLUMN a", tables: [TrackedTable("t")], folder: notes.folder).expectSound()
    }

    @Test("rows that were there before become one commit")
    func adoption() throws {
        let notes = try TestStore(
            sql: TestStore.noteSQL + "; INSERT INTO note (id, title) VALUES (x'\(rowID(1))', 'a'), (x'\(rowID(2))', 'b')")
        #expect(try notes.sequence() == 1)
        #expect(try notes.state(rowID(1))?.sequences("title") == [1])
        let other = try TestStore()
        try other.receive(from: notes)
        #expect(try other.row(rowID(2))?["title"] == "b")
        try notes.expectSound()
    }

    @Test("sixty columns can be tracked, each with a change of its own")
    func columnsAtTheLimit() throws {
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

    @Test("a store of another format is refused and not touched", arguments: [(1, "newer"), (-1, "before its first release")])
    func otherFormat(difference: Int, words: String) throws {
        let notes = try TestStore(.queue)
        notes.store.close()
        try notes.execute("UPDATE kith_meta SET value = value + ? WHERE name = 'format'", [difference])
        let before = try notes.database.read { try Row.fetchAll($0, sql: "SELECT * FROM kith_meta") }
        let error = #expect(throws: StoreError.self) { try KithStore(notes.database, tables: [TestStore.note]) }
        #expect(error?.code == .notAStore)
        #expect(error?.message.contains(words) == true)
        #expect(try notes.database.read { try Row.fetchAll($0, sql: "SELECT * FROM kith_meta") } == before)
    }

    @Test("a program that has the store open notices when a newer version takes it over", arguments: Backend.allCases)
    func newerFormatMeanwhile(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        // As a newer version does, which also counts the catalog on.
        try notes.execute("UPDATE kith_meta SET value = value + 1 WHERE name IN ('format', 'catalog')")
        #expect(throws: DatabaseError.self) { try notes.execute("UPDATE note SET color = 1") }
        let error = #expect(throws: StoreError.self) { try notes.store.delta(since: VersionVector()) }
        #expect(error?.code == .notAStore)
    }
}
