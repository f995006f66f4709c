import Foundation
import GRDB
import Kith
import KithCausality
import KithStore
import KithSync
import KithTrust
import Testing

/// The risk: something is called safe that only this device has.
@Suite struct SafetyTests {
    private func device(_ node: TestNode, _ name: String, port: Int? = nil) throws -> TrustedDevice {
        let addresses = try port.map { [try PeerAddress(host: "127.0.0.1", port: $0)] } ?? []
        return try TrustedDevice(id: node.key.id, name: name, addresses: addresses, added: Date(timeIntervalSince1970: 0))
    }

    private func idOfNote1(_ node: TestNode) throws -> Data? {
        try node.database.read { try Data.fetchOne($0, sql: "SELECT id FROM note WHERE title = 'note 1'") }
    }

    private func change(_ node: TestNode, _ id: Data) throws {
        try node.database.write { try $0.execute(sql: "UPDATE note SET title = 'changed' WHERE id = ?", arguments: [id]) }
    }

    @Test func onlyDevicesThatSaidThatTheyHoldItCount() async throws {
        let (a, b, c) = (try TestNode(), try TestNode(), try TestNode())
        #expect(try a.store.safety(among: []).sentence == "Everything is on this device alone.")
        try a.trust.add(device(b, "kitchen"))
        try a.trust.add(device(c, "phone"))
        for index in 0..<3 { try a.add("note \(index)") }
        try a.store.setMembers([b.key.id.bytes, c.key.id.bytes])
        #expect(try a.store.safety(among: a.trust.devices).sentence == "3 changes are only here.")
        a.start()
        for node in [b, c] {
            try node.trust.add(device(a, "desk", port: try await a.port()))
            node.start()
        }
        try await a.until { try a.store.safety(among: a.trust.devices).names == "kitchen and phone" }
        #expect(try a.store.safety(among: a.trust.devices).sentence == "Everything you wrote is safe on: kitchen and phone.")
        #expect(try a.store.safety(among: a.trust.devices).commitsHereOnly == 0)
        // One is away and does not get what is new; the other one still holds everything.
        await c.stop()
        try await a.until { a.node.status.peers.contains { $0.name == "phone" && $0.state == .notReachable } }
        let id = try #require(try idOfNote1(a))
        try a.add("while the phone is away")
        try await a.until { try a.store.safety(among: a.trust.devices).names == "kitchen" }
        let row = try #require(RowID(bytes: Array(id)))
        #expect(try a.store.safety(ofRow: row, in: "note", among: a.trust.devices).names == "kitchen and phone")
        await b.stop()
        try await a.until { a.node.status.peers.allSatisfy { $0.state == .notReachable } }
        try change(a, id)
        #expect(try a.store.safety(among: a.trust.devices).sentence == "1 change is only here.")
        #expect(try a.store.safety(ofRow: row, in: "note", among: a.trust.devices).holders.isEmpty)
        // Who is trusted no more does not count.
        try a.trust.remove(c.key.id)
        #expect(try a.store.safety(among: a.trust.devices).devices == 1)
        await a.stop()
    }

    @Test func numbersThatAPeerMadeUpCrashNothing() throws {
        let node = try TestNode()
        // The most that the wire allows, of replicas that nobody knows: together more than there are numbers.
        let heads = (1...3 as ClosedRange<UInt64>).map {
            Head(dot: Dot(replica: ReplicaID(high: 9, low: $0), sequence: UInt64(Int64.max)), timestamp: .zero)
        }
        let slice = Slice(
            since: VersionVector(), vector: VersionVector(heads.map(\.dot)), target: heads, clock: .zero, isFirst: true, isLast: true,
            position: nil, rowsRemaining: 0, tables: [], rows: [])
        _ = try node.store.apply(slice)
        let device = try device(try TestNode(), "phone")
        let safety = try node.store.safety(among: [device])
        #expect(safety.commitsHereOnly == .max)
        #expect(safety.sentence.hasSuffix("changes are only here."))
    }
}
