import Foundation
import GRDB
import KithCausality
import KithSync
import Testing

@testable import KithStore

@Suite("Two machines make the row of one key, and there are two of it")
struct NaturalKeyTests {
    private static let sql = """
        CREATE TABLE IF NOT EXISTS entry (
            id BLOB PRIMARY KEY NOT NULL, day TEXT NOT NULL UNIQUE, text TEXT NOT NULL DEFAULT '',
            tags TEXT NOT NULL DEFAULT '[]', views INTEGER NOT NULL DEFAULT 0) STRICT;
        CREATE TABLE IF NOT EXISTS month (id BLOB PRIMARY KEY, year INT, month INT, sum REAL DEFAULT 0);
        """
    private static func entries(_ policy: DeletePolicy = .updateWins, key: [String]? = ["day"]) -> TrackedTable {
        TrackedTable("entry", sets: ["tags"], counters: ["views"], deletePolicy: policy, key: key)
    }

    private static func open(_ policy: DeletePolicy = .updateWins) throws -> TestStore {
        try TestStore(sql: sql, tables: [entries(policy), TrackedTable("month", key: ["year", "month"])])
    }

    private static let insert = "INSERT INTO entry (id, day, text, tags, views) VALUES (kith_key('entry', ?1), ?1, ?2, ?3, ?4)"

    private static func exchange(_ one: TestStore, _ other: TestStore) throws {
        try one.receive(from: other)
        try other.receive(from: one)
    }

    private static func shown(_ store: TestStore, _ sql: String = "SELECT * FROM entry ORDER BY day") throws -> [Row] {
        try store.database.read { try Row.fetchAll($0, sql: sql) }
    }

    // MARK: Ids

    private static let vectors: [(table: String, key: [ColumnValue], id: String)] = [
        ("entry", [.text("2026-11-21")], "c4166b71ebda5412ba1c50117345aa9c"),
        ("month", [.integer(2026), .integer(11)], "f33ad13da60657b5b658dc65c2d3d579"),
        ("entry", [.text("")], "14291c04bac85ad899b10d9895a70681"),
        ("entry", [.blob([])], "d1110105fb215d509c38bf86a2301ca5"),
        ("entry", [.integer(1)], "203f264077335ad3ae11d58a79263140"),
        ("entry", [.text("1")], "560ce89f67d152b591d1388ad27ed508"),
        ("entry", [.integer(-1)], "836f915e67515a33b659d6d0acb037b1"),
        ("entry", [.integer(.min)], "f042463e7b0a55ce96ca67fdfb567ce0"),
        ("entry", [.text("caf\u{e9}")], "2aeecfe3104757418491457bb70e0f23"),
        ("entry", [.text("cafe\u{301}")], "00072333f47a55cb9aa03e5d19c1c737"),
        ("entry", [.text("a\u{0}b")], "3ec2689602555c29a5714c6017b284a5"),
        ("entry", [.blob([255, 0])], "9a90ec0095ea514b8e78dd1c2c4337f4"),
        ("t", [.text("ab"), .text("c")], "54e6039753c25b0ea2df9373606329f4"),
        ("t", [.text("a"), .text("bc")], "887ac4af545457a0b2d4c42c77797ae7"),
    ]

    @Test func `the id of a key is the same everywhere and for ever`() {
        for vector in Self.vectors {
            #expect(RowID(table: Array(vector.table.utf8), key: vector.key)?.description == vector.id)
        }
        #expect(Set(Self.vectors.map(\.id)).count == Self.vectors.count)
    }

    @Test func `ids are UUIDs of version 5 as the standard makes them`() {
        let dns = RowID(high: 0x6ba7_b810_9dad_11d1, low: 0x80b4_00c0_4fd4_30c8)
        #expect(RowID(name: Array("www.example.com".utf8), in: dns).description == "2ed6657de927568b95e12665a8aea6a2")
    }

    @Test func `SQL and Swift make the same id`() throws {
        let store = try Self.open()
        let id = try store.database.write { try Data.fetchOne($0, sql: "SELECT kith_key('month', 2026, 11)") }
        #expect(id == Data(try RowID(table: "month", key: .integer(2026), .integer(11)).bytes))
    }

    @Test(arguments: [ColumnValue.null, .real(1)]) func `NULL and reals name no row`(value: ColumnValue) {
        #expect(throws: StoreError.self) { try RowID(table: "entry", key: value) }
    }

    // MARK: Merging

    @Test(arguments: [false, true])
    func `the same key on two machines is one row, all columns merged by their kinds`(order: Bool) throws {
        let (a, b) = (try Self.open(), try Self.open())
        try a.execute(Self.insert, ["2026-11-21", "rain", "[\"x\"]", 2])
        try b.execute(Self.insert, ["2026-11-21", "sun", "[\"y\"]", 3])
        try order ? Self.exchange(a, b) : Self.exchange(b, a)
        let id = try RowID(table: "entry", key: .text("2026-11-21"))
        for store in [a, b] {
            let rows = try Self.shown(store)
            #expect(rows.count == 1)
            #expect(rows.first?["views"] == 5)
            #expect(try Set(JSONDecoder().decode([String].self, from: Data((rows.first?["tags"] as String? ?? "").utf8))) == ["x", "y"])
            let alternatives = try store.store.alternatives(table: "entry", id: id)
            #expect(alternatives.map(\.column) == ["text"], "the key has no alternatives")
            let text: String = rows.first?["text"] ?? ""
            let expected = ColumnValue.text(text == "rain" ? "sun" : "rain")
            #expect(alternatives.map(\.value) == [expected])
            try store.expectSound()
        }
        #expect(try a.store.digest() == b.store.digest())
    }

    @Test(arguments: [DeletePolicy.updateWins, .deleteWins])
    func `what one machine deleted and another made meanwhile is there, unless deletions win`(policy: DeletePolicy) throws {
        let (a, b) = (try Self.open(policy), try Self.open(policy))
        try a.execute(Self.insert, ["d", "old", "[]", 1])
        try a.execute("DELETE FROM entry")
        try b.execute(Self.insert, ["d", "new", "[]", 1])
        try Self.exchange(a, b)
        for store in [a, b] {
            #expect(try Self.shown(store).count == (policy == .updateWins ? 1 : 0))
            try store.execute("\(Self.insert) ON CONFLICT (day) DO UPDATE SET text = excluded.text", ["d", "newer", "[]", 0])
            #expect(try Self.shown(store).first?["text"] == "newer")
        }
        try Self.exchange(a, b)
        #expect(try a.store.digest() == b.store.digest())
        #expect(try Self.shown(a).count == 1)
        try a.expectSound()
        try b.expectSound()
    }

    @Test func `a row whose id does not follow from its key is kept apart, and passed on`() throws {
        let sql = "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT, b TEXT)"
        let keyed = TrackedTable("t", key: ["a"])
        let stranger = try TestStore(sql: sql, tables: [TrackedTable("t")])
        let id = try RowID(table: "t", key: .text("x"))
        try stranger.execute("INSERT INTO t VALUES (?, 'wrong', 'b')", [Data(id.bytes)])
        try stranger.execute("INSERT INTO t VALUES (?, NULL, 'b')", [key(1)])
        let (a, b) = (try TestStore(sql: sql, tables: [keyed]), try TestStore(sql: sql, tables: [keyed]))
        try a.receive(from: stranger)
        try b.receive(from: a)
        for store in [a, b] {
            #expect(try Self.shown(store, "SELECT * FROM t").isEmpty)
            #expect(try store.store.trash() == [], "nobody deleted it")
            #expect(try store.state(id, table: "t") != nil)
            #expect(try Set(store.store.refusedRows().map(\.id)) == [id, rowID(1)])
            try store.expectSound()
        }
        try a.execute("INSERT INTO t VALUES (kith_key('t', 'x'), 'x', 'mended')")
        try Self.exchange(a, b)
        #expect(try Self.shown(b, "SELECT b FROM t").map { $0["b"] as String } == ["mended"])
        #expect(try b.store.refusedRows().map(\.id) == [rowID(1)])
        try stranger.receive(from: a)
        try stranger.execute("UPDATE t SET a = 'wrong again' WHERE a = 'x'")
        try b.receive(from: stranger)
        #expect(try Self.shown(b, "SELECT * FROM t").isEmpty)
        try b.expectSound()
        // Once it is deleted, the trash does not bring it back either.
        try stranger.execute("DELETE FROM t")
        try b.receive(from: stranger)
        let refused = #expect(throws: StoreError.self) { try b.store.restore(table: "t", id: id) }
        #expect(refused?.code == .valueRejected)
        #expect(try Self.shown(b, "SELECT * FROM t").isEmpty)
        try b.expectSound()
    }

    // MARK: Plain SQL

    @Test func `every form of INSERT works, with the id in RETURNING`() throws {
        let store = try Self.open()
        let id = Data(try RowID(table: "entry", key: .text("a")).bytes)
        let key = "kith_key('entry', 'a')"
        let returned = try store.database.write { db in
            try [
                "INSERT INTO entry (id, day, text) VALUES (\(key), 'a', '1')",
                "INSERT INTO entry (id, day, text) VALUES (\(key), 'a', '2') ON CONFLICT (id) DO UPDATE SET text = excluded.text",
                "INSERT INTO entry (id, day, text) VALUES (\(key), 'a', '3') ON CONFLICT (day) DO UPDATE SET day = excluded.day, text = excluded.text",
                "INSERT OR REPLACE INTO entry (id, day, text) VALUES (\(key), 'a', '4')",
                "INSERT INTO entry (id, day, text) SELECT kith_key('entry', value), value, '5' FROM json_each('[\"b\"]')",
                "UPDATE entry SET text = '6', day = day WHERE day = 'a'",
            ].map { try Data.fetchOne(db, sql: "\($0) RETURNING id") }
        }
        #expect(returned.filter { $0 == id }.count == 5)
        try store.execute("INSERT OR IGNORE INTO entry (id, day, text) VALUES (\(key), 'a', '7')")
        #expect(try Self.shown(store).map { $0["text"] as String } == ["6", "5"])
        try store.expectSound()
    }

    private static let refusals: [(sql: String, reason: String)] = [
        ("INSERT INTO entry (day) VALUES ('a')", "follows from its key: insert it with \"id\" = kith_key('entry', \"day\")"),
        ("INSERT INTO entry (id, day) VALUES (NULL, 'a')", "follows from its key"),
        ("INSERT INTO entry (id, day) VALUES (zeroblob(16), 'a')", "this is another one"),
        ("INSERT INTO entry (id, day) VALUES (kith_key('entry', 'b'), 'a')", "this is another one"),
        ("INSERT INTO entry (id, day) VALUES (kith_key('entry', 1), '1')", "this is another one"),
        ("INSERT INTO entry (id, day) VALUES (kith_key('entry', 'cafe\u{301}'), 'caf\u{e9}')", "this is another one"),
        ("INSERT INTO entry (id, day) VALUES (kith_key('month', 2026, 11), 'a')", "this is another one"),
        ("INSERT INTO entry (id, day) VALUES (kith_key('entry', NULL), NULL)", "entry.day is NULL"),
        ("INSERT INTO month (id, year, month) VALUES (kith_key('month', 2026), 2026, 11)", "2 columns (year, month); 1 values"),
        ("INSERT INTO month (id, year, month) VALUES (zeroblob(16), 2026, NULL)", "month.month is NULL"),
        ("INSERT INTO month (id, year, month) VALUES (zeroblob(16), 2026, 11.5)", "month.month is a real"),
        ("UPDATE entry SET day = 'other'", "Insert a new row and delete this one"),
        ("UPDATE entry SET id = kith_key('entry', 'other'), day = 'other'", "is final"),
        ("UPDATE entry SET id = zeroblob(16)", "is final"),
        ("SELECT kith_key('nothing', 1)", "nothing is not a tracked table"),
        ("SELECT kith_key()", "takes the name of a table"),
        ("SELECT kith_key(NULL, 'a')", "takes the name of a table"),
    ]

    @Test(arguments: refusals)
    func `what would break the key is refused with the way out, and changes nothing`(sql: String, reason: String) throws {
        let store = try Self.open()
        try store.execute(Self.insert, ["there", "", "[]", 0])
        let before = try (store.store.digest(), store.sequence())
        let error = #expect(throws: DatabaseError.self) { try store.execute(sql) }
        #expect(error?.message?.contains(reason) == true, "\(error?.message ?? "")")
        #expect(try store.store.digest() == before.0)
        #expect(try store.sequence() == before.1)
        try store.expectSound()
    }

    @Test func `a key is not resolved to another value`() throws {
        let store = try Self.open()
        try store.execute(Self.insert, ["d", "", "[]", 0])
        let id = try RowID(table: "entry", key: .text("d"))
        try store.database.write { db in
            _ = #expect(throws: StoreError.self) {
                try store.store.resolve(db, table: "entry", id: id, column: "day", keeping: .text("e"))
            }
        }
    }

    @Test func `a column affinity converts before the key is taken`() throws {
        let store = try Self.open()
        try store.execute("INSERT INTO month (id, year, month) VALUES (kith_key('month', 2026, 11), '2026', 11.0)")
        #expect(try Self.shown(store, "SELECT year FROM month WHERE typeof(year) = 'integer'").count == 1)
    }

    // MARK: Declarations

    private static let misfits: [(sql: String, table: TrackedTable, reason: String)] = [
        ("a", TrackedTable("t", key: []), "names 0 columns"),
        ("a", TrackedTable("t", key: ["a", "a"]), "different ones"),
        ("a", TrackedTable("t", key: ["a", "b", "c", "d", "e", "f", "g", "h", "i"]), "names 9 columns"),
        ("a", TrackedTable("t", key: ["b"]), "b is part of its key"),
        ("a", TrackedTable("t", key: ["id"]), "id is part of its key"),
        ("a, g AS (a)", TrackedTable("t", key: ["g"]), "generated"),
        ("a", TrackedTable("t", localColumns: ["a"], key: ["a"]), "local"),
        ("a TEXT", TrackedTable("t", sets: ["a"], key: ["a"]), "cannot be a set"),
        ("a INT", TrackedTable("t", counters: ["a"], key: ["a"]), "cannot be a counter"),
        ("a TEXT COLLATE NOCASE UNIQUE", TrackedTable("t", key: ["a"]), "a is UNIQUE"),
        ("a UNIQUE, b UNIQUE", TrackedTable("t", key: ["a"]), "b is UNIQUE"),
        ("a UNIQUE, b", TrackedTable("t", key: ["a", "b"]), "a is UNIQUE"),
        ("a, b NOT NULL", TrackedTable("t", key: ["a"]), "column b is NOT NULL without a default"),
        ("a); INSERT INTO t VALUES (zeroblob(16), 1", TrackedTable("t", key: ["a"]), "1 of its rows"),
    ]

    @Test(arguments: misfits) func `a key that cannot name rows is refused`(sql: String, table: TrackedTable, reason: String) throws {
        let error = #expect(throws: StoreError.self) {
            try TestStore(sql: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, \(sql))", tables: [table])
        }
        #expect(error?.code == .tableRejected)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test(
        arguments: [
            "a NOT NULL UNIQUE, b", "a TEXT NOT NULL, b, UNIQUE (b, a)", "a UNIQUE, b, UNIQUE (a, b)",
            "a, b); CREATE UNIQUE INDEX i ON t (a) WHERE b > 1; SELECT (1",
        ])
    func `a key may be NOT NULL and UNIQUE, alone or with more columns`(sql: String) throws {
        _ = try TestStore(sql: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, \(sql))", tables: [TrackedTable("t", key: ["a"])])
    }

    @Test(arguments: [true, false]) func `a key that is declared later is checked against the rows that are there`(fits: Bool) throws {
        let database = try DatabaseQueue()
        let id = fits ? try RowID(table: "t", key: .text("x")) : rowID(1)
        try database.write { try $0.execute(sql: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT)") }
        let before = try SyncedDatabase(database, tables: [TrackedTable("t")])
        try database.write { try $0.execute(sql: "INSERT INTO t VALUES (?, 'x')", arguments: [Data(id.bytes)]) }
        before.close()
        if fits {
            _ = try SyncedDatabase(database, tables: [TrackedTable("t", key: ["a"])])
        } else {
            #expect(throws: StoreError.self) { try SyncedDatabase(database, tables: [TrackedTable("t", key: ["a"])]) }
        }
    }
}
