import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import Testing

@Suite("A large exchange goes on without a word, or says something wrong")
struct ProgressTests {
    @Test func `both sides tell rows, bytes and the total, which is right for a new store`() throws {
        let (first, second) = (try TestStore(), try TestStore())
        try DigestTests.fill(first, 1...6_500)
        let sessions = try SessionPair(first.store, second.store)
        #expect(try second.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 6_500)
        for progresses in [sessions.sending[0], sessions.receiving[1]] {
            #expect(progresses.contains { $0.rows == 2_000 } && progresses.contains { $0.rows == 6_000 })
            #expect(progresses.allSatisfy { $0.rowsTotal == 6_500 })
            #expect(zip(progresses, progresses.dropFirst()).allSatisfy { $0.rows <= $1.rows && $0.bytes <= $1.bytes })
            #expect(progresses.allSatisfy { $0.bytes > 10 * $0.rows })
        }
        #expect(sessions.statuses.allSatisfy { $0?.sending == nil && $0?.receiving == nil && $0?.isInSync == true })
    }

    @Test(arguments: [(0, 1), (1, 13)] as [(Int64, Int)]) func `a long merge lets others write by a clock that nobody sets`(
        _ step: Int64, _ parts: Int
    ) throws {
        let first = try TestStore()
        try DigestTests.fill(first, 1...120)
        let slice = try first.store.slice(SliceRequest(since: VersionVector()), limits: SliceLimits(rowsMax: 100))
        #expect(!slice.isLast)
        let (wall, monotonic) = (Counter(), Counter())
        // A wall clock that is set by hours with every reading neither cuts a merge nor holds it up.
        var options = SyncedDatabase.Options(
            clock: { HybridTimestamp(milliseconds: 1_700_000_000_000 + wall.next() * 3_600_000 % 7_000_000) })
        options.monotonicMilliseconds = { monotonic.next() * step }
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: TestStore.noteSQL) }
        let store = try SyncedDatabase(database, tables: [TestStore.note], options: options)
        let counter = TransactionCounter()
        database.add(transactionObserver: counter, extent: .observerLifetime)
        _ = try store.apply(slice)
        #expect(counter.count == parts)
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 100)
        store.close()
    }

    @Test func `a part of a catch-up that comes when all of it has come another way is not the beginning of one`() throws {
        let (first, second) = (try TestStore(), try TestStore())
        try DigestTests.fill(first, 1...3)
        let late = try first.store.slice(SliceRequest(since: VersionVector()), limits: SliceLimits(rowsMax: 2))
        #expect(!late.isLast)
        try second.receive(from: first)
        _ = try second.store.apply(late)
        #expect(try second.store.summary().resumption == nil)
        try second.expectSound()
        // One that brings more is.
        try DigestTests.fill(first, 4...6)
        _ = try second.store.apply(first.store.slice(SliceRequest(since: second.store.vector()), limits: SliceLimits(rowsMax: 2)))
        #expect(try second.store.summary().resumption != nil)
    }

    @Test func `a delta of which nothing is left ends with a slice that follows the one before`() throws {
        let stores = try (0..<3).map { _ in try TestStore() }
        let (sender, receiver, third) = (stores[0], stores[1], stores[2])
        func add(_ number: UInt64, to store: TestStore) throws {
            try store.execute("INSERT INTO note (id, title) VALUES (?, 'first')", [key(number)])
        }
        for number in 1...2 { try add(UInt64(number), to: sender) }
        for store in [receiver, third] { try store.receive(from: sender) }
        for number in 1...2 { try sender.execute("UPDATE note SET title = 'second' WHERE id = ?", [key(UInt64(number))]) }
        try third.receive(from: sender)
        try add(3, to: third)
        // Of a catch-up that breaks off, the receiver has the second row, and overwrites it.
        let one = SliceLimits(rowsMax: 1)
        let begun = try third.store.slice(SliceRequest(since: receiver.store.vector()), limits: one)
        let row = try third.store.slice(SliceRequest(since: begun.since, after: begun.position, target: begun.target), limits: one)
        #expect(!row.isLast && row.rows.map(\.id) == [rowID(2)])
        _ = try receiver.store.apply(row)
        try receiver.execute("UPDATE note SET title = 'third' WHERE id = ?", [key(2)])
        // The sender hears of that between two slices.
        let first = try sender.store.slice(SliceRequest(since: receiver.store.vector()), limits: one)
        #expect(!first.isLast && first.rows.map(\.id) == [rowID(1)])
        try sender.receive(from: receiver)
        let last = try sender.store.slice(SliceRequest(since: first.since, after: first.position, target: first.target), limits: one)
        #expect(last.isLast && last.rows.isEmpty && last.follows(first.position))
        for slice in [first, last] { _ = try receiver.store.apply(slice) }
        #expect(try receiver.row(rowID(1))?["title"] == "second")
        #expect(try receiver.row(rowID(2))?["title"] == "third")
        try receiver.expectSound()
    }
}

/// Counts the transactions that changed something.
private final class TransactionCounter: TransactionObserver, Sendable {
    private let commits = Atomic(0)

    var count: Int { commits.load(ordering: .relaxed) }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "note" }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { commits.add(1, ordering: .relaxed) }
    func databaseDidRollback(_ db: Database) {}
}
