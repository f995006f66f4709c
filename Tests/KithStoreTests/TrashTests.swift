import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import Testing

@Suite("A deleted row is lost too early, or never goes")
struct TrashTests {
    private final class Clock: Sendable {
        let milliseconds = Mutex<Int64>(1_700_000_000_000)
        func pass(days: Int64) { milliseconds.withLock { $0 += days * 86_400_000 } }
    }

    private struct Bin {
        let database: DatabaseQueue
        let store: SyncedDatabase
        let clock: Clock

        init(_ clock: Clock = Clock()) throws {
            self.clock = clock
            database = try DatabaseQueue()
            try database.write { try $0.execute(sql: TestStore.noteSQL) }
            store = try SyncedDatabase(
                database, tables: [TestStore.note],
                options: SyncedDatabase.Options(clock: { HybridTimestamp(milliseconds: clock.milliseconds.withLock { $0 }) }))
        }

        func execute(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
            try database.write { try $0.execute(sql: sql, arguments: arguments) }
        }

        func receive(from other: Bin) throws {
            _ = try store.apply(try other.store.delta(since: try store.vector()))
        }

        func titles() throws -> [String] {
            try database.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY title") }
        }

        func hiddenCount() throws -> Int {
            try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kith_hidden") ?? 0 }
        }
    }

    @Test func `a deleted row is in the trash with its contents, here and elsewhere, and comes back everywhere`() throws {
        let first = try Bin()
        let second = try Bin()
        try first.execute("INSERT INTO note (id, title, tags, views) VALUES (?, 'a', '[\"x\"]', 3)", [key(1)])
        try second.receive(from: first)
        try first.execute("DELETE FROM note")
        try second.receive(from: first)
        for bin in [first, second] {
            let trash = try bin.store.trash()
            #expect(trash.map(\.id) == [rowID(1)])
            #expect(trash.first?.values["title"] == .text("a"))
            #expect(trash.first?.values["views"] == .integer(3))
        }
        try second.store.restore(table: "note", id: rowID(1))
        try first.receive(from: second)
        for bin in [first, second] {
            #expect(try bin.titles() == ["a"])
            #expect(try bin.store.trash().isEmpty)
            #expect(try bin.store.verify().problems == [])
            #expect(try bin.database.read { try String.fetchOne($0, sql: "SELECT tags || views FROM note") } == "[\"x\"]3")
        }
        #expect(try first.store.delta(since: VersionVector()).rows == second.store.delta(since: VersionVector()).rows)
    }

    @Test func `the trash lists what was deleted last first, by table and number`() throws {
        let bin = try Bin()
        for number: UInt64 in 1...5 {
            try bin.execute("INSERT INTO note (id, title) VALUES (?, ?)", [key(number), "\(number)"])
            bin.clock.pass(days: 1)
            try bin.execute("DELETE FROM note WHERE id = ?", [key(number)])
        }
        #expect(try bin.store.trash().map(\.id.low) == [5, 4, 3, 2, 1])
        #expect(try bin.store.trash(max: 2).map(\.id.low) == [5, 4])
        #expect(try bin.store.trash(table: "other").isEmpty)
    }

    @Test func `what is not in the trash cannot be restored`() throws {
        let bin = try Bin()
        try bin.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        for (table, number) in [("note", UInt64(1)), ("note", 2), ("other", 1)] {
            let error = #expect(throws: StoreError.self) { try bin.store.restore(table: table, id: rowID(number)) }
            #expect(error?.code == .notFound)
        }
    }

    @Test func `after thirty days, or once emptied, a row is no longer listed and goes when everybody holds its deletion`() throws {
        let first = try Bin()
        let second = try Bin(first.clock)
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'a'), (?, 'b')", [key(1), key(2)])
        try second.receive(from: first)
        let old = try second.store.vector()
        try first.execute("DELETE FROM note WHERE title = 'a'")
        first.clock.pass(days: 29)
        #expect(try first.store.trash().count == 1)
        #expect(try first.store.collectGarbage(acknowledged: []) == 0)
        first.clock.pass(days: 2)
        #expect(try first.store.trash().isEmpty)
        #expect(try first.store.collectGarbage(acknowledged: [old]) == 0)
        try second.receive(from: first)
        #expect(try first.store.collectGarbage(acknowledged: [second.store.vector()]) == 1)
        // A counter's totals stay, a few bytes, for nobody can write them for another.
        #expect(try first.hiddenCount() == 1)
        try first.execute("DELETE FROM note WHERE title = 'b'")
        #expect(try first.store.emptyTrash() == 1)
        #expect(try first.store.trash().isEmpty)
        #expect(throws: StoreError.self) { try first.store.restore(table: "note", id: rowID(2)) }
        #expect(try first.store.collectGarbage(acknowledged: []) == 1)
        #expect(try first.store.verify().problems == [])
        // Nothing comes back to life.
        try first.receive(from: second)
        try second.receive(from: first)
        #expect(try first.titles() == [])
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `a member whose time the disk has damaged holds garbage back or does not, and does no harm`(seen: Int64) throws {
        let bin = try Bin()
        try bin.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        try bin.execute("DELETE FROM note")
        bin.clock.pass(days: 40)
        try bin.store.setMembers([[1]])
        try bin.execute("UPDATE kith_member SET seen = ?", [seen])
        #expect(try bin.store.collectGarbage() == (seen == .max ? 0 : 1))
    }

    @Test(arguments: [true, false])
    func `a row that one store has collected and another restores or makes anew is the same on both`(isRestored: Bool) throws {
        let first = try Bin()
        let second = try Bin(first.clock)
        try first.execute("INSERT INTO note (id, title, tags, views) VALUES (?, 'a', '[\"x\"]', 3)", [key(1)])
        try second.receive(from: first)
        try second.execute("UPDATE note SET views = 5, tags = '[\"x\",\"y\"]'")
        try first.receive(from: second)
        try first.execute("DELETE FROM note")
        try second.receive(from: first)
        first.clock.pass(days: 40)
        #expect(try first.store.collectGarbage(acknowledged: [second.store.vector()]) == 1)
        if isRestored {
            try second.store.restore(table: "note", id: rowID(1))
        } else {
            try second.execute("INSERT INTO note (id, title, tags, views) VALUES (?, 'a', '[\"x\",\"y\"]', 5)", [key(1)])
        }
        try first.receive(from: second)
        for bin in [first, second] {
            #expect(try bin.database.read { try String.fetchOne($0, sql: "SELECT title || tags || views FROM note") } == "a[\"x\",\"y\"]5")
            #expect(try bin.store.verify().problems == [])
        }
        #expect(try first.store.delta(since: VersionVector()).rows == second.store.delta(since: VersionVector()).rows)
    }

    @Test func `a deletion stays while a member may still hold an edit that did not know of it`() throws {
        let first = try Bin()
        let second = try Bin(first.clock)
        try first.execute("INSERT INTO note (id, title, color) VALUES (?, 'a', 1)", [key(1)])
        try second.receive(from: first)
        try second.execute("UPDATE note SET title = 'edited'")
        try first.execute("DELETE FROM note")
        try second.receive(from: first)
        first.clock.pass(days: 40)
        #expect(try first.store.collectGarbage(acknowledged: [second.store.vector()]) == 0)
        try first.receive(from: second)
        #expect(try first.titles() == ["edited"])
        #expect(try first.database.read { try Int.fetchOne($0, sql: "SELECT color FROM note") } == 1)
    }

    @Test func `rows that came with a catch-up of many slices are collected like others`() throws {
        let (first, second) = (try TestStore(), try TestStore())
        for id in 1...9 { try first.execute("INSERT INTO note (id, title) VALUES (?, 't')", [key(UInt64(id))]) }
        try first.execute("DELETE FROM note WHERE id <= ?", [key(4)])
        try second.receive(from: first, rowsMax: 1)
        try second.execute("DELETE FROM note WHERE id <= ?", [key(6)])
        #expect(try second.store.emptyTrash() == 6)
        #expect(try second.store.collectGarbage(acknowledged: []) == 6)
        try second.expectSound()
    }

    @Test func `a row that was collected here comes back whole with an edit that an app's test pulls`() throws {
        let first = try Bin()
        let second = try Bin(first.clock)
        try first.execute("INSERT INTO note (id, title, tags) VALUES (?, 'a', '[\"x\"]')", [key(1)])
        try second.store.pull(from: first.store)
        try first.execute("DELETE FROM note")
        first.clock.pass(days: 31)
        #expect(try first.store.collectGarbage(acknowledged: []) == 1)
        try second.execute("UPDATE note SET title = 'edited'")
        try first.store.pull(from: second.store)
        #expect(try first.titles() == ["edited"])
        #expect(try first.database.read { try String.fetchOne($0, sql: "SELECT tags FROM note") } == "[\"x\"]")
        for _ in 0..<2 {
            try second.store.pull(from: first.store)
            try first.store.pull(from: second.store)
        }
        #expect(try first.store.digest() == second.store.digest())
    }
}
