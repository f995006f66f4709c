import Foundation
import GRDB
import GRDBSQLite
import KithCausality
import KithLedger
import KithSQLite
import KithSync
import Testing

@testable import KithStore

/// Risk: a household of ten years has spent thousands of replica ids, and each meeting, note and commit pays for all of them.
@Suite struct TenYearTests {
    private static let deviceCount = 5

    /// Commits of `count` replicas of five devices, over ten years, with their proofs.
    private static func past(_ count: Int) -> (heads: [Head], offers: [ProofOffer]) {
        let devices = (0..<deviceCount).map { TestDevice(UInt8($0 + 1)) }
        var offers: [ProofOffer] = []
        for number in 0..<count {
            let device = devices[number % deviceCount]
            let nonce: [UInt8] = [0] + withUnsafeBytes(of: UInt64(number).bigEndian, Array.init) + [UInt8](repeating: 0, count: 7)
            let origin = HeadProof.Origin(key: device.key, nonce: nonce)
            guard let replica = device.replica(of: origin) else { continue }
            let time = HybridTimestamp(milliseconds: 1_380_000_000_000 + Int64(number) * 31_000_000)
            let head = Head(dot: Dot(replica: replica, sequence: UInt64(1 + number * 37 % 500)), timestamp: time)
            let signature = device.signature(of: HeadProof.statement(of: head), by: device.key) ?? []
            offers.append(ProofOffer(head: head, origin: origin, signature: signature))
        }
        offers.sort { $0.head.dot < $1.head.dot }
        return (offers.map(\.head), offers)
    }

    /// A store of a device that has heard of all that.
    private static func store(_ device: UInt8, _ past: (heads: [Head], offers: [ProofOffer])) throws -> TestStore {
        let store = try TestStore()
        _ = try store.store.bind(to: TestDevice(device))
        try #require(store.store.proofBook).take(past.offers)
        let slice = Slice(
            since: VersionVector(), vector: VersionVector(past.heads.map(\.dot)), target: past.heads,
            clock: past.heads.map(\.timestamp).max() ?? .zero,
            isFirst: true, isLast: true, position: nil, rowsRemaining: 0, tables: [], rows: [])
        guard case .applied = try store.store.apply(slice) else { throw StoreError(.failed, "refused") }
        return store
    }

    private static func meet(_ one: TestStore, _ other: TestStore) throws -> SessionPair {
        try SessionPair(one.store, other.store, areProven: true) { configuration in
            configuration.app = "kith.notes"
            configuration.group = [UInt8](repeating: 7, count: 32)
            configuration.software = "kith 1.0.0"
            configuration.capabilities = [.digest, .attachments, .household, .compression]
        }
    }

    @Test(arguments: [10, 10_000]) func `ten years of replicas cost equal stores four hundred bytes, and a changed note a kilobyte`(
        count: Int
    ) throws {
        let past = Self.past(count)
        let (one, other) = (try Self.store(1, past), try Self.store(2, past))
        func add(_ number: UInt64, to store: TestStore) throws {
            try store.execute(
                "INSERT INTO note (id, title) VALUES (?, 'Call the plumber about the tap in the bathroom')",
                [Data(RowID(high: 9, low: number).bytes)])
        }
        // Each has a note of the other.
        for (number, store) in [one, other].enumerated() { try add(UInt64(number), to: store) }
        try Self.meet(one, other).wait(seconds: 5)

        let equal = try Self.meet(one, other)
        try equal.wait(seconds: 5)
        print("Equal stores with \(count) ids: \(equal.bytesSent) bytes")
        #expect(equal.closings.isEmpty && equal.bytesSent[0] + equal.bytesSent[1] <= 400)

        let before = equal.bytesSent
        try add(3, to: one)
        try equal.hear()
        try equal.wait(seconds: 2)
        print("A note while connected, \(count) ids: \(equal.bytesSent[0] - before[0]), \(equal.bytesSent[1] - before[1]) bytes")
        #expect(equal.bytesSent[0] - before[0] + equal.bytesSent[1] - before[1] <= 1_000)

        try add(4, to: one)
        let changed = try Self.meet(one, other)
        try changed.wait(seconds: 5)
        print("A note while apart, \(count) ids: \(changed.bytesSent) bytes")
        #expect(try other.row(RowID(high: 9, low: 4)) != nil)
        #expect(changed.bytesSent.allSatisfy { $0 <= 1_000 })

        for store in [one, other] { try store.expectSound() }
        #expect(try one.store.vector() == other.store.vector())
    }

    @Test func `a store that knows as many replicas as five devices may have takes a new one's note, and tells a newcomer all`() throws {
        let past = Self.past(20_000)
        let one = try Self.store(1, past)
        try one.execute("INSERT INTO note (id, title) VALUES (?, 'old')", [Data(RowID(high: 9, low: 1).bytes)])
        let newcomer = try TestStore()
        _ = try newcomer.store.bind(to: TestDevice(6))
        try newcomer.execute("INSERT INTO note (id, title) VALUES (?, 'new')", [Data(RowID(high: 9, low: 2).bytes)])
        let meeting = try Self.meet(one, newcomer)
        try meeting.wait(seconds: 3)
        #expect(meeting.closings.isEmpty)
        #expect(try one.store.vector() == newcomer.store.vector() && one.store.vector().count == 20_002)
        for store in [one, newcomer] { #expect(try store.row(RowID(high: 9, low: 1)) != nil && store.row(RowID(high: 9, low: 2)) != nil) }
    }

    /// Pages of the file that the store's one connection has looked at since this was asked last.
    private static func pages(_ store: TestStore) -> Int {
        store.database.writeWithoutTransaction { db in
            [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, status in
                var (count, highest): (Int32, Int32) = (0, 0)
                sqlite3_db_status(db.sqliteConnection, status, &count, &highest, 1)
                return sum + Int(count)
            }
        }
    }

    @Test func `commits, and looks for those of other processes, read as many pages with ten thousand replicas as with ten`() throws {
        let counts = try [10, 10_000].map { count in
            let store = try Self.store(1, Self.past(count))
            let others = store.store.others
            func look() throws -> Bool { try store.database.writeWithoutTransaction { try others.commit($0) != .none } }
            _ = try look()
            _ = Self.pages(store)
            for number: UInt64 in 1...50 {
                try store.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [Data(RowID(high: 9, low: number).bytes)])
                #expect(try !look())
            }
            return Self.pages(store)
        }
        print("Pages of 50 commits with 10 and 10,000 ids: \(counts)")
        // The table of replicas is one page deeper, and a commit looks for its own row a few times.
        #expect(counts[1] <= counts[0] + 50 * 6)
    }

    @Test func `what a list reads after a commit is as much with ten thousand replicas as with ten, but for the vector`() throws {
        let counts = try [10, 10_000].map { count in
            let store = try Self.store(1, Self.past(count))
            func insert(_ number: UInt64) throws {
                try store.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [Data(RowID(high: 9, low: number).bytes)])
            }
            try insert(1)
            func moment() throws -> ChangedRows.Moment {
                try store.database.read { db in try ChangedRows(DatabaseConnection(borrowing: db)).now() }
            }
            let before = try moment()
            try insert(2)
            let after = try moment()
            _ = Self.pages(store)
            let rows = try store.database.read { db in
                try ChangedRows(DatabaseConnection(borrowing: db)).ids(of: 0, since: before, to: after, max: 10)
            }
            #expect(rows == [RowID(high: 9, low: 2)])
            return Self.pages(store)
        }
        #expect(counts[1] <= counts[0] * 5 / 4)
    }
}
