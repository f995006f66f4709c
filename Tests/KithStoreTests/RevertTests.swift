import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("To revert a device takes back what others have done, or leaves what it has done", .timeLimit(.minutes(10)))
struct RevertTests {
    @Test func `what a device has done since a moment is taken back, but for what was changed after it`() throws {
        let (here, there) = (try HistoryTests.store(), try HistoryTests.store())
        try here.execute("INSERT INTO item (id, title, n) VALUES (?, 'Milk', 1), (?, 'Tea', 1), (?, 'Salt', 1)", [key(1), key(2), key(3)])
        try there.receive(from: here)
        let moment = try #require(try here.store.history().last?.date)
        try there.execute("UPDATE item SET title = 'spam', n = n + 1 WHERE title <> 'Salt'")
        try there.execute("UPDATE item SET title = 'more spam' WHERE id = ?", [key(1)])
        try there.execute("DELETE FROM item WHERE title = 'Salt'")
        try there.execute("INSERT INTO item (id, title) VALUES (?, 'advert')", [key(4)])
        try here.receive(from: there)
        try here.execute("UPDATE item SET title = 'Green tea' WHERE id = ?", [key(2)])
        let report = try here.store.revert(device: .unknown, sinceMilliseconds: Int64(moment.timeIntervalSince1970 * 1_000) + 1)
        #expect(report.left == [.init(table: "item", row: HistoryTests.id(2), column: "title", reason: .changedSince, by: .own)])
        #expect(report.rowsChanged == 4)
        let rows = try UndoTests.rows(here)
        #expect(rows.map { $0["title"] as String? } == ["Milk", "Green tea", "Salt"])
        #expect(rows.map { $0["n"] as Int } == [1, 1, 1])
        try there.receive(from: here)
        #expect(try UndoTests.rows(there) == rows)
        try here.expectSound()
    }

    /// The journal is read in portions of a thousand transactions, of which the device may have made the very first.
    @Test func `what a device has done is found behind much that others have done since`() throws {
        let (here, there) = (try HistoryTests.store(), try HistoryTests.store())
        try there.execute("INSERT INTO item (id, title) VALUES (?, 'advert')", [key(1)])
        try here.receive(from: there)
        for number in 0..<Soak.count(1_010, soaking: 11_000) {
            try here.execute("INSERT OR REPLACE INTO item (id, title) VALUES (?, ?)", [key(2), "\(number)"])
        }
        #expect(try here.store.revert(device: .unknown, sinceMilliseconds: 0).isWhole)
        #expect(try UndoTests.rows(here).count == 1)
    }

    @Test func `a text that a device has changed often is set back, and keeps what others typed meanwhile`() throws {
        let (here, there) = (try HistoryTests.store(), try HistoryTests.store())
        try here.execute("INSERT INTO item (id, title, body) VALUES (?, 'Milk', 'one two three')", [key(1)])
        let moment = try Self.moment(after: here)
        for body in ["zero one two three", "zero 1 two three", "zero 1 two three four"] {
            try here.execute("UPDATE item SET body = '\(body)'")
        }
        try there.receive(from: here)
        try there.execute("UPDATE item SET body = 'zero 1 two, three four'")
        try here.receive(from: there)
        for body in ["null 1 two, three four", "null 1 two, three 4"] { try here.execute("UPDATE item SET body = '\(body)'") }
        for _ in 0..<2 {
            #expect(try here.store.revert(device: .own, sinceMilliseconds: moment).isWhole)
            #expect(try UndoTests.rows(here).map { $0["body"] as String } == ["one two, three"])
        }
        try here.expectSound()
    }

    @Test func `a text that was NULL in between is set back, too`() throws {
        let store = try HistoryTests.store()
        try store.execute("INSERT INTO item (id, title, body) VALUES (?, 'Milk', 'one')", [key(1)])
        let moment = try Self.moment(after: store)
        for body in ["'one two'", "NULL", "'new'", "'newer'"] { try store.execute("UPDATE item SET body = \(body)") }
        #expect(try store.store.revert(device: .own, sinceMilliseconds: moment).isWhole)
        #expect(try UndoTests.rows(store).map { $0["body"] as String? } == ["one"])
        try store.expectSound()
    }

    @Test func `a row that somebody has brought back and edited is not taken for what it was when a device deleted it`() throws {
        let (here, there) = (try HistoryTests.store(), try HistoryTests.store())
        try here.execute("INSERT INTO item (id, title, body) VALUES (?, 'Milk', 'one two three')", [key(1)])
        try there.receive(from: here)
        let moment = try Self.moment(after: here)
        for sql in ["UPDATE item SET body = 'one three'", "DELETE FROM item"] {
            try there.execute(sql)
            try here.receive(from: there)
        }
        try here.store.restore(table: "item", id: HistoryTests.id(1))
        try here.execute("UPDATE item SET body = 'zero, one three'")
        let report = try here.store.revert(device: .unknown, sinceMilliseconds: moment)
        #expect(report.isWhole, "\(report)")
        #expect(try UndoTests.rows(here).map { $0["body"] as String } == ["zero, one two three"])
        try here.expectSound()
    }

    /// The first moment after all that was written; the clock of these stores counts on by itself.
    private static func moment(after store: TestStore) throws -> Int64 {
        try store.store.history().last.map { Int64($0.date.timeIntervalSince1970 * 1_000) + 1 } ?? 0
    }

    @Test(arguments: 0..<UInt64(Soak.count(60, soaking: 2_000)))
    func `what one machine alone has done since a moment is taken back as a whole`(seed: UInt64) throws {
        let store = try HistoryTests.store()
        var random = SplitMix64(seed: seed)
        for _ in 0..<8 { try store.database.write { try UndoTests.write($0, &random) } }
        let (before, moment) = (try UndoTests.rows(store), try Self.moment(after: store))
        for _ in 0..<random.below(12) + 1 { try store.database.write { try UndoTests.write($0, &random) } }
        let report = try store.store.revert(device: .own, sinceMilliseconds: moment)
        #expect(report.isWhole, "\(report.left)")
        #expect(try UndoTests.rows(store).map(UndoTests.words) == before.map(UndoTests.words))
        try store.expectSound()
    }

    /// How many statements are run to bring back so many rows, of which each refers to the next one.
    private func statements(rows: Int) throws -> Int {
        let sql = "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, n INTEGER, next BLOB REFERENCES item (id) ON DELETE CASCADE)"
        let items = try TestStore(sql: sql, tables: [TrackedTable("item", journal: .days(30))])
        try items.database.write { db in
            for number in (1...rows).reversed() {
                let next = number == rows ? nil : key(UInt64(number + 1))
                try db.execute(sql: "INSERT INTO item VALUES (?, ?, ?)", arguments: [key(UInt64(number)), number, next])
            }
        }
        let undo = items.store.undo(scope: "chain")
        try undo.group { try $0.execute(sql: "DELETE FROM item WHERE n = \(rows)") }
        let count = Counter()
        try items.database.write { db in db.trace { _ in _ = count.next() } }
        #expect(try undo.undo()?.left.isEmpty == true)
        #expect(try items.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == rows)
        return Int(count.next())
    }

    @Test func `bringing back a chain of rows that refer to each other takes as long as it has rows`() throws {
        let (few, many) = (try statements(rows: 20), try statements(rows: 160))
        #expect(many < 12 * few, "\(few) and \(many) statements")
    }

    /// How many statements are run to take back so many rows that were inserted, of which each refers to the one before it.
    private func statementsOfRemoval(rows: Int, downwards: Bool) throws -> Int {
        let sql = "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, n INTEGER, next BLOB REFERENCES item (id))"
        let items = try TestStore(sql: sql, tables: [TrackedTable("item", journal: .days(30))])
        let undo = items.store.undo(scope: "chain")
        try undo.group { db in
            for number in 1...rows {
                func id(_ number: Int) -> Data? { number == 0 ? nil : key(UInt64(downwards ? 1_000 - number : number)) }
                try db.execute(sql: "INSERT INTO item VALUES (?, ?, ?)", arguments: [id(number), number, id(number - 1)])
            }
        }
        let count = Counter()
        try items.database.write { db in db.trace { _ in _ = count.next() } }
        #expect(try undo.undo()?.left.isEmpty == true)
        #expect(try items.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 0)
        return Int(count.next())
    }

    @Test(arguments: [false, true])
    func `taking back a chain of rows that refer to each other takes as long as it has rows`(downwards: Bool) throws {
        let few = try statementsOfRemoval(rows: 20, downwards: downwards)
        let many = try statementsOfRemoval(rows: 160, downwards: downwards)
        #expect(many < 12 * few, "\(few) and \(many) statements")
    }
}
