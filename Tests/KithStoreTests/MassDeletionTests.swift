import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import Testing

/// Risk: a member deletes most of what others wrote, nobody is told, and after a month it has left the trash; or people are warned of
/// what nobody lost, until they read no warning.
@Suite struct MassDeletionTests {
    private static let device: [UInt8] = [9]

    private final class Clock: Sendable {
        private let milliseconds = Mutex<Int64>(1_700_000_000_000)
        var now: Int64 { milliseconds.withLock { $0 } }
        func pass(hours: Int64) { milliseconds.withLock { $0 += hours * 3_600_000 } }
    }

    /// A store, and a member's that holds the same notes.
    private struct Pair {
        let clock = Clock()
        let own: SyncedDatabase
        let member: SyncedDatabase

        init(_ count: UInt64) throws {
            let clock = clock
            func store() throws -> SyncedDatabase {
                let database = try DatabaseQueue()
                try database.write { db in
                    try db.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)")
                }
                return try SyncedDatabase(
                    database, tables: [TrackedTable("note")],
                    options: SyncedDatabase.Options(clock: { HybridTimestamp(milliseconds: clock.now) }))
            }
            (own, member) = (try store(), try store())
            try own.setMembers([device])
            try own.noteMember(device, replica: try member.summary().replica, durable: VersionVector())
            try add(1...count)
            try meet()
        }

        func add(_ numbers: ClosedRange<UInt64>) throws {
            try own.database.write { db in
                for number in numbers { try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'a')", arguments: [key(number)]) }
            }
        }

        func delete(_ numbers: ClosedRange<UInt64>, on store: SyncedDatabase) throws {
            try store.database.write { db in
                for number in numbers { try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [key(number)]) }
            }
        }

        func meet() throws {
            _ = try member.apply(try own.delta(since: member.vector()))
            _ = try own.apply(try member.delta(since: own.vector()), from: device)
        }
    }

    @Test(arguments: [(rows: 49, of: 60, isAlarm: false), (50, 60, true), (60, 300, false), (101, 300, true), (300, 300, true)])
    func `a device that deletes fifty rows and more than a third is named`(rows: UInt64, of count: UInt64, isAlarm: Bool) throws {
        let pair = try Pair(count)
        try pair.delete(1...rows, on: pair.member)
        try pair.meet()
        let found = try pair.own.massDeletions()
        #expect(found.map(\.rows) == (isAlarm ? [Int(rows)] : []))
        #expect(found.allSatisfy { $0.author == .device(Self.device) && $0.total == Int(count) && $0.table == "note" })
    }

    @Test func `what is deleted within a day is counted together, and not beyond`() throws {
        let pair = try Pair(100)
        try pair.delete(1...30, on: pair.member)
        try pair.meet()
        pair.clock.pass(hours: 20)
        try pair.delete(31...49, on: pair.member)
        try pair.meet()
        #expect(try pair.own.massDeletions().isEmpty)
        pair.clock.pass(hours: 10)
        try pair.delete(50...60, on: pair.member)
        try pair.meet()
        #expect(try pair.own.massDeletions().isEmpty, "The first thirty went more than a day ago.")
        try pair.delete(61...80, on: pair.member)
        try pair.meet()
        #expect(try pair.own.massDeletions().map(\.rows) == [50])
        try pair.delete(81...90, on: pair.member)
        try pair.meet()
        #expect(try pair.own.massDeletions().map(\.rows) == [60])
    }

    @Test func `what was deleted by mistake stays in the trash until somebody has looked, and leaves it then`() throws {
        let pair = try Pair(60)
        try pair.delete(1...60, on: pair.member)
        try pair.meet()
        let durable = try pair.member.vector()
        pair.clock.pass(hours: 24 * 80)
        try pair.own.noteMember(Self.device, replica: try pair.member.summary().replica, durable: durable)
        #expect(try pair.own.collectGarbage() == 0)
        #expect(try pair.own.trash().count == 60)
        try pair.own.restore(table: "note", id: rowID(1))
        let deletion = try #require(try pair.own.massDeletions().first)
        try pair.own.dismiss(deletion)
        #expect(try pair.own.massDeletions().isEmpty)
        #expect(try pair.own.trash().isEmpty)
        #expect(try pair.own.collectGarbage() == 59)
    }

    @Test func `a deletion that was looked at does not come back with the next row`() throws {
        let pair = try Pair(100)
        try pair.delete(1...80, on: pair.member)
        try pair.meet()
        try pair.own.dismiss(try #require(try pair.own.massDeletions().first))
        try pair.delete(81...90, on: pair.member)
        try pair.meet()
        #expect(try pair.own.massDeletions().isEmpty)
    }

    @Test func `to empty the trash is to have looked`() throws {
        let pair = try Pair(60)
        try pair.delete(1...60, on: pair.member)
        try pair.meet()
        #expect(try pair.own.emptyTrash() == 60)
        #expect(try pair.own.massDeletions().isEmpty)
    }

    @Test func `nobody is warned of what he deleted himself, or never had`() throws {
        let pair = try Pair(60)
        try pair.delete(1...60, on: pair.own)
        try pair.meet()
        #expect(try pair.own.massDeletions().isEmpty)
        // A store that comes anew, and hears of the notes and their deletion at once.
        let new = try TestStore(sql: "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)", tables: [TrackedTable("note")])
        _ = try new.store.apply(try pair.member.delta(since: VersionVector()), from: [1])
        #expect(try new.store.massDeletions().isEmpty)
        #expect(try new.store.trash().count == 60)
    }

    @Test func `rows that go on a member's word count as deleted by it`() throws {
        let pair = try Pair(60)
        var slice = try pair.member.delta(since: VersionVector())
        let head = Head(
            dot: Dot(replica: try pair.member.summary().replica, sequence: 1), timestamp: HybridTimestamp(milliseconds: pair.clock.now))
        slice.vector.join(VersionVector([head.dot]))
        slice.target = (slice.target + [head]).sorted { $0.dot < $1.dot }
        for index in slice.rows.indices { slice.rows[index].state = RowState() }
        _ = try pair.own.apply(slice, from: Self.device)
        #expect(try pair.own.massDeletions().map(\.author) == [.device(Self.device)])
    }
}
