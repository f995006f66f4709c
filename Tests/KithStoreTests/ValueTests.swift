import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A value arrives otherwise than it was stored")
struct ValueTests {
    private static let expressions = [
        "NULL", "''", "x''", "0", "1", "-1", "1.0", "0.0", "-0.0", "1e999", "-1e999", "9e999 - 9e999", "5e-324", "1.7976931348623157e308",
        "0.1", "9223372036854775807", "-9223372036854775808", "9007199254740993", "9007199254740993.0", "9.2233720368547758e18",
        "'a' || char(0) || 'b'", "char(0)", "CAST(x'fffe00c328' AS TEXT)", "CAST(x'eda080' AS TEXT)", "x'00ff00'", "'\u{e9}'", "'e\u{301}'",
        "'\u{1F469}\u{200D}\u{1F680}'", "'\u{FEFF}x'", "'1'", "'1.0'", "' 1 '", "'0x10'", "x'31'", "'NULL'", "zeroblob(70000)",
        "hex(zeroblob(40000))", "'line' || char(13, 10) || 'end'",
    ]

    private static let tables = [
        "CREATE TABLE v (id BLOB PRIMARY KEY NOT NULL, a, b TEXT, c REAL, d INTEGER, e NUMERIC, f BLOB)",
        "CREATE TABLE v (id BLOB PRIMARY KEY NOT NULL, a ANY) STRICT",
    ]

    /// Each value with its storage class, as bits.
    private static func content(_ store: TestStore) throws -> [String] {
        try store.database.read { db in
            let columns = try db.columns(in: "v").map(\.name).filter { $0 != "id" }
            let select = columns.map { column in
                "typeof(\(column)) || ':' || CASE typeof(\(column)) WHEN 'real' THEN printf('%!.17g', \(column)) "
                    + "|| CASE WHEN \(column) = 0 THEN 1.0 / \(column) ELSE '' END ELSE hex(CAST(\(column) AS BLOB)) END"
            }
            let rows = try Row.fetchAll(db, sql: "SELECT \(select.joined(separator: " || '|' || ")) AS v FROM v ORDER BY id")
            return rows.map { ($0["v"] as String?) ?? "NULL" }
        }
    }

    @Test(arguments: tables)
    func `what SQLite stored is what arrives, through two machines, shown, deleted and restored`(table: String) throws {
        func store() throws -> TestStore { try TestStore(sql: table, tables: [TrackedTable("v")]) }
        let (first, second, third) = (try store(), try store(), try store())
        let columns = try first.database.read { try $0.columns(in: "v").map(\.name).filter { $0 != "id" } }
        for (index, expression) in Self.expressions.enumerated() {
            let values = columns.map { _ in expression }.joined(separator: ", ")
            try first.execute("INSERT INTO v VALUES (?, \(values))", [key(UInt64(index + 1))])
        }
        let before = try Self.content(first)
        #expect(before.count == Self.expressions.count)
        try second.receive(from: first)
        try third.receive(from: second)
        #expect(try Self.content(second) == before)
        #expect(try Self.content(third) == before)
        #expect(try first.store.delta(since: VersionVector()).rows == third.store.delta(since: VersionVector()).rows)

        // A deletion that loses brings every value back from where deleted rows are kept.
        try first.execute("UPDATE v SET a = a || 'x' WHERE a IS NULL OR a IS NOT NULL")
        try third.execute("DELETE FROM v")
        try third.receive(from: first)
        try first.receive(from: third)
        #expect(try Self.content(third) == Self.content(first))
        for store in [first, second, third] { try store.expectSound() }
    }

    @Test func `any 64 bits of a number arrive as they are`() throws {
        func store() throws -> TestStore { try TestStore(sql: Self.tables[0], tables: [TrackedTable("v")]) }
        let (first, second) = (try store(), try store())
        var random = SplitMix64(seed: 22)
        try first.database.write { db in
            for number: UInt64 in 1...2_000 {
                let bits = random.next()
                try db.execute(
                    sql: "INSERT INTO v (id, a, c, d) VALUES (?, ?, ?, ?)",
                    arguments: [key(number), Double(bitPattern: bits), Double(bitPattern: bits), Int64(bitPattern: bits)])
            }
        }
        try second.receive(from: first)
        #expect(try Self.content(first) == Self.content(second))
    }

    @Test func `minus zero is zero, as in every comparison of SQLite, which would not notice a change from one to the other`() throws {
        func store() throws -> TestStore { try TestStore(sql: Self.tables[1], tables: [TrackedTable("v")]) }
        let (first, second) = (try store(), try store())
        try first.execute("INSERT INTO v VALUES (?, 0.0), (?, ?)", [key(1), key(2), -0.0])
        try second.receive(from: first)
        try first.execute("UPDATE v SET a = ?", [-0.0])
        #expect(try first.store.delta(since: VersionVector()).rows == second.store.delta(since: VersionVector()).rows)
        #expect(try first.store.recomputedDigest() == second.store.recomputedDigest())
        for store in [first, second] { try store.expectSound() }
    }

    @Test func `alternatives keep their bits too`() throws {
        func store() throws -> TestStore { try TestStore(sql: Self.tables[1], tables: [TrackedTable("v")]) }
        let values: [(sql: String, value: ColumnValue)] = [
            ("1.0", .real(1.0)), ("1", .integer(1)), ("CAST(x'ff00' AS TEXT)", .text([255, 0])), ("x'ff00'", .blob([255, 0])),
            ("NULL", .null), ("'e\u{301}'", .text("e\u{301}")), ("'\u{e9}'", .text("\u{e9}")),
        ]
        let author = try store()
        try author.execute("INSERT INTO v VALUES (?, 'start')", [key(1)])
        let stores = try values.map { entry in
            let store = try store()
            try store.receive(from: author)
            try store.execute("UPDATE v SET a = \(entry.sql)")
            return store
        }
        for store in stores { try author.receive(from: store) }
        var found = try author.store.alternatives(table: "v", id: rowID(1)).map(\.value)
        let part = try #require(try author.state(rowID(1), table: "v"))
        guard case .register(let register)? = part.cell("a") else { return #expect(Bool(false), "a is a register") }
        found.append(try #require(register.shown?.value))
        #expect(Set(found) == Set(values.map(\.value)))
    }

    @Test func `a row as long as may be is synchronised, deleted and brought back; a longer one is refused and nothing changes`() throws {
        func store() throws -> TestStore {
            try TestStore(sql: "CREATE TABLE v (id BLOB PRIMARY KEY NOT NULL, a BLOB, b)", tables: [TrackedTable("v")])
        }
        let (first, second) = (try store(), try store())
        let overhead = 64
        let error = #expect(throws: DatabaseError.self) {
            try first.execute("INSERT INTO v (id, a) VALUES (?, zeroblob(?))", [key(1), TrackedTable.rowBytesMax])
        }
        #expect(error?.resultCode == .SQLITE_TOOBIG)
        #expect(try first.store.vector().isEmpty)
        try first.execute("INSERT INTO v (id, a) VALUES (?, zeroblob(?))", [key(1), TrackedTable.rowBytesMax - overhead])
        try second.receive(from: first)
        #expect(try second.database.read { try Int.fetchOne($0, sql: "SELECT length(a) FROM v") } == TrackedTable.rowBytesMax - overhead)
        try second.execute("DELETE FROM v")
        try first.execute("UPDATE v SET b = 1")
        try second.receive(from: first)
        #expect(try second.database.read { try Int.fetchOne($0, sql: "SELECT length(a) FROM v") } == TrackedTable.rowBytesMax - overhead)
        try second.expectSound()
    }

    @Test func `a set may have as many elements as the protocol takes, and not one more`() throws {
        let notes = try TestStore()
        let sql = """
            INSERT INTO note (id, tags) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
            SELECT ?, json_group_array(i) FROM n
            """
        try notes.execute(sql, [WireLimits.setElementsMax, key(1)])
        let error = #expect(throws: DatabaseError.self) { try notes.execute(sql, [WireLimits.setElementsMax + 1, key(2)]) }
        #expect(error?.message?.contains("more than 100000 elements") == true)
        #expect(try notes.sequence() == 1)
    }

    @Test func `sets keep elements of every JSON type, once each, whatever their spelling`() throws {
        let notes = try TestStore()
        try notes.execute(
            "INSERT INTO note (id, tags) VALUES (?, ?)",
            [key(1), #"[ 1, 1.5, "a", "\u0061", "é", "\"q\"", null, true, false, {"k" : [1, 2]}, [ ], "" , -0, 1e3]"#])
        let other = try TestStore()
        try other.receive(from: notes)
        let shown = try #require(try other.row(rowID(1))?["tags"] as String?)
        let elements = try #require(try JSONSerialization.jsonObject(with: Data(shown.utf8)) as? [Any])
        #expect(elements.count == 13)
        try notes.execute("UPDATE note SET tags = ?", [#"["a","b"]"#])
        try other.receive(from: notes)
        #expect(try other.row(rowID(1))?["tags"] == #"["a","b"]"#)
        try other.expectSound()
    }
}
