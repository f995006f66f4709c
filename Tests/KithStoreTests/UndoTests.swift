import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("An undo loses what others have written, or leaves what nobody has touched", .timeLimit(.minutes(10)))
struct UndoTests {
    static func rows(_ store: TestStore) throws -> [Row] {
        try store.database.read { db in
            try Row.fetchAll(
                db,
                sql:
                    "SELECT 1 AS t, id, title, tags, n, body, list FROM item UNION ALL SELECT 2, id, name, '', 0, '', NULL FROM list ORDER BY 1, 2"
            )
        }
    }

    static func texts(_ row: Row) -> [String] {
        ["title", "tags", "n", "body"].map { (column: String) -> String in String.fromDatabaseValue(row[column]) ?? "\(row[column] as Int)"
        }
    }

    static func title(_ store: TestStore) throws -> String? {
        try store.database.read { try String.fetchOne($0, sql: "SELECT title FROM item") }
    }

    @Test func `an undo takes back its step where that is still shown, and reports the rest by device`() throws {
        let (here, there) = (try HistoryTests.store(), try HistoryTests.store())
        let undo = here.store.undo(scope: "editor")
        try here.execute("INSERT INTO item (id, title, tags, n, body) VALUES (?, 'Milk', '[\"a\"]', 1, 'one two three')", [key(1)])
        #expect(try undo.nextUndo() == nil && undo.undo() == nil)
        try undo.group("Rename") { db in
            try db.execute(sql: "UPDATE item SET title = 'Cream', tags = '[\"b\"]', n = 5, body = 'one 2 three'")
        }
        try there.receive(from: here)
        try there.execute("UPDATE item SET title = 'Oat', tags = '[\"b\",\"c\"]', n = n + 10, body = 'one 2 three four'")
        try here.receive(from: there)
        #expect(try undo.nextUndo()?.title == "Rename")
        let report = try #require(try undo.undo())
        #expect(report.title == "Rename" && report.rowsChanged == 1)
        #expect(report.left == [.init(table: "item", row: HistoryTests.id(1), column: "title", reason: .changedSince, by: .unknown)])
        let row = try #require(try Self.rows(here).first)
        #expect(Self.texts(row) == ["Oat", #"["a","c"]"#, "11", "one two three four"])
        #expect(try undo.nextUndo() == nil)
        let redone = try #require(try undo.redo())
        #expect(redone.isWhole)
        let again = try #require(try Self.rows(here).first)
        #expect(Self.texts(again) == ["Oat", #"["b","c"]"#, "15", "one 2 three four"])
        try here.expectSound()
    }

    @Test func `an undone insertion leaves a row that another device has inserted alike`() throws {
        let (here, there) = (try HistoryTests.store(), try HistoryTests.store())
        let insert = "INSERT INTO item (id, title, tags, n, body) VALUES (?, 'Milk', '[]', 0, '')"
        let undo = here.store.undo(scope: "editor")
        try undo.group("Add") { db in for number in 1...2 as ClosedRange<UInt64> { try db.execute(sql: insert, arguments: [key(number)]) } }
        try there.execute(insert, [key(1)])
        try here.receive(from: there)
        let report = try #require(try undo.undo())
        #expect(report.left == [.init(table: "item", row: HistoryTests.id(1), column: nil, reason: .changedSince, by: .unknown)])
        // Its deletion is done again all the same.
        try undo.group("Remove") { try $0.execute(sql: "DELETE FROM item") }
        for isUndo in [true, false, true] {
            #expect(try (isUndo ? undo.undo() : undo.redo())?.isWhole == true)
            #expect(try here.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == (isUndo ? 1 : 0))
        }
        try there.receive(from: here)
        for store in [here, there] {
            #expect(try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 1)
            try store.expectSound()
        }
    }

    @Test func `steps of a text that was NULL in between are taken back and done again`() throws {
        let store = try HistoryTests.store()
        try store.execute("INSERT INTO item (id, title, tags, n, body) VALUES (?, 'Milk', '[]', 1, 'hello')", [key(1)])
        let undo = store.store.undo(scope: "editor")
        for body in ["'hello world'", "NULL", "'new'"] { try undo.group { try $0.execute(sql: "UPDATE item SET body = \(body)") } }
        func body() throws -> String? { try store.database.read { try String.fetchOne($0, sql: "SELECT body FROM item") } }
        for expected in [nil, "hello world", "hello"] {
            #expect(try undo.undo()?.isWhole == true && body() == expected)
        }
        for expected in ["hello world", nil, "new"] {
            #expect(try undo.redo()?.isWhole == true && body() == expected)
        }
        try store.expectSound()
    }

    @Test func `rows that refer to each other in a circle go and come back at once`() throws {
        let store = try TestStore(
            sql: """
                CREATE TABLE folder (id BLOB PRIMARY KEY NOT NULL, name TEXT, parent BLOB REFERENCES folder (id) ON DELETE CASCADE);
                CREATE TABLE root (id BLOB PRIMARY KEY NOT NULL, name TEXT, folder BLOB REFERENCES folder (id) ON DELETE SET NULL);
                """, tables: [TrackedTable("folder", journal: .days(30)), TrackedTable("root", journal: .days(30))])
        func folders() throws -> [String] {
            try store.database.read { try String.fetchAll($0, sql: "SELECT name || hex(parent) FROM folder ORDER BY id") }
        }
        try store.execute("INSERT INTO folder VALUES (?, 'a', NULL), (?, 'b', ?), (?, 'c', ?)", [key(1), key(2), key(1), key(3), key(2)])
        try store.execute("UPDATE folder SET parent = ? WHERE name = 'a'", [key(2)])
        let before = try folders()
        let undo = store.store.undo(scope: "editor")
        try undo.group("Delete") { db in try db.execute(sql: "DELETE FROM folder WHERE name = 'b'") }
        #expect(try folders().isEmpty)
        for _ in 0..<2 {
            #expect(try undo.undo()?.isWhole == true)
            #expect(try folders() == before)
            #expect(try undo.redo()?.isWhole == true)
            #expect(try folders().isEmpty)
        }
        #expect(try undo.undo()?.isWhole == true)
        // What refers to one of them since holds all.
        try store.execute("INSERT INTO root VALUES (?, 'root', ?)", [key(4), key(1)])
        let report = try #require(try undo.redo())
        #expect(Set(report.left.map(\.reason)) == [.isReferredTo] && report.left.map(\.row).contains(rowID(1)))
        #expect(try folders() == Array(before.prefix(2)))
        try store.expectSound()
    }

    @Test func `a circle that refers to what is gone stays away, and another one comes back`() throws {
        let (here, there) = (try Self.folders(), try Self.folders())
        try here.execute("INSERT INTO folder VALUES (?, 'a', NULL, NULL), (?, 'b', ?, NULL)", [key(1), key(2), key(1)])
        try here.execute("INSERT INTO folder VALUES (?, 'c', NULL, NULL), (?, 'd', ?, NULL)", [key(3), key(4), key(3)])
        try here.execute("INSERT INTO folder VALUES (?, 'e', NULL, NULL)", [key(5)])
        try here.execute("UPDATE folder SET parent = ?, owner = ? WHERE name = 'a'", [key(2), key(5)])
        try here.execute("UPDATE folder SET parent = ? WHERE name = 'c'", [key(4)])
        let undo = here.store.undo(scope: "editor")
        try undo.group("Delete") { db in try db.execute(sql: "DELETE FROM folder WHERE name IN ('a', 'c')") }
        try there.receive(from: here)
        try there.execute("DELETE FROM folder WHERE name = 'e'")
        try here.receive(from: there)
        let report = try #require(try undo.undo())
        #expect(Set(report.left.map(\.row)) == [rowID(1), rowID(2)])
        #expect(try here.database.read { try String.fetchAll($0, sql: "SELECT name FROM folder ORDER BY id") } == ["c", "d"])
        try here.expectSound()
    }

    private static func folders() throws -> TestStore {
        try TestStore(
            sql: """
                CREATE TABLE folder (
                    id BLOB PRIMARY KEY NOT NULL, name TEXT, parent BLOB REFERENCES folder (id) ON DELETE CASCADE,
                    owner BLOB REFERENCES folder (id) ON DELETE CASCADE);
                """, tables: [TrackedTable("folder", journal: .days(30))])
    }

    @Test func `a deletion undone brings the children back, and an insertion undone leaves what others added to it`() throws {
        let (here, there) = (try HistoryTests.store(), try HistoryTests.store())
        let undo = here.store.undo(scope: "editor")
        try here.execute("INSERT INTO list (id, name) VALUES (?, 'Shop')", [key(1)])
        try here.execute("INSERT INTO item (id, title, list) VALUES (?, 'Milk', ?), (?, 'Tea', ?)", [key(2), key(1), key(3), key(1)])
        let before = try Self.rows(here)
        try undo.group("Delete the list") { try $0.execute(sql: "DELETE FROM list") }
        #expect(try Self.rows(here).isEmpty)
        #expect(try #require(try undo.undo()).isWhole)
        #expect(try Self.rows(here) == before)
        #expect(try #require(try undo.redo()).isWhole)
        #expect(try Self.rows(here).isEmpty)
        #expect(try #require(try undo.undo()).isWhole)
        #expect(try Self.rows(here) == before)
        try undo.group("New list") { db in
            try db.execute(sql: "INSERT INTO list (id, name) VALUES (?, 'Garden')", arguments: [key(5)])
            try db.execute(sql: "INSERT INTO item (id, title, list) VALUES (?, 'Rake', ?)", arguments: [key(6), key(5)])
        }
        try there.receive(from: here)
        try there.execute("INSERT INTO item (id, title, list) VALUES (?, 'Spade', ?)", [key(7), key(5)])
        try here.receive(from: there)
        let report = try #require(try undo.undo())
        #expect(report.left == [.init(table: "list", row: HistoryTests.id(5), column: nil, reason: .isReferredTo, by: .unknown)])
        #expect(
            try here.database.read { try String.fetchAll($0, sql: "SELECT title FROM item ORDER BY title") } == ["Milk", "Spade", "Tea"])
        try here.expectSound()
    }

    @Test func `steps survive opening again under another replica id`() throws {
        let folder = try TemporaryFolder()
        let store = try HistoryTests.store(.pool, folder: folder)
        try store.execute("INSERT INTO item (id, title) VALUES (?, 'Milk')", [key(1)])
        try store.store.undo(scope: "editor").group("Rename") { try $0.execute(sql: "UPDATE item SET title = 'Cream'") }
        store.store.close()
        let copy = folder.file("copy.sqlite")
        try store.database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy]) }
        let pool = try DatabasePool(path: copy)
        let restored = try SyncedDatabase(pool, tables: HistoryTests.tables)
        #expect(try #require(try restored.undo(scope: "editor").undo()).isWhole)
        #expect(try pool.read { try String.fetchOne($0, sql: "SELECT title FROM item") } == "Milk")
        #expect(try restored.undo(scope: "other").redo() == nil)
        #expect(try #require(try restored.undo(scope: "editor").redo()).isWhole)
        #expect(try pool.read { try String.fetchOne($0, sql: "SELECT title FROM item") } == "Cream")
    }

    @Test func `an undo that finds all changed since is over, and a new step ends what could be done again`() throws {
        let (here, there) = (try HistoryTests.store(), try HistoryTests.store())
        let undo = here.store.undo(scope: "editor")
        try here.execute("INSERT INTO item (id, title) VALUES (?, 'a')", [key(1)])
        try undo.group("first") { try $0.execute(sql: "UPDATE item SET title = 'b'") }
        try undo.group("second") { try $0.execute(sql: "UPDATE item SET title = 'c'") }
        try there.receive(from: here)
        try there.execute("UPDATE item SET title = 'd'")
        try here.receive(from: there)
        #expect(try #require(try undo.undo()).left.count == 1)
        #expect(try undo.nextUndo()?.title == "first")
        #expect(try undo.nextRedo()?.title == "second")
        try undo.group("third") { try $0.execute(sql: "UPDATE item SET title = 'e'") }
        #expect(try undo.nextRedo() == nil)
        #expect(try #require(try undo.undo()).isWhole)
        #expect(try Self.title(here) == "d")
        try there.receive(from: here)
        try there.execute("DELETE FROM item")
        try here.receive(from: there)
        #expect(try #require(try undo.undo()).left.map(\.reason) == [.deletedSince])
    }

    @Test func `what one merge brought from two devices is reported by who wrote the value`() throws {
        let stores = (try HistoryTests.store(), try HistoryTests.store(), try HistoryTests.store())
        let (here, there, third) = stores
        let undo = here.store.undo(scope: "editor")
        try here.execute("INSERT INTO item (id, title, n) VALUES (?, 'Milk', 1)", [key(1)])
        try undo.group("Rename") { db in try db.execute(sql: "UPDATE item SET title = 'Cream'") }
        try third.receive(from: here)
        try third.execute("UPDATE item SET n = n + 1")
        try there.receive(from: third)
        try there.execute("UPDATE item SET title = 'Oat'")
        try here.receive(from: there)
        #expect(try here.store.history().last?.changes.map(\.device) == [nil])
        let report = try #require(try undo.undo())
        #expect(report.left == [.init(table: "item", row: HistoryTests.id(1), column: "title", reason: .changedSince, by: .unknown)])
    }

    @Test(
        arguments: [
            ("a <= b", "1, 2", "5, 6"), ("a <= b", "5, 6", "1, 2"), ("(a IS NULL) = (b IS NULL)", "NULL, NULL", "1, 2"),
        ])
    func `columns that a rule of the table ties together are taken back together`(rule: String, before: String, after: String) throws {
        let sql = "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, a INT, b INT, body TEXT NOT NULL DEFAULT '', CHECK (\(rule)))"
        let here = try TestStore(sql: sql, tables: [TrackedTable("item", texts: ["body"], journal: .days(30))])
        func values() throws -> Row? { try here.database.read { try Row.fetchOne($0, sql: "SELECT a, b, body FROM item") } }
        let undo = here.store.undo(scope: "editor")
        try here.execute("INSERT INTO item VALUES (?, \(before), 'text')", [key(1)])
        let first = try values()
        try undo.group { try $0.execute(sql: "UPDATE item SET (a, b, body) = (\(after), 'a text')") }
        let second = try values()
        #expect(try #require(try undo.undo()).isWhole)
        #expect(try values() == first)
        #expect(try #require(try undo.redo()).isWhole)
        #expect(try values() == second)
    }

    @Test func `a row that a rule keeps from being shown is not said to be deleted`() throws {
        let sql = "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, title TEXT, x INT, y INT, CHECK (x IS NULL OR y IS NULL))"
        let tables = [TrackedTable("item", journal: .days(30))]
        let (here, there) = (try TestStore(sql: sql, tables: tables), try TestStore(sql: sql, tables: tables))
        let undo = here.store.undo(scope: "editor")
        try here.execute("INSERT INTO item (id, title) VALUES (?, 'Milk')", [key(1)])
        try there.receive(from: here)
        try undo.group("Rename") { db in try db.execute(sql: "UPDATE item SET title = 'Cream'") }
        try here.execute("UPDATE item SET x = 1")
        try there.execute("UPDATE item SET y = 1")
        try here.receive(from: there)
        let refused = try #require(try here.store.refusedRows().first)
        #expect(try #require(try undo.undo()).left.map(\.reason) == [.refused(refused.reason)])
    }

    @Test(arguments: ["INTEGER DEFAULT 3", "INTEGER NOT NULL DEFAULT 3"])
    func `a row that comes back shows the default of a column that the table has only since then`(column: String) throws {
        let here = try HistoryTests.store()
        try here.execute("INSERT INTO item (id, title, n) VALUES (?, NULL, 1)", [key(1)])
        try here.store.undo(scope: "editor").group { db in try db.execute(sql: "DELETE FROM item") }
        here.store.close()
        try here.database.write { db in
            try SyncedDatabase.removeTriggers(of: "item", in: db)
            try db.execute(sql: "ALTER TABLE item ADD COLUMN stars \(column)")
        }
        let store = try SyncedDatabase(here.database, tables: HistoryTests.tables, options: TestStore.options())
        defer { store.close() }
        #expect(try store.undo(scope: "editor").undo()?.isWhole == true)
        #expect(try here.database.read { try String.fetchOne($0, sql: "SELECT n || stars || (title IS NULL) FROM item") } == "131")
    }

    @Test func `without a journal undo is refused in words`() throws {
        let store = try TestStore()
        #expect { try store.store.undo(scope: "x").group { _ in } } throws: { ($0 as? StoreError)?.message.contains("journal") == true }
    }

    /// A row, of which a set has no order.
    static func words(_ row: Row) -> String {
        let texts = texts(row).enumerated().map { $0 == 1 ? String($1.sorted()) : $1 }
        return "\(Array(row["id"] as Data)) \(texts) \((row["list"] as Data?).map(Array.init) ?? [])"
    }

    /// One step of a random history.
    static func write(_ db: Database, _ random: inout SplitMix64) throws {
        for _ in 0..<random.below(3) + 1 {
            let (id, list) = (key(UInt64(random.below(5)) + 1), key(UInt64(random.below(2)) + 50))
            switch random.below(9) {
            case 0: try db.execute(sql: "INSERT OR IGNORE INTO list (id, name) VALUES (?, 'l')", arguments: [list])
            case 1: try db.execute(sql: "DELETE FROM list WHERE id = ?", arguments: [list])
            case 2, 3:
                try db.execute(
                    sql: "INSERT OR IGNORE INTO item (id, title, body, list) VALUES (?, ?, 'one two', (SELECT id FROM list WHERE id = ?))",
                    arguments: [id, "t\(random.below(4))", list])
            case 4: try db.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [id])
            case 5: try db.execute(sql: "UPDATE item SET title = ? WHERE id = ?", arguments: ["u\(random.below(4))", id])
            case 6: try db.execute(sql: "UPDATE item SET n = n + ? WHERE id = ?", arguments: [random.below(5) - 2, id])
            case 7:
                try db.execute(
                    sql: "UPDATE item SET tags = ? WHERE id = ?",
                    arguments: [random.pick(["[]", "[\"a\"]", "[\"a\",\"b\"]", "[\"c\"]"]), id])
            default:
                try db.execute(
                    sql: "UPDATE item SET body = substr(body, 1, ?) || ? || substr(body, ?) WHERE id = ?",
                    arguments: [random.below(4), random.pick(["x", "ä", ""]), random.below(4) + 3, id])
            }
        }
    }

    @Test func `undo and redo are the identity where nobody interfered`() throws {
        // In 303 and 1231 a row comes back with the text that it had before a life between.
        for seed in [303, 1231] + Array(Soak.firstSeed..<Soak.firstSeed + UInt64(Soak.count(8, soaking: 2_000))) {
            var random = SplitMix64(seed: seed)
            let store = try HistoryTests.store()
            let undo = store.store.undo(scope: "editor")
            var states = [try Self.rows(store)]
            for _ in 0..<8 {
                try undo.group { try Self.write($0, &random) }
                let now = try Self.rows(store)
                // A step that has changed nothing is none.
                if now != states.last { states.append(now) }
            }
            for state in states.dropLast().reversed() {
                let report = try #require(random.chance(50) ? try undo.undo() : try store.database.write(undo.undo), "seed \(seed)")
                #expect(report.isWhole, "seed \(seed): \(report)")
                let now = try Self.rows(store)
                #expect(
                    now == state,
                    "seed \(seed)\n\(now.map(\.description).joined(separator: "\n"))\nmust be\n\(state.map(\.description).joined(separator: "\n"))"
                )
                if now != state { return }
            }
            #expect(try undo.undo() == nil, "seed \(seed)")
            for state in states.dropFirst() {
                let report = try #require(random.chance(50) ? try undo.redo() : try store.database.write(undo.redo), "seed \(seed)")
                #expect(report.isWhole, "seed \(seed): \(report)")
                #expect(try Self.rows(store) == state, "seed \(seed)")
            }
            #expect(try undo.redo() == nil, "seed \(seed)")
            try store.expectSound()
        }
    }

    @Test func `an undo never loses what another device has written`() throws {
        for seed in Soak.firstSeed..<Soak.firstSeed + UInt64(Soak.count(6, soaking: 2_000)) {
            var random = SplitMix64(seed: seed)
            let (here, there) = (try HistoryTests.store(), try HistoryTests.store())
            let undo = here.store.undo(scope: "editor")
            for _ in 0..<5 { try undo.group { try Self.write($0, &random) } }
            try there.receive(from: here)
            // Titles that only the other device writes.
            for number in 0..<3 {
                try there.execute("UPDATE item SET title = ? WHERE id = ?", ["theirs \(number)", key(UInt64(random.below(5)) + 1)])
            }
            try here.receive(from: there)
            let theirs = try Self.rows(here).filter { ($0["title"] as String?)?.hasPrefix("theirs") == true }
            for _ in 0..<5 {
                _ = try undo.undo()
                if random.chance(30) { _ = try undo.redo() }
            }
            let now = try Self.rows(here)
            for row in theirs {
                #expect(now.contains { $0["id"] as Data == row["id"] as Data && $0["title"] as String? == row["title"] }, "seed \(seed)")
            }
            try there.receive(from: here)
            try here.receive(from: there)
            #expect(try Self.rows(here) == Self.rows(there), "seed \(seed)")
            try here.expectSound()
        }
    }
}
