import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A trigger, or what is of the connection alone, keeps a write from being noted")
struct UnnotedWriteTests {
    @Test(arguments: ["MEMORY", "FILE"]) func `an app may say where temporary tables are while a store is open`(place: String) throws {
        let (database, store) = try AppEdgeTests.store(AppEdgeTests.noteSQL, [TrackedTable("note")])
        for number in 0..<3 {
            try database.write { try $0.execute(sql: "INSERT INTO note VALUES (?, 'a')", arguments: [key(UInt64(number))]) }
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA temp_store = \(number == 0 ? "MEMORY" : place)") }
        }
        #expect(try store.verify().problems == [])
    }

    private static let ignoring =
        "TRIGGER leaving AFTER INSERT ON note WHEN new.title = 'bad' BEGIN SELECT RAISE(IGNORE); END"

    @Test func `a trigger that keeps a write from being noted is refused until the next opening, by name`() throws {
        let (database, store) = try AppEdgeTests.store(AppEdgeTests.noteSQL, [TrackedTable("note")])
        try database.write { try $0.execute(sql: "CREATE \(Self.ignoring)") }
        let insert = "INSERT INTO note VALUES (x'0190000000007000800000000000000%', 'bad')"
        let error = #expect(throws: (any Error).self) {
            try database.write { try $0.execute(sql: insert.replacing("%", with: "1")) }
        }
        #expect("\(error as Any)".contains("leaving"), "\(error as Any)")
        #expect(try AppEdgeTests.strings(database, "SELECT title FROM note") == [])
        store.close()
        let again = try SyncedDatabase(database, tables: [TrackedTable("note")], options: TestStore.options())
        try database.write { try $0.execute(sql: insert.replacing("%", with: "1")) }
        #expect(try again.verify().problems == [])
        #expect(try again.delta(since: VersionVector()).rows.count == 1)
    }

    @Test func `a temporary trigger that keeps a write from being noted is refused by name`() throws {
        let trigger = "CREATE TEMP \(Self.ignoring.replacing("ON note", with: "ON main.note"))"
        let early = #expect(throws: StoreError.self) {
            try AppEdgeTests.store("\(AppEdgeTests.noteSQL); \(trigger)", [TrackedTable("note")])
        }
        #expect(early?.code == .tableRejected && early?.message.contains("temporary trigger leaving") == true, "\(early as Any)")
        let (database, store) = try AppEdgeTests.store(AppEdgeTests.noteSQL, [TrackedTable("note")])
        try database.write { try $0.execute(sql: trigger) }
        let error = #expect(throws: (any Error).self) {
            try database.write { try $0.execute(sql: "INSERT INTO note VALUES (?, 'bad')", arguments: [key(1)]) }
        }
        #expect("\(error as Any)".contains("temporary trigger leaving"), "\(error as Any)")
        try database.write { try $0.execute(sql: "DROP TRIGGER leaving") }
        try database.write { try $0.execute(sql: "INSERT INTO note VALUES (?, 'bad')", arguments: [key(1)]) }
        #expect(try store.verify().problems == [])
    }

    @Test func `a temporary trigger that only looks on does no harm`() throws {
        let (database, store) = try AppEdgeTests.store(
            AppEdgeTests.noteSQL + """
                ; CREATE TEMP TABLE seen (title);
                CREATE TEMP TRIGGER look AFTER INSERT ON main.note BEGIN INSERT INTO seen VALUES (new.title); END
                """, [TrackedTable("note")])
        try database.write { try $0.execute(sql: "INSERT INTO note VALUES (?, 'a')", arguments: [key(1)]) }
        #expect(try AppEdgeTests.strings(database, "SELECT title FROM seen") == ["a"])
        #expect(try store.verify().problems == [])
    }

    @Test(arguments: [
        ("CREATE TEMP TABLE Note (id BLOB PRIMARY KEY NOT NULL, title TEXT)", "temporary table"),
        ("CREATE TEMP VIEW note AS SELECT 1 AS id", "temporary view"),
        ("CREATE TRIGGER kith_2_mine AFTER INSERT ON note BEGIN SELECT 1; END", "kith_2_mine"),
    ]) func `what would be taken for a tracked table, or for a trigger of Kith's, is refused by name`(sql: String, word: String) throws {
        let error = #expect(throws: StoreError.self) { try AppEdgeTests.store("\(AppEdgeTests.noteSQL); \(sql)", [TrackedTable("note")]) }
        #expect(error?.code == .tableRejected && error?.message.contains(word) == true, "\(error?.message ?? "")")
    }
}
