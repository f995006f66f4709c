import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import Testing

@Suite("An id is used again after its row was deleted, and some have removed the row for good")
struct IDUsedAgainTests {
    private final class Clock: Sendable {
        let milliseconds = Mutex<Int64>(1_700_000_000_000)
        func pass(days: Int64) { milliseconds.withLock { $0 += days * 86_400_000 } }
    }

    private struct Machine {
        let number: UInt8
        let database: DatabaseQueue
        let store: SyncedDatabase

        init(_ number: UInt8, _ clock: Clock, sql: String = TextStore.sql, _ table: TrackedTable = TextStore.page) throws {
            self.number = number
            database = try DatabaseQueue()
            try database.write { try $0.execute(sql: sql) }
            store = try SyncedDatabase(
                database, tables: [table],
                options: SyncedDatabase.Options(
                    clock: { HybridTimestamp(milliseconds: clock.milliseconds.withLock { $0 }) },
                    makeReplicaID: { ReplicaID(high: 0, low: UInt64(number)) }))
        }

        func write(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
            try database.write { try $0.execute(sql: sql, arguments: arguments) }
        }

        func insert(_ body: String) throws {
            try write("INSERT INTO page (id, title, body) VALUES (?, 't', ?)", [key(1), body])
        }

        func receive(from other: Machine) throws {
            _ = try store.apply(try other.store.delta(since: try store.vector()))
        }

        /// The same in slices of one row, with changes of texts ahead of their row.
        func receiveSlices(from other: Machine) throws {
            let summary = try store.summary()
            var (last, preludes) = (Slice?.none, Preludes())
            while last?.isLast != true {
                let request = SliceRequest(
                    since: summary.vector, resumption: summary.resumption, after: last?.position, target: last?.target, preludes: preludes)
                let slice = try other.store.slice(request, limits: SliceLimits(rowsMax: 1, textChangesMax: 1))
                preludes.follow(slice)
                guard case .applied = try store.apply(slice) else { throw StoreError(.failed, "refused") }
                last = slice
            }
        }

        /// Learns what `other` cannot lose.
        func note(_ other: Machine) throws {
            let summary = try other.store.summary()
            try store.noteMember([other.number], replica: summary.replica, durable: summary.vector)
        }

        func body() throws -> String? {
            try database.read { try String.fetchOne($0, sql: "SELECT body FROM page") }
        }

        /// Whether a row was removed for good that a newcomer cannot know to be deleted.
        func hasRemoved() throws -> Bool { try floor() != nil }

        /// The deletions of which others hear by a listing only; `nil` if there are none.
        func floor() throws -> VersionVector? { try store.delta(since: VersionVector()).listing?.floor }
    }

    /// Three machines that know of a deleted page, and of each other that all know of it; the trash is past.
    private func machines(_ clock: Clock = Clock()) throws -> [Machine] {
        let machines = try (1...3).map { try Machine($0, clock) }
        for machine in machines { try machine.store.setMembers(machines.filter { $0.number != machine.number }.map { [$0.number] }) }
        try machines[1].insert("old")
        try machines[1].write("DELETE FROM page")
        for machine in machines where machine.number != 2 { try machine.receive(from: machines[1]) }
        for machine in machines {
            for other in machines where other.number != machine.number { try machine.note(other) }
        }
        clock.pass(days: 31)
        return machines
    }

    @Test(arguments: [true, false]) func `texts that two begin anew are in the same order everywhere`(removerWritesFirst: Bool) throws {
        let clock = Clock()
        let machines = try machines(clock)
        let (remover, keeper, third) = (machines[0], machines[2], machines[1])
        #expect(try remover.store.collectGarbage() == 1)
        for writer in removerWritesFirst ? [remover, keeper] : [keeper, remover] {
            try writer.insert("new \(writer.number)")
            clock.pass(days: 1)
        }
        try third.receive(from: keeper)
        try remover.receive(from: keeper)
        try keeper.receive(from: remover)
        try third.receive(from: remover)
        for machine in machines {
            #expect(try machine.body() == remover.body())
            #expect(try machine.store.digest() == remover.store.digest())
            #expect(try machine.store.verify().problems == [])
        }
        #expect(try remover.body()?.contains("old") == false)
    }

    @Test(arguments: [false, true])
    func `what the author of a removed text writes under the id that others use again is the whole text`(inSlices: Bool) throws {
        let machines = try machines()
        let (remover, author, keeper) = (machines[0], machines[1], machines[2])
        #expect(try remover.store.collectGarbage() == 1)
        try remover.insert("")
        try author.receive(from: remover)
        for body in ["new", "new words"] { try author.write("UPDATE page SET body = ?", [body]) }
        try inSlices ? keeper.receiveSlices(from: author) : keeper.receive(from: author)
        try remover.receive(from: author)
        for machine in machines {
            #expect(try machine.body() == "new words")
            #expect(try machine.store.digest() == author.store.digest())
            #expect(try machine.store.verify().problems == [])
        }
    }

    @Test(arguments: [("", "new"), ("own", "ownnew")], [true, false])
    func `a removed text does not come back beside what a device wrote that knew nothing of it`(
        texts: (own: String, all: String), deletionComesFirst: Bool
    ) throws {
        let clock = Clock()
        let machines = try machines(clock)
        let (remover, author) = (machines[0], machines[1])
        let stranger = try Machine(4, clock)
        #expect(try remover.store.collectGarbage() == 1)
        try stranger.insert(texts.own)
        let own = try stranger.store.delta(since: VersionVector())
        try remover.insert("new")
        // What the author sends is made before the other one's is here.
        let old = try author.store.delta(since: VersionVector())
        for isOld in [deletionComesFirst, !deletionComesFirst] {
            _ = try stranger.store.apply(isOld ? old : try remover.store.delta(since: try stranger.store.vector()))
        }
        for machine in machines { _ = try machine.store.apply(own) }
        for machine in machines { try machine.receive(from: stranger) }
        for machine in machines + [stranger] {
            #expect(try machine.body() == stranger.body())
            #expect(try machine.store.digest() == stranger.store.digest())
            #expect(try machine.store.verify().problems == [])
        }
        let letters = { (text: String?) in String((text ?? "").sorted()) }
        #expect(try letters(stranger.body()) == letters(texts.all))
    }

    /// Two machines of which the second has not been heard of for 100 days, and the first has removed `row` for good since.
    private func away(without row: UInt64, _ clock: Clock, _ texts: [String]) throws -> (remover: Machine, away: Machine) {
        let (remover, away) = (try Machine(1, clock), try Machine(2, clock))
        try remover.store.setMembers([[2]])
        try away.store.setMembers([[1]])
        try remover.insert(texts[0])
        for text in texts.dropFirst() { try remover.write("UPDATE page SET body = ?", [text]) }
        if row != 1 { try remover.write("INSERT INTO page (id, title, body) VALUES (?, 't', 'gone')", [key(row)]) }
        try away.receive(from: remover)
        try remover.note(away)
        try remover.write("DELETE FROM page WHERE id = ?", [key(row)])
        clock.pass(days: 100)
        #expect(try remover.store.collectGarbage() == 1)
        return (remover, away)
    }

    @Test func `a text that goes because its row was removed elsewhere stays among the superseded values`() throws {
        let clock = Clock()
        let (remover, away) = try away(without: 1, clock, ["o", "old"])
        try remover.insert("new")
        try away.receive(from: remover)
        #expect(try away.body() == "new")
        #expect(try away.store.supersededValues(table: "page", id: rowID(1)).map(\.value) == [.text(Array("old".utf8))])
        #expect(try away.store.verify().problems == [])
        #expect(try away.store.digest() == remover.store.digest())
    }

    @Test func `elements that were found, and go because their row was removed elsewhere, stay among the superseded values`() throws {
        let clock = Clock()
        let sql = "CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, tags TEXT NOT NULL DEFAULT '[]');"
        let table = TrackedTable("page", sets: ["tags"])
        let remover = try Machine(1, clock, sql: sql + "INSERT INTO page VALUES (randomblob(16), '[\"old\"]')", table)
        let away = try Machine(2, clock, sql: sql, table)
        try remover.store.setMembers([[2]])
        try away.store.setMembers([[1]])
        try away.receive(from: remover)
        try remover.note(away)
        let id = try #require(try remover.database.read { try Data.fetchOne($0, sql: "SELECT id FROM page") })
        try remover.write("DELETE FROM page")
        clock.pass(days: 100)
        #expect(try remover.store.collectGarbage() == 1)
        try remover.write("INSERT INTO page VALUES (?, '[\"new\"]')", [id])
        try away.receive(from: remover)
        #expect(try away.database.read { try String.fetchOne($0, sql: "SELECT tags FROM page") } == #"["new"]"#)
        let kept = try away.store.supersededValues(table: "page", id: try #require(RowID(bytes: Array(id))))
        #expect(kept.map(\.value) == [.text(Array(#"["old"]"#.utf8))])
        #expect(try away.store.digest() == remover.store.digest())
    }

    @Test func `changes that came ahead of a listed row, and are not kept because they are known, are not gone`() throws {
        let clock = Clock()
        let (remover, away) = try away(without: 2, clock, ["a", "ab", "abc"])
        try remover.write("UPDATE page SET body = 'abcd'")
        let since = try away.store.vector()
        var (slices, preludes) = ([Slice](), Preludes())
        while slices.last?.isLast != true {
            let request = SliceRequest(since: since, after: slices.last?.position, target: slices.last?.target, preludes: preludes)
            let slice = try remover.store.slice(request, limits: SliceLimits(rowsMax: 1, textChangesMax: 1))
            preludes.follow(slice)
            slices.append(slice)
        }
        #expect(slices.count > 3 && slices.allSatisfy { $0.listing != nil })
        _ = try away.store.apply(try #require(slices.last))
        #expect(try away.body() == "abcd")
    }

    @Test func `what somebody may not have heard of, or is in the trash, is kept when its id is used again`() throws {
        let clock = Clock()
        let machines = try machines(clock)
        #expect(try !machines[2].hasRemoved())
        try machines[2].insert("new")
        #expect(try machines[2].hasRemoved())
        // In the trash still.
        try machines[2].write("DELETE FROM page")
        #expect(try !machines[0].hasRemoved())
        try machines[0].receive(from: machines[2])
        // The first deletion has gone from here, too.
        let floor = try machines[0].floor()
        #expect(floor != nil)
        try machines[2].note(machines[0])
        try machines[0].insert("newer")
        #expect(try machines[0].floor() == floor)
        // Nobody is known who could have heard of it.
        let alone = try Machine(4, clock)
        try alone.insert("old")
        try alone.write("DELETE FROM page")
        clock.pass(days: 31)
        try alone.insert("new")
        #expect(try !alone.hasRemoved())
        // A member has not said that it has.
        try alone.store.setMembers([[9]])
        try alone.write("DELETE FROM page")
        clock.pass(days: 31)
        try alone.insert("newer")
        #expect(try !alone.hasRemoved())
        #expect(try alone.body() == "newer")
    }

    @Test func `a save against a version that was removed says so and changes nothing`() throws {
        let machine = try machines()[2]
        let version = TextVersion([Dot(replica: ReplicaID(high: 0, low: 2), sequence: 1)])
        try machine.insert("new")
        let error = #expect(throws: StoreError.self) {
            try machine.database.write { db in
                try machine.store.saveText(db, table: "page", id: rowID(1), column: "body", "old!", base: version)
            }
        }
        #expect(error?.code == .notFound)
        #expect(try machine.body() == "new")
        #expect(throws: StoreError.self) { try machine.store.text(table: "page", id: rowID(1), column: "body", at: version) }
    }

    @Test func `a transaction that is rolled back has removed nothing`() throws {
        let machine = try machines()[2]
        struct Undone: Error {}
        #expect(throws: Undone.self) {
            try machine.database.write { db in
                try db.execute(sql: "INSERT INTO page (id, title, body) VALUES (?, 't', 'new')", arguments: [key(1)])
                throw Undone()
            }
        }
        #expect(try !machine.hasRemoved())
        #expect(try machine.store.verify().problems == [])
        try machine.insert("new")
        #expect(try machine.hasRemoved())
        #expect(try machine.body() == "new")
        #expect(try machine.store.verify().problems == [])
    }
}
