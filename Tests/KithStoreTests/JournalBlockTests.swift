import Foundation
import GRDB
import KithLedger
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A row's changes are lost between the blocks of the journal, or take long to write or to find", .timeLimit(.minutes(3)))
struct JournalBlockTests {
    private static let length = Int(JournalRecords.blockLength)

    /// What the whole journal says of a row, the newest first.
    private func changes(of row: RowID, _ history: [HistoryTransaction]) -> [HistoryToken] {
        history.reversed().filter { $0.changes.contains { $0.row == row } }.map(\.token)
    }

    private func expectFound(_ store: TestStore, _ comment: Comment) throws {
        let history = try store.store.history(limit: 10_000)
        for number in 1...4 as ClosedRange<UInt64> {
            let id = HistoryTests.id(number)
            let expected = changes(of: id, history)
            let found = try store.store.history(table: "item", id: id)
            #expect(found.map(\.token) == expected, comment)
            #expect(found.allSatisfy { $0.changes.map(\.row) == [id] }, comment)
            #expect(try store.store.history(table: "item", id: id, limit: 3).map(\.token) == Array(expected.prefix(3)), comment)
        }
    }

    @Test func `each row's changes are found whichever block they are in, alone in a transaction or with others`() throws {
        let store = try HistoryTests.store()
        for number in 1...3 as ClosedRange<UInt64> { try store.execute("INSERT INTO item (id) VALUES (?)", [key(number)]) }
        for step in 0..<2 * Self.length + 10 {
            let sql = step % 7 == 0 ? "UPDATE item SET n = n + 1" : "UPDATE item SET n = n + 1 WHERE id = ?"
            try store.execute(sql, step % 7 == 0 ? [] : [key(UInt64(step % 2 + 1))])
            if [Self.length - 6, Self.length - 5, Self.length - 4, Self.length - 3, Self.length - 2].contains(step) {
                try expectFound(store, "after \(step) steps")
            }
        }
        try expectFound(store, "after all steps")
        try store.expectSound()
    }

    @Test func `the number with which a block begins is given again if its transaction is rolled back`() throws {
        let store = try HistoryTests.store()
        try store.execute("INSERT INTO item (id) VALUES (?)", [key(1)])
        for _ in 2..<Self.length { try store.execute("UPDATE item SET n = n + 1") }
        for _ in 0..<2 {
            #expect(throws: CancellationError.self) {
                try store.database.write { db in
                    try db.execute(sql: "UPDATE item SET n = n + 1")
                    throw CancellationError()
                }
            }
            try expectFound(store, "before the block begins")
        }
        for _ in 0..<3 {
            try store.execute("UPDATE item SET n = n + 1")
            try expectFound(store, "after the block has begun")
        }
        #expect(try store.store.history(table: "item", id: HistoryTests.id(1)).count == Self.length + 2)
    }

    @Test func `what a table no longer wants to keep goes from all blocks, and the rest is found`() throws {
        let folder = try TemporaryFolder()
        let tables = [
            TrackedTable("list", journal: .days(10)),
            TrackedTable("item", sets: ["tags"], counters: ["n"], texts: ["body"], journal: .days(30)), TrackedTable("plain"),
        ]
        let store = try TestStore(.pool, sql: HistoryTests.sql, tables: tables, folder: folder)
        try store.execute("INSERT INTO list (id) VALUES (?)", [key(7)])
        for number in 1...3 as ClosedRange<UInt64> { try store.execute("INSERT INTO item (id) VALUES (?)", [key(number)]) }
        for step in 0..<Self.length + 20 {
            try store.database.write { db in
                if step % 2 == 0 { try db.execute(sql: "UPDATE list SET name = ?", arguments: ["\(step)"]) }
                if step % 3 == 0 { try db.execute(sql: "UPDATE item SET n = n + 1 WHERE id = ?", arguments: [key(UInt64(step % 2 + 1))]) }
            }
        }
        let before = try store.store.history(limit: 10_000)
        #expect(try store.store.history(table: "list", id: HistoryTests.id(7)).count == changes(of: HistoryTests.id(7), before).count)
        store.store.close()
        var options = TestStore.options()
        for (days, left) in [(20, ["item"]), (40, [])] as [(Int64, Set<String>)] {
            options.clock = { HybridTimestamp(milliseconds: 1_700_000_000_000 + days * 86_400_000) }
            let later = try SyncedDatabase(store.database, tables: tables, options: options)
            try later.purgeHistory()
            let history = try later.history(limit: 10_000)
            #expect(Set(history.flatMap(\.changes).map(\.table)) == left)
            #expect(try later.history(table: "list", id: HistoryTests.id(7)).isEmpty)
            for number in 1...3 as ClosedRange<UInt64> {
                let id = HistoryTests.id(number)
                #expect(try later.history(table: "item", id: id).map(\.token) == changes(of: id, history))
            }
            if left.isEmpty { #expect(history.count == 1) }
            later.close()
        }
    }

    /// Pages that ten commits of one row bring to the log.
    private func pages(_ journal: TrackedTable.Journal?) throws -> Int {
        let store = try TestStore(
            .pool, sql: "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, title TEXT)",
            tables: [TrackedTable("item", journal: journal)])
        try store.database.write { db in
            for number in 1...100 as ClosedRange<UInt64> {
                try db.execute(sql: "INSERT INTO item (id) VALUES (?)", arguments: [key(number)])
            }
        }
        try store.execute("UPDATE item SET title = 'before'")
        try store.database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            // A reader of before may hold the log for a moment.
            while try Int.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)") != 0 {}
        }
        for number in 50..<60 as Range<UInt64> { try store.execute("UPDATE item SET title = 'after' WHERE id = ?", [key(number)]) }
        let size = try FileManager.default.attributesOfItem(atPath: store.path + "-wal")[.size] as? Int
        let page = try store.database.read { try Int.fetchOne($0, sql: "PRAGMA page_size") }
        return try #require(size) / (try #require(page) + 24)
    }

    @Test func `a commit of one row writes one page for the journal`() throws {
        let (without, with) = (try pages(nil), try pages(.days(30)))
        #expect(with > without && with <= without + 11, "\(without) pages without, \(with) with a journal")
    }

    @Test func `no reader of the journal looks through all of it`() throws {
        let store = try HistoryTests.store()
        try store.execute("INSERT INTO item (id) VALUES (?)", [key(1)])
        let plan = try store.database.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(JournalRecords.changesOfRowSQL)", arguments: [0, key(1), 0, 1, Int64.max])
                .map { $0["detail"] as String }
        }
        #expect(plan.contains { $0.contains("SEARCH o USING") } && plan.contains { $0.contains("kith_journal_row_of") }, "\(plan)")
        #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
        let bounds = try store.database.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(JournalRecords.boundsSQL)").map { $0["detail"] as String }
        }
        #expect(bounds.count { $0.hasPrefix("SEARCH kith_journal") } == 2, "\(bounds)")
    }
}
