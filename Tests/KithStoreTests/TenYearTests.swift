import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

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
}
