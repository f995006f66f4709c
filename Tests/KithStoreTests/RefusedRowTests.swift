import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A rule of the app stops synchronisation")
struct RefusedRowTests {
    private static let tables = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, n INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, title TEXT);
        CREATE TABLE log (line TEXT);
        """
    private static let declared = [TrackedTable("note"), TrackedTable("page")]

    private static func store(_ triggers: String = "", backend: Backend = .memory) throws -> TestStore {
        try TestStore(backend, sql: tables + triggers, tables: declared)
    }

    private static func raising(_ how: String, _ event: String) -> String {
        let action = how == "IGNORE" ? "IGNORE" : "\(how), 'not here'"
        let row = event.contains("DELETE") ? "old" : "new"
        return """
            CREATE TRIGGER rule \(event) ON note WHEN \(row).n = 1 BEGIN
                INSERT INTO log VALUES (\(row).title); SELECT RAISE(\(action)); END
            """
    }

    private static func titles(_ store: TestStore) throws -> [String] {
        try store.database.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY id") }
    }

    /// Same digests, sound stores; `third` gets what `second` passes on.
    private static func expectWhole(_ stores: [TestStore], _ location: SourceLocation = #_sourceLocation) throws {
        for store in stores {
            try store.expectSound(location)
            #expect(try store.store.recomputedDigest() == stores[0].store.recomputedDigest(), sourceLocation: location)
        }
    }

    private static let kinds = ["ABORT", "FAIL", "ROLLBACK", "IGNORE"]

    @Test(
        arguments: kinds,
        ["BEFORE INSERT", "AFTER INSERT"])
    func `a row that a trigger refuses is kept and passed on, and everything else arrives`(how: String, event: String) throws {
        // A BEFORE trigger may pass over a row; an AFTER trigger is too late for that.
        if how == "IGNORE", event == "AFTER INSERT" { return }
        let (first, second, third) = (try Self.store(), try Self.store(Self.raising(how, event)), try Self.store())
        try first.database.write { db in
            for number: UInt64 in 1...6 {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?)", arguments: [key(number), "t\(number)", number == 2 || number == 5 ? 1 : 0])
            }
            try db.execute(sql: "INSERT INTO page VALUES (?, 'p')", arguments: [key(9)])
        }
        try second.receive(from: first)
        try third.receive(from: second)
        #expect(try Self.titles(second) == ["t1", "t3", "t4", "t6"])
        #expect(try Self.titles(third) == ["t1", "t2", "t3", "t4", "t5", "t6"])
        #expect(try second.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM page") } == 1)
        // What the trigger had written is undone.
        #expect(try second.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") } == 0)
        let refused = try second.store.refusedRows()
        #expect(refused.map(\.id) == [rowID(2), rowID(5)])
        #expect(refused.allSatisfy { $0.table == "note" && !$0.isDeletion && $0.sinceMilliseconds > 0 })
        #expect(refused.first?.reason.contains(how == "IGNORE" ? "ignores the row" : "not here") == true)
        #expect(try second.store.verify().refusedRows == refused)
        #expect(try second.database.read { try second.store.refusedRows($0) } == refused)
        try Self.expectWhole([first, second, third])
        // Tried again when it changes.
        try first.execute("UPDATE note SET n = 0 WHERE id = ?", [key(2)])
        try second.receive(from: first)
        #expect(try Self.titles(second) == ["t1", "t2", "t3", "t4", "t6"])
        #expect(try second.store.refusedRows().map(\.id) == [rowID(5)])
        try third.receive(from: second)
        try Self.expectWhole([first, second, third])
    }

    @Test(arguments: kinds, ["BEFORE UPDATE", "AFTER UPDATE"])
    func `an update that a trigger refuses hides the row until it changes`(how: String, event: String) throws {
        if how == "IGNORE", event == "AFTER UPDATE" { return }
        let (first, second, third) = (try Self.store(), try Self.store(Self.raising(how, event)), try Self.store())
        try first.execute("INSERT INTO note VALUES (?, 'a', 0), (?, 'b', 0)", [key(1), key(2)])
        try second.receive(from: first)
        try first.execute("UPDATE note SET title = title || '!', n = 1 WHERE id = ?", [key(1)])
        try first.execute("UPDATE note SET title = title || '?' WHERE id = ?", [key(2)])
        try second.receive(from: first)
        try third.receive(from: second)
        #expect(try Self.titles(second) == ["b?"])
        #expect(try second.store.refusedRows().map(\.id) == [rowID(1)])
        #expect(try Self.titles(third) == ["a!", "b?"])
        try Self.expectWhole([first, second, third])
        try first.execute("UPDATE note SET n = 2")
        try second.receive(from: first)
        #expect(try Self.titles(second) == ["a!", "b?"])
        #expect(try second.store.refusedRows() == [])
        try Self.expectWhole([first, second])
    }

    @Test(
        arguments: kinds,
        ["BEFORE DELETE", "AFTER DELETE"])
    func `a row whose deletion a trigger refuses stays shown here, and is deleted elsewhere`(how: String, event: String) throws {
        if how == "IGNORE", event == "AFTER DELETE" { return }
        let (first, second, third) = (try Self.store(), try Self.store(Self.raising(how, event)), try Self.store())
        try first.execute("INSERT INTO note VALUES (?, 'a', 1), (?, 'b', 0), (?, 'c', 1)", [key(1), key(2), key(3)])
        try second.receive(from: first)
        try first.execute("UPDATE note SET title = 'a!' WHERE id = ?", [key(1)])
        try first.execute("DELETE FROM note")
        try first.execute("INSERT INTO page VALUES (?, 'p')", [key(9)])
        try second.receive(from: first)
        try third.receive(from: second)
        #expect(try Self.titles(second) == ["a!", "c"])
        #expect(try Self.titles(third) == [])
        #expect(try second.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM page") } == 1)
        let refused = try second.store.refusedRows()
        #expect(refused.map(\.id) == [rowID(1), rowID(3)])
        #expect(refused.map(\.isDeletion) == [true, true])
        try Self.expectWhole([first, second, third])
        // An edit here brings the row back everywhere, as an edit that did not know of the deletion does.
        try second.execute("UPDATE note SET title = 'edited' WHERE id = ?", [key(1)])
        #expect(try second.store.refusedRows().map(\.id) == [rowID(3)])
        try first.receive(from: second)
        try third.receive(from: second)
        #expect(try Self.titles(first) == ["edited"])
        #expect(try Self.titles(third) == ["edited"])
        try Self.expectWhole([first, second, third])
    }

    @Test(arguments: kinds) func `rows are tried again when a trigger has changed and the store is opened`(how: String) throws {
        for event in ["BEFORE INSERT", "BEFORE DELETE"] {
            let (first, second) = (try Self.store(), try Self.store(Self.raising(how, event), backend: .queue))
            try first.execute("INSERT INTO note VALUES (?, 'a', 1)", [key(1)])
            try second.receive(from: first)
            if event == "BEFORE DELETE" {
                try first.execute("DELETE FROM note")
                try second.receive(from: first)
            }
            #expect(try second.store.refusedRows().count == 1)
            second.store.close()
            let same = try SyncedDatabase(second.database, tables: Self.declared, options: TestStore.options())
            #expect(try same.refusedRows().count == 1)
            same.close()
            try second.execute("DROP TRIGGER rule")
            let again = try SyncedDatabase(second.database, tables: Self.declared, options: TestStore.options())
            #expect(try again.refusedRows() == [])
            #expect(try Self.titles(second) == Self.titles(first))
            #expect(try again.verify().problems == [])
            again.close()
        }
    }

    @Test(arguments: kinds)
    func `a child that may not be deleted goes with its parent all the same: no reference dangles`(how: String) throws {
        let sql = """
            CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, n INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, note BLOB REFERENCES note (id) ON DELETE CASCADE);
            """
        let action = how == "IGNORE" ? "IGNORE" : "\(how), 'not here'"
        let rule = "CREATE TRIGGER rule BEFORE DELETE ON page BEGIN SELECT RAISE(\(action)); END"
        let (first, second) = (try TestStore(sql: sql, tables: Self.declared), try TestStore(sql: sql + rule, tables: Self.declared))
        try first.execute("INSERT INTO note VALUES (?, 'a', 1)", [key(1)])
        try first.execute("INSERT INTO page VALUES (?, ?), (?, ?)", [key(2), key(1), key(3), key(1)])
        try second.receive(from: first)
        try first.execute("DELETE FROM note")
        try second.receive(from: first)
        #expect(try second.database.read { try Row.fetchAll($0, sql: "PRAGMA foreign_key_check") } == [])
        try Self.expectWhole([first, second])
    }

    @Test func `a constraint that ends the transaction refuses a row and no more`() throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL ON CONFLICT ROLLBACK DEFAULT '', n);"
        let (first, second) = (
            try TestStore(sql: sql.replacing(" NOT NULL ON CONFLICT ROLLBACK DEFAULT ''", with: ""), tables: [TrackedTable("note")]),
            try TestStore(sql: sql, tables: [TrackedTable("note")])
        )
        try first.execute("INSERT INTO note VALUES (?, NULL, 1), (?, 'b', 2)", [key(1), key(2)])
        try second.receive(from: first)
        #expect(try Self.titles(second) == ["b"])
        #expect(try second.store.refusedRows().map(\.reason) == ["NOT NULL constraint failed: note.title"])
        try Self.expectWhole([first, second])
    }

    @Test(arguments: ["FAIL", "ROLLBACK"])
    func `if a statement in a trigger says OR FAIL or OR ROLLBACK, it refuses a row and no more`(how: String) throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, n); CREATE TABLE line (title TEXT, n UNIQUE);"
        let rule = """
            CREATE TRIGGER rule AFTER INSERT ON note BEGIN
                INSERT INTO line VALUES ('before', NULL); INSERT OR \(how) INTO line VALUES (new.title, new.n); END
            """
        let tables = [TrackedTable("note")]
        let (first, second) = (try TestStore(sql: sql, tables: tables), try TestStore(sql: sql + rule, tables: tables))
        try first.execute("INSERT INTO note VALUES (?, 'a', 1), (?, 'b', 1), (?, 'c', 2)", [key(1), key(2), key(3)])
        try second.receive(from: first)
        #expect(try Self.titles(second) == ["a", "c"])
        #expect(try second.store.refusedRows().map(\.reason) == ["UNIQUE constraint failed: line.n"])
        let lines = try second.database.read { try String.fetchAll($0, sql: "SELECT title FROM line ORDER BY rowid") }
        #expect(lines == ["before", "a", "before", "c"])
        try Self.expectWhole([first, second])
    }

    @Test func `a NULL is refused where a constraint would write its default, of which nobody else would know`() throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'untitled', n);"
        let (first, second) = (
            try TestStore(sql: sql.replacing(" NOT NULL ON CONFLICT REPLACE DEFAULT 'untitled'", with: ""), tables: [TrackedTable("note")]),
            try TestStore(sql: sql, tables: [TrackedTable("note")])
        )
        try first.execute("INSERT INTO note VALUES (?, NULL, 1), (?, 'b', 2)", [key(1), key(2)])
        try second.receive(from: first)
        try second.execute("INSERT INTO note VALUES (?, NULL, 3)", [key(3)])
        try first.execute("UPDATE note SET title = NULL WHERE n = 2")
        try second.receive(from: first)
        try first.receive(from: second)
        #expect(try Self.titles(second) == ["untitled"])
        let reasons = try second.store.refusedRows().map(\.reason)
        #expect(reasons == ["NOT NULL constraint failed: note.title", "NOT NULL constraint failed: note.title"])
        try first.execute("UPDATE note SET title = 'a' WHERE n < 3")
        try second.receive(from: first)
        #expect(try Self.titles(second) == ["a", "a", "untitled"])
        try Self.expectWhole([first, second])
    }

    @Test(arguments: [
        "CREATE INDEX i ON note (json_extract(title, '$.x'))",
        "ALTER TABLE note ADD COLUMN x GENERATED ALWAYS AS (json_extract(title, '$.x')); CREATE INDEX i ON note (x)",
        "CREATE TRIGGER rule AFTER INSERT ON note BEGIN INSERT INTO log SELECT value FROM json_each(new.title); END; "
            + "CREATE TRIGGER rule2 AFTER UPDATE ON note BEGIN INSERT INTO log SELECT value FROM json_each(new.title); END",
        "CREATE TRIGGER rule BEFORE INSERT ON note BEGIN INSERT INTO log VALUES (abs(new.n)); SELECT json_extract(new.title, '$.x'); END; "
            + "CREATE TRIGGER rule2 BEFORE UPDATE ON note BEGIN SELECT json_extract(new.title, '$.x'); END",
    ])
    func `a row for which an expression of the app has no value is refused, and everything else arrives`(rule: String) throws {
        let (first, second, third) = (try Self.store(), try Self.store(rule), try Self.store())
        try first.database.write { db in
            for (number, title) in ["[1]", "{bad", "[3]", "{worse"].enumerated() {
                try db.execute(sql: "INSERT INTO note VALUES (?, ?, 0)", arguments: [key(UInt64(number + 1)), title])
            }
            try db.execute(sql: "INSERT INTO page VALUES (?, 'p')", arguments: [key(9)])
        }
        try second.receive(from: first)
        try third.receive(from: second)
        #expect(try Self.titles(second) == ["[1]", "[3]"] && Self.titles(third) == ["[1]", "{bad", "[3]", "{worse"])
        #expect(try second.store.refusedRows().map(\.reason) == ["malformed JSON", "malformed JSON"])
        try Self.expectWhole([first, second, third])
        // A row that was shown goes, one that is mended comes; what comes in larger transactions is the same.
        try first.execute("UPDATE note SET title = CASE title WHEN '[1]' THEN '{bad, too' WHEN '{bad' THEN '[2]' ELSE title END")
        try second.receive(from: first)
        #expect(try Self.titles(second) == ["[2]", "[3]"] && second.store.refusedRows().map(\.id) == [rowID(1), rowID(4)])
        try third.receive(from: second)
        try Self.expectWhole([first, second, third])
    }
}
