import Foundation
import GRDB
import KithStore
import KithSync
import TestSupport
import Testing

/// When a trigger of the app is made, and so before or after which of Kith's it is fired.
enum TriggerMaking: String, CaseIterable, Sendable {
    case beforeOpening
    case whileOpen
    case temporary
}

@Suite("A trigger that writes the row that is being written makes others show something else, or a text that takes no edits any more")
struct NestedTriggerTests {
    private static let sql = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT, tags TEXT NOT NULL DEFAULT '[]',
            n INTEGER NOT NULL DEFAULT 0, updated TEXT)
        """
    private static let tables = [TrackedTable("note", sets: ["tags"], counters: ["n"], texts: ["body"], journal: .days(30))]
    private static let all = "SELECT hex(id), title, body, tags, n, updated FROM note ORDER BY id"

    /// A database with the trigger, and one without.
    private struct Pair {
        let database: DatabaseQueue
        let other: DatabaseQueue
        let store: SyncedDatabase
        let peer: SyncedDatabase

        init(_ sql: String, _ tables: [TrackedTable], trigger: String, _ making: TriggerMaking) throws {
            (database, other) = (try DatabaseQueue(), try DatabaseQueue())
            for each in [database, other] { try each.write { try $0.execute(sql: sql) } }
            let create = "CREATE \(making == .temporary ? "TEMP " : "")TRIGGER app \(trigger)"
            if making == .beforeOpening { try database.write { try $0.execute(sql: create) } }
            store = try SyncedDatabase(database, tables: tables, options: TestStore.options())
            peer = try SyncedDatabase(other, tables: tables, options: TestStore.options())
            if making != .beforeOpening { try database.writeWithoutTransaction { try $0.execute(sql: create) } }
        }

        func run(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
            try database.write { try $0.execute(sql: sql, arguments: arguments) }
        }

        func expectSame(_ sql: String, _ expected: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
            try peer.pull(from: store)
            try store.pull(from: peer)
            let rows = try [database, other].map { database in
                try database.read { try Row.fetchAll($0, sql: sql).map { $0.databaseValues.map(\.description).joined(separator: "|") } }
            }
            #expect(rows[0] == rows[1], sourceLocation: sourceLocation)
            if let expected { #expect(rows[0].joined(separator: "\n").contains(expected), "\(rows[0])", sourceLocation: sourceLocation) }
            #expect(try store.recomputedDigest() == peer.recomputedDigest(), sourceLocation: sourceLocation)
            for each in [store, peer] {
                #expect(try each.verify().problems == [], sourceLocation: sourceLocation)
                #expect(try each.refusedRows() == [], sourceLocation: sourceLocation)
            }
        }
    }

    private func pair(_ trigger: String, _ making: TriggerMaking) throws -> Pair {
        let pair = try Pair(Self.sql, Self.tables, trigger: trigger, making)
        try pair.run("INSERT INTO note (id, title, body, n) VALUES (?, 'a', 'x', 3)", [key(1)])
        return pair
    }

    @Test(
        arguments: [
            ("UPDATE OF title", "n = n + 1"), ("UPDATE OF title", "body = body || '!'"), ("UPDATE OF title", "tags = '[\"t\"]'"),
            ("UPDATE OF body", "body = trim(new.body)"), ("UPDATE OF n", "n = max(0, new.n)"), ("UPDATE", "updated = updated || 'u'"),
            ("UPDATE OF tags", "tags = json_insert(new.tags, '$[#]', 'z')"), ("UPDATE", "title = upper(new.title), n = n * 2"),
        ], ["BEFORE", "AFTER"])
    func `what a trigger makes of the row is noted once, whenever it is fired`(trigger: (event: String, change: String), time: String)
        throws
    {
        for making in TriggerMaking.allCases {
            let pair = try pair("\(time) \(trigger.event) ON note BEGIN UPDATE note SET \(trigger.change) WHERE id = new.id; END", making)
            for change in [
                "title = 'b'", "title = 'c', n = n - 5", "body = 'hello world  '", "tags = '[\"a\"]', updated = ''",
                "body = body || 'y', n = 7",
            ] {
                try pair.run("UPDATE note SET \(change)")
                try pair.expectSame(Self.all)
            }
            // An edit from elsewhere is taken in as before.
            try pair.other.write { try $0.execute(sql: "UPDATE note SET body = 'new ' || body, n = n + 1, updated = 'there'") }
            if time == "AFTER" || making == .beforeOpening { try pair.expectSame(Self.all, "new ") }
        }
    }

    @Test(arguments: TriggerMaking.allCases, ["BEFORE", "AFTER"])
    func `a text that is saved by what was typed is saved once beside a trigger that notes the time`(making: TriggerMaking, time: String)
        throws
    {
        let trigger =
            "\(time) UPDATE OF body ON note BEGIN UPDATE note SET updated = coalesce(updated, '') || 'u', n = n + 1 WHERE id = new.id; END"
        let pair = try pair(trigger, making)
        for text in ["xy and more", "y and more words", "y and"] {
            let base = try pair.store.textVersion(table: "note", id: rowID(1), column: "body")
            try pair.database.write { try pair.store.saveText($0, table: "note", id: rowID(1), column: "body", text, base: base) }
            try pair.expectSame(Self.all, text)
        }
        try pair.expectSame("SELECT updated, n FROM note", "\"uuu\"|6")
    }

    @Test(arguments: TriggerMaking.allCases)
    func `a text that a trigger changes as it is saved is everywhere what the table shows`(making: TriggerMaking) throws {
        for trigger in [
            "BEFORE UPDATE OF body ON note BEGIN UPDATE note SET body = body || '?' WHERE id = new.id; END",
            "AFTER UPDATE OF body ON note WHEN new.body NOT LIKE '%?' BEGIN UPDATE note SET body = body || '?' WHERE id = new.id; END",
        ] {
            let pair = try pair(trigger, making)
            let base = try pair.store.textVersion(table: "note", id: rowID(1), column: "body")
            try pair.database.write { try pair.store.saveText($0, table: "note", id: rowID(1), column: "body", "xyz", base: base) }
            try pair.expectSame(Self.all, trigger.hasPrefix("AFTER") ? "xyz?" : "xyz")
        }
    }

    @Test(arguments: TriggerMaking.allCases)
    func `a choice between versions is noted once beside a trigger that notes the time`(making: TriggerMaking) throws {
        let pair = try pair("BEFORE UPDATE OF title ON note BEGIN UPDATE note SET n = n + 1 WHERE id = new.id; END", making)
        try pair.expectSame(Self.all)
        try pair.other.write { try $0.execute(sql: "UPDATE note SET title = 'there'") }
        try pair.run("UPDATE note SET title = 'here'")
        try pair.store.pull(from: pair.peer)
        let chosen = ColumnValue.text(Array("here or there".utf8))
        try pair.database.write { try pair.store.resolve($0, table: "note", id: rowID(1), column: "title", keeping: chosen) }
        try pair.expectSame(Self.all, "here or there")
    }

    @Test(arguments: TriggerMaking.allCases)
    func `a row that a trigger changes before it is deleted comes back as it was then`(making: TriggerMaking) throws {
        let pair = try pair("BEFORE DELETE ON note BEGIN UPDATE note SET body = body || ' gone', n = n + 1 WHERE id = old.id; END", making)
        try pair.run("UPDATE note SET body = 'xy'")
        try pair.run("DELETE FROM note")
        try pair.expectSame(Self.all)
        try pair.store.restore(table: "note", id: rowID(1))
        try pair.expectSame(Self.all, "xy gone")
    }

    @Test(arguments: TriggerMaking.allCases)
    func `writes that come to nothing, or are taken back, leave nothing behind`(making: TriggerMaking) throws {
        let pair = try pair(
            """
            BEFORE UPDATE OF title ON note BEGIN
                UPDATE note SET n = n + 1 WHERE id = new.id;
                SELECT RAISE(IGNORE) WHERE new.title = 'ignored'; SELECT RAISE(ABORT, 'no') WHERE new.title = 'aborted';
            END
            """, making)
        try pair.run("UPDATE note SET title = 'ignored', n = 100")
        #expect(throws: DatabaseError.self) { try pair.run("UPDATE note SET title = 'aborted'") }
        try pair.database.write { db in
            try db.execute(sql: "UPDATE note SET title = 'ignored'")
            try db.inSavepoint {
                try db.execute(sql: "UPDATE note SET title = 'in a savepoint', body = 'taken back'")
                try? db.execute(sql: "UPDATE note SET title = 'aborted'")
                return .rollback
            }
            try db.execute(sql: "UPDATE note SET title = 'c', body = 'z'")
            try db.execute(sql: "UPDATE note SET body = 'zz', n = n * 2")
        }
        try pair.expectSame(Self.all, "zz")
    }

    @Test(arguments: TriggerMaking.allCases)
    func `what comes back over another table is noted once`(making: TriggerMaking) throws {
        let sql = """
            CREATE TABLE list (id BLOB PRIMARY KEY NOT NULL, total INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, list BLOB, done INTEGER NOT NULL DEFAULT 0, body TEXT);
            CREATE TRIGGER down AFTER UPDATE OF total ON list BEGIN UPDATE item SET body = body || new.total WHERE list = new.id; END
            """
        let tables = [TrackedTable("list", counters: ["total"]), TrackedTable("item", texts: ["body"])]
        let pair = try Pair(
            sql, tables, trigger: "BEFORE UPDATE OF done ON item BEGIN UPDATE list SET total = total + 1 WHERE id = new.list; END", making)
        try pair.run("INSERT INTO list (id) VALUES (?)", [key(1)])
        try pair.run("INSERT INTO item VALUES (?, ?, 0, 'i')", [key(2), key(1)])
        for _ in 0..<3 { try pair.run("UPDATE item SET done = done + 1") }
        try pair.expectSame("SELECT body, done FROM item", "\"i123\"|3")
        try pair.expectSame("SELECT total FROM list", "3")
    }

    @Test(arguments: [TriggerMaking.whileOpen, .temporary])
    func `what is merged into a row that such a trigger writes before Kith hears of it is refused and not lost`(making: TriggerMaking)
        throws
    {
        let pair = try pair("BEFORE UPDATE OF title ON note BEGIN UPDATE note SET updated = 'u' WHERE id = new.id; END", making)
        try pair.expectSame(Self.all)
        try pair.other.write { try $0.execute(sql: "UPDATE note SET title = 'there'") }
        try pair.store.pull(from: pair.peer)
        #expect(try pair.store.refusedRows().map(\.id) == [rowID(1)])
        pair.store.close()
        let again = try SyncedDatabase(pair.database, tables: Self.tables, options: TestStore.options())
        if making == .temporary { try pair.run("DROP TRIGGER app") }
        try pair.other.write { try $0.execute(sql: "UPDATE note SET n = n + 1") }
        try again.pull(from: pair.peer)
        #expect(try again.refusedRows() == [])
        #expect(try pair.database.read { try String.fetchOne($0, sql: "SELECT title || n FROM note") } == "there4")
        again.close()
    }

    @Test func `what a write that came to nothing left is forgotten with its transaction`() throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.write { db in
            try db.execute(sql: Self.sql)
            try db.execute(
                sql: "CREATE TRIGGER app BEFORE UPDATE OF title ON note BEGIN SELECT RAISE(IGNORE) WHERE new.title = 'ignored'; END")
        }
        let peer = try TestStore(sql: Self.sql, tables: Self.tables)
        let store = try SyncedDatabase(pool, tables: Self.tables, options: TestStore.options())
        defer { store.close() }
        try pool.write { try $0.execute(sql: "INSERT INTO note (id, title, body, n) VALUES (?, 'a', 'x', 3)", arguments: [key(1)]) }
        try peer.store.pull(from: store)
        try pool.write { try $0.execute(sql: "UPDATE note SET title = 'ignored'") }
        try peer.execute("UPDATE note SET n = n + 4, body = 'xyz'")
        try store.pull(from: peer.store)
        try pool.write { try $0.execute(sql: "UPDATE note SET updated = 'now'") }
        try peer.store.pull(from: store)
        let rows = try [pool.read { try Row.fetchOne($0, sql: Self.all) }, peer.database.read { try Row.fetchOne($0, sql: Self.all) }]
        #expect(rows[0] == rows[1])
        #expect(rows[1]?["n"] == 7 && rows[1]?["body"] == "xyz")
        #expect(try store.verify().problems == [])
    }

    @Test(arguments: TriggerMaking.allCases, ["BEFORE", "AFTER"])
    func `sets and counters get their one form beside such a trigger`(making: TriggerMaking, time: String) throws {
        let pair = try pair(
            "\(time) UPDATE OF tags, n ON note BEGIN UPDATE note SET updated = 'u', body = body || '!' WHERE id = new.id; END", making)
        // Such a trigger keeps them as they were written.
        let isKept = time == "BEFORE" && making != .beforeOpening
        let columns = isKept ? "SELECT title, body, n, updated, json_array_length(tags) FROM note" : Self.all
        try pair.run("UPDATE note SET tags = '[\"b\",\"a\"]'")
        try pair.expectSame(columns)
        try pair.run("UPDATE note SET tags = '[\"d\",\"c\"]', n = n + 1")
        try pair.expectSame(columns)
    }

    @Test(arguments: TriggerMaking.allCases, ["BEFORE", "AFTER"])
    func `what such a trigger writes beside a text that is saved is noted, too`(making: TriggerMaking, time: String) throws {
        for change in ["body = trim(new.body), updated = 'u', n = n + 1", "body = new.body, n = n + 2", "body = 'other', n = n + 1"] {
            let pair = try pair("\(time) UPDATE OF body ON note BEGIN UPDATE note SET \(change) WHERE id = new.id; END", making)
            let base = try pair.store.textVersion(table: "note", id: rowID(1), column: "body")
            try pair.database.write { try pair.store.saveText($0, table: "note", id: rowID(1), column: "body", "typed", base: base) }
            try pair.expectSame(Self.all)
        }
    }

    @Test(arguments: ["BEFORE", "AFTER"])
    func `a row is restored beside a trigger that writes new rows, and once`(time: String) throws {
        let pair = try pair(
            "\(time) INSERT ON note BEGIN UPDATE note SET n = n + 1, body = body || '!' WHERE id = new.id; END", .beforeOpening)
        try pair.expectSame(Self.all)
        try pair.run("DELETE FROM note")
        try pair.store.restore(table: "note", id: rowID(1))
        try pair.expectSame(Self.all)
        let undo = pair.store.undo(scope: "editor")
        try undo.group { try $0.execute(sql: "DELETE FROM note") }
        #expect(try undo.undo()?.isWhole == true)
        try pair.expectSame(Self.all, "01900000000070000000000000000001")
    }
}
