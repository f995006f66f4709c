import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

@Suite("The journal says something else than what transactions have changed", .timeLimit(.minutes(10)))
struct HistoryTests {
    static let sql = """
        CREATE TABLE list (id BLOB PRIMARY KEY NOT NULL, name TEXT);
        CREATE TABLE item (
            id BLOB PRIMARY KEY NOT NULL, title TEXT, tags TEXT NOT NULL DEFAULT '[]', n INTEGER NOT NULL DEFAULT 0, body TEXT,
            list BLOB REFERENCES list (id) ON DELETE CASCADE);
        CREATE TABLE plain (id BLOB PRIMARY KEY NOT NULL, a TEXT);
        """
    static let tables = [
        TrackedTable("list", journal: .days(30)),
        TrackedTable("item", sets: ["tags"], counters: ["n"], texts: ["body"], journal: .days(30)), TrackedTable("plain"),
    ]

    static func store(_ backend: Backend = .memory, folder: TemporaryFolder? = nil) throws -> TestStore {
        try TestStore(backend, sql: sql, tables: tables, folder: folder)
    }

    static func id(_ number: UInt64) -> RowID { rowID(number) }
    static func text(_ value: String) -> ColumnValue { .text(value) }

    @Test(arguments: Backend.allCases) func `last_insert_rowid() and changes() tell of the app's rows beside a journal`(backend: Backend)
        throws
    {
        let store = try Self.store(backend)
        try store.database.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO item (rowid, id) VALUES (77, ?)", arguments: [key(1)])
            #expect(db.lastInsertedRowID == 77)
            #expect(db.changesCount == 1)
        }
    }

    @Test func `a long author is cut to 1,000 bytes between characters, and a limit below zero lists nothing`() throws {
        let store = try Self.store()
        let long = String(repeating: "a", count: 998) + String(repeating: "\u{1F600}\u{301}", count: 300)
        for (number, author) in [long, "a" + String(repeating: "\u{1F600}", count: 300), String(repeating: "b", count: 2_000)].enumerated()
        {
            try store.database.write { db in
                try store.store.setAuthor(author, db)
                try db.execute(sql: "INSERT INTO item (id) VALUES (?)", arguments: [key(UInt64(number) + 1)])
            }
        }
        let authors = try store.store.history().compactMap(\.author)
        #expect(authors.map(\.utf8.count) == [998, 997, 1_000] && authors[0] == String(long.prefix(998)))
        #expect(try store.store.history(table: "item", id: Self.id(1), limit: -1).isEmpty)
        #expect(try store.store.history(limit: -1).isEmpty)
    }

    @Test func `a transaction is one entry with old and new values of what is different at its end`() throws {
        let store = try Self.store()
        try store.execute("INSERT INTO item (id, title, tags, body) VALUES (?, 'Milk', '[\"b\",\"a\"]', 'one two three')", [key(1)])
        try store.database.write { db in
            try store.store.setAuthor("widget", db)
            try db.execute(sql: "UPDATE item SET title = 'x'")
            try db.execute(sql: "UPDATE item SET title = 'Cream', n = n + 3, body = 'one 2 three'")
            try db.execute(sql: "INSERT INTO item (id, title) VALUES (?, 'gone at once')", arguments: [key(2)])
            try db.execute(sql: "DELETE FROM item WHERE id = ?", arguments: [key(2)])
            try db.inSavepoint {
                try db.execute(sql: "UPDATE item SET tags = '[]'")
                return .rollback
            }
        }
        try store.execute("REPLACE INTO item (id, title, n, body) VALUES (?, 'Cream', 4, 'one 2 three')", [key(1)])
        try store.execute("UPDATE item SET title = title")
        try store.execute("INSERT INTO plain VALUES (?, 'no journal')", [key(1)])
        try store.execute("DELETE FROM item")
        let history = try store.store.history()
        #expect(history.map { $0.changes.map(\.kind) } == [[.insert], [.update], [.update], [.delete]])
        #expect(history.map(\.author) == [nil, "widget", nil, nil])
        #expect(
            history[1].changes[0].columns == [
                "title": .value(old: Self.text("Milk"), new: Self.text("Cream")), "n": .value(old: .integer(0), new: .integer(3)),
                "body": .text(offset: 4, removed: "two", inserted: "2"),
            ])
        #expect(
            history[2].changes[0].columns == [
                "tags": .value(old: Self.text("[\"a\",\"b\"]"), new: Self.text("[]")), "n": .value(old: .integer(3), new: .integer(4)),
            ])
        #expect(history[3].changes[0].columns["title"] == .value(old: Self.text("Cream"), new: .null))
        #expect(history.allSatisfy { $0.changes[0].device == .own })
        #expect(try store.store.history(excluding: ["widget"]).map(\.changes.count) == [1, 0, 1, 1])
        #expect(try store.store.history(table: "item", id: Self.id(1)).map(\.token) == history.map(\.token).reversed())
        try store.expectSound()
    }

    @Test func `a merge is an entry that says whose commits it brought`() throws {
        let (here, there) = (try Self.store(), try Self.store())
        try there.execute("INSERT INTO item (id, title) VALUES (?, 'Milk'), (?, 'Tea')", [key(1), key(2)])
        try here.receive(from: there)
        try there.execute("UPDATE item SET title = 'Cream' WHERE title = 'Milk'")
        try there.execute("DELETE FROM item WHERE title = 'Tea'")
        try here.receive(from: there)
        let history = try here.store.history()
        #expect(history.map(\.origin) == [.merge, .merge])
        #expect(Set(history[1].changes.map(\.kind)) == [.update, .delete])
        #expect(history.flatMap(\.changes).allSatisfy { $0.device == .unknown })
        let update = try #require(history[1].changes.first { $0.kind == .update })
        #expect(update.columns == ["title": .value(old: Self.text("Milk"), new: Self.text("Cream"))])
        try here.expectSound()
    }

    @Test func `tokens lead on, survive opening again, and are refused when they are too old or another file's`() throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(.pool, folder: folder)
        for number in 0..<5 { try store.execute("INSERT INTO item (id, n) VALUES (?, ?)", [key(UInt64(number)), number]) }
        let token = try #require(try store.store.history(limit: 3).last?.token)
        let read = try JSONDecoder().decode(HistoryToken.self, from: JSONEncoder().encode(token))
        #expect(try store.store.history(after: read).count == 2)
        #expect(try store.store.historyToken() == store.store.history().last?.token)
        let other = try Self.store()
        try other.execute("INSERT INTO item (id) VALUES (?)", [key(9)])
        #expect { _ = try other.store.history(after: token) } throws: { ($0 as? StoreError)?.code == .notFound }
        store.store.close()
        let again = try SyncedDatabase(store.database, tables: Self.tables, options: TestStore.options())
        #expect(try again.history(after: token).count == 2)
        // Forty days later, with and without a reader that holds it back.
        try again.setHistoryCursor("widget", token)
        var options = TestStore.options()
        options.clock = { HybridTimestamp(milliseconds: 1_700_000_000_000 + 40 * 86_400_000) }
        again.close()
        let later = try SyncedDatabase(store.database, tables: Self.tables, options: options)
        try later.purgeHistory()
        #expect(try later.history(after: later.historyCursor("widget")).count == 2)
        try later.setHistoryCursor("widget", nil)
        try later.purgeHistory()
        #expect { _ = try later.history(after: token) } throws: { ($0 as? StoreError)?.code == .tokenExpired }
        #expect(try later.history().count == 1)
        let newest = try later.historyToken()
        try store.execute("UPDATE item SET n = 7")
        #expect(try later.history(after: newest).count == 1)
    }

    /// A store whose tables keep their changes for one day and for a hundred, and whose clock one may set.
    private final class Kept {
        let database: DatabaseQueue
        let store: SyncedDatabase
        private let now: NowBox

        init() throws {
            database = try DatabaseQueue()
            try database.write {
                try $0.execute(
                    sql: "CREATE TABLE short (id BLOB PRIMARY KEY NOT NULL, n); CREATE TABLE long (id BLOB PRIMARY KEY NOT NULL, n)")
            }
            now = NowBox()
            var options = TestStore.options()
            options.clock = { [now] in HybridTimestamp(milliseconds: now.milliseconds.withLock { $0 }) }
            store = try SyncedDatabase(
                database, tables: [TrackedTable("short", journal: .days(1)), TrackedTable("long", journal: .days(100))], options: options)
        }

        func insert(_ table: String, _ number: UInt64) throws {
            try database.write { try $0.execute(sql: "INSERT INTO \(table) VALUES (?, 1)", arguments: [key(number)]) }
        }

        /// Three days later.
        func purge() throws {
            now.milliseconds.withLock { $0 += 3 * 86_400_000 }
            try store.purgeHistory()
        }

        func isExpired(_ token: HistoryToken?, tables: Set<String>? = nil) -> Bool {
            do throws(StoreError) {
                _ = try store.history(after: token, tables: tables)
                return false
            } catch { return error.code == .tokenExpired }
        }
    }

    private final class NowBox: Sendable {
        let milliseconds = Mutex<Int64>(1_700_000_000_000)
    }

    @Test func `a token is refused if something after it is forgotten, also where tables are kept for different times`() throws {
        let kept = try Kept()
        try kept.insert("long", 1)
        let token = try #require(try kept.store.historyToken())
        for number in 2..<5 { try kept.insert("short", UInt64(number)) }
        try kept.insert("long", 5)
        let newest = try kept.store.historyToken()
        #expect(!kept.isExpired(token))
        try kept.purge()
        #expect(kept.isExpired(token) && !kept.isExpired(newest))
        // A reader of the table `long` misses nothing.
        #expect(!kept.isExpired(token, tables: ["long"]) && kept.isExpired(token, tables: ["short"]))
        #expect(try kept.store.history(after: token, tables: ["long"]).flatMap(\.changes).count == 1)
        // Nor does a token of another file pass for one whose transaction is gone.
        let other = try Kept()
        for number in 1..<5 { try other.insert("long", UInt64(number)) }
        let foreign = try #require(try other.store.history(limit: 3).last?.token)
        #expect(kept.isExpired(foreign, tables: ["long"]))
        // Such a reader may say how far it has read.
        try kept.store.setHistoryCursor("list", token)
        #expect(try kept.store.historyCursor("list") == token)
    }

    @Test func `a step of which every change is forgotten is not offered to be taken back`() throws {
        let kept = try Kept()
        let undo = kept.store.undo(scope: "editor")
        for (number, table) in [(1, "long"), (2, "short")] {
            try undo.group(table) { try $0.execute(sql: "INSERT INTO \(table) VALUES (?, 1)", arguments: [key(UInt64(number))]) }
        }
        #expect(try undo.nextUndo()?.title == "short")
        // The entry of the newest transaction stays.
        try kept.purge()
        #expect(try undo.nextUndo()?.title == "long")
        #expect(try undo.undo()?.rowsChanged == 1)
        #expect(try undo.nextUndo() == nil)
    }

    @Test func `a cursor is refused once something after it is forgotten, and does not go back`() throws {
        let kept = try Kept()
        for number in 1..<4 { try kept.insert("long", UInt64(number)) }
        try kept.insert("short", 4)
        let token = try #require(try kept.store.historyToken())
        try kept.store.setHistoryCursor("widget", token)
        try kept.insert("long", 5)
        try kept.purge()
        // Its transaction is forgotten, and nothing after it.
        #expect(try kept.store.historyCursor("widget") == token)
        #expect(try kept.store.history(after: kept.store.historyCursor("widget")).count == 1)
        try kept.insert("short", 6)
        try kept.insert("long", 7)
        // A cursor holds its changes back for four times as long.
        try kept.purge()
        #expect(try !kept.isExpired(kept.store.historyCursor("widget")))
        try kept.purge()
        #expect(try kept.isExpired(kept.store.historyCursor("widget")))
        #expect(try !kept.isExpired(kept.store.historyCursor("widget"), tables: ["long"]))
    }

    @Test func `a journal may be kept for ever`() throws {
        let store = try TestStore(
            sql: Self.sql, tables: [TrackedTable("item", journal: .days(.max)), TrackedTable("list"), TrackedTable("plain")])
        try store.execute("INSERT INTO item (id, n) VALUES (?, 1)", [key(1)])
        try store.store.purgeHistory()
        #expect(try store.store.history().count == 1)
    }

    @Test func `a file gets a journal with its first table that has one, and keeps it when no table has one any more`() throws {
        let folder = try TemporaryFolder()
        let without = [
            TrackedTable("list"), TrackedTable("item", sets: ["tags"], counters: ["n"], texts: ["body"]), TrackedTable("plain"),
        ]
        let first = try TestStore(.pool, sql: Self.sql, tables: without, folder: folder)
        try first.execute("INSERT INTO item (id, n) VALUES (?, 1)", [key(1)])
        #expect(try first.store.history().isEmpty && first.store.history(table: "item", id: Self.id(1)).isEmpty)
        #expect(try first.store.historyToken() == nil && first.store.historyCursor("widget") == nil)
        try first.store.setHistoryCursor("widget", nil)
        try first.store.purgeHistory()
        let other = try Self.store()
        try other.execute("INSERT INTO item (id) VALUES (?)", [key(9)])
        let foreign = try #require(try other.store.historyToken())
        #expect { try first.store.setHistoryCursor("widget", foreign) } throws: { ($0 as? StoreError)?.code == .notFound }
        let tables = "SELECT count(*) FROM sqlite_master WHERE name LIKE 'kith_journal%'"
        #expect(try first.database.read { try Int.fetchOne($0, sql: tables) } == 0)
        first.store.close()

        let second = try SyncedDatabase(first.database, tables: Self.tables, options: TestStore.options())
        try first.execute("UPDATE item SET n = 2")
        #expect(try second.history().flatMap(\.changes).map(\.kind) == [.update])
        second.close()

        let third = try SyncedDatabase(first.database, tables: without, options: TestStore.options())
        try first.execute("UPDATE item SET n = 3")
        #expect(try third.history().flatMap(\.changes).map { $0.kind } == [.update])
        third.close()
    }

    @Test func `live history tells what comes, from every process`() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.store(.pool, folder: folder)
        let pool = try DatabasePool(path: store.path)
        let sibling = try SyncedDatabase(pool, tables: Self.tables)
        try store.execute("INSERT INTO item (id, n) VALUES (?, 1)", [key(1)])
        var told = store.store.liveHistory(after: nil).makeAsyncIterator()
        #expect(try await told.next()?.changes.first?.row == Self.id(1))
        try await pool.write { try $0.execute(sql: "INSERT INTO item (id, n) VALUES (?, 2)", arguments: [key(2)]) }
        #expect(try await told.next()?.changes.first?.row == Self.id(2))
        sibling.close()
    }

    @Test func `live history reads on page by page, and throws once the store is closed`() async throws {
        let store = try Self.store(.pool)
        for number in 0..<250 { try store.execute("INSERT INTO item (id, n) VALUES (?, ?)", [key(UInt64(number)), number]) }
        var told = store.store.liveHistory(after: nil).makeAsyncIterator()
        for number in 0..<250 { #expect(try await told.next()?.changes.first?.row == Self.id(UInt64(number))) }
        store.store.close()
        await #expect { _ = try await told.next() } throws: { ($0 as? StoreError)?.code == .failed }
    }

    @Test func `explain tells who wrote a value, and what was written at the same time`() throws {
        let (here, there) = (try Self.store(), try Self.store())
        try here.execute("INSERT INTO item (id, title) VALUES (?, 'Milk')", [key(1)])
        try there.receive(from: here)
        try here.execute("UPDATE item SET title = 'Cream'")
        try there.execute("UPDATE item SET title = 'Oat milk'")
        try there.execute("UPDATE item SET title = 'Oat drink'")
        try here.receive(from: there)
        let explanation = try here.store.explain(table: "item", id: Self.id(1), column: "title")
        #expect(explanation.shown == Self.text("Oat drink"))
        #expect(explanation.versions.map(\.reason) == [.latest, .earlier])
        #expect(explanation.versions.map(\.author) == [.unknown, .own])
        #expect(explanation.history.map { $0.changes[0].kind } == [.update, .update, .insert])
        #expect { _ = try here.store.explain(table: "item", id: Self.id(2), column: "title") } throws: {
            ($0 as? StoreError)?.code == .notFound
        }
    }

    @Test func `a transaction that fails leaves nothing in the journal, nor in the next one`() throws {
        let store = try Self.store()
        try store.execute("INSERT INTO item (id, title) VALUES (?, 'Milk')", [key(1)])
        #expect(throws: CancellationError.self) {
            try store.database.write { db in
                try store.store.setAuthor("lost", db)
                try db.execute(sql: "UPDATE item SET title = 'x', n = 5")
                throw CancellationError()
            }
        }
        try store.execute("UPDATE item SET title = 'y'")
        let history = try store.store.history()
        #expect(history.count == 2 && history[1].author == nil)
        #expect(history[1].changes[0].columns == ["title": .value(old: Self.text("Milk"), new: Self.text("y"))])
    }
}
