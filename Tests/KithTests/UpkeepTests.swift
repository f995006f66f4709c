import Foundation
import GRDB
import KithCausality
import Logging
import Testing

@testable import Kith
@testable import KithSync

/// The risk: what a device holds, or that it is a member, is forgotten because the store could not be written for a moment.
@Suite struct UpkeepTests {
    private func status(of replica: ReplicaID, _ vector: VersionVector) -> PeerStatus {
        PeerStatus(
            replica: replica, software: "", protocolVersion: 1, vector: vector, durable: vector, rowsSent: 0, rowsReceived: 0,
            rowsToSend: 0,
            rowsToReceive: 0, isInSync: true, rowsMended: 0, mended: [])
    }

    @Test func `what could not be written is written later`() throws {
        let (node, other) = (try TestNode(), try TestNode())
        try node.add("a note")
        let upkeep = Upkeep(node.store, logger: Logger(label: "test"))
        let status = status(of: try other.store.summary().replica, try node.store.summary().vector)
        let device = try TrustedDevice(id: other.key.id, name: "other", added: .now)
        try node.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
        upkeep.trust([device])
        upkeep.heard(device.id, status)
        upkeep.noteSettled()
        #expect(try node.store.members().isEmpty)
        try node.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 0") }
        upkeep.noteSettled()
        #expect(try node.store.safety(among: [device]).names == "other")
        #expect(try node.store.members().map(\.durable) == [status.durable])
    }

    /// A device under a new key speaks as soon as its records are here, and the list of devices follows.
    @Test func `what a device says before it is listed, for the first time or again, is written down once it is`() throws {
        let (node, other) = (try TestNode(), try TestNode())
        try node.add("a note")
        let upkeep = Upkeep(node.store, logger: Logger(label: "test"))
        let status = status(of: try other.store.summary().replica, try node.store.summary().vector)
        let device = try TrustedDevice(id: other.key.id, name: "other", added: .now)
        upkeep.heard(device.id, status)
        upkeep.trust([device])
        #expect(try node.store.members().map(\.durable) == [status.durable])
        upkeep.trust([])
        upkeep.disconnected(device.id)
        upkeep.heard(device.id, status)
        upkeep.trust([device])
        #expect(try node.store.members().map(\.durable) == [status.durable])
    }

    /// "About a second" is what people are told; see docs/cli.md.
    @Test func `nobody waits longer than a second for what is safe to be written down`() {
        #expect(Upkeep.settledMilliseconds <= 1_000)
        #expect(AttachmentExchange.pollMilliseconds <= 1_000)
    }

    @Test func `a peer that says the same again and again costs no write`() throws {
        let (node, other) = (try TestNode(), try TestNode())
        try node.add("a note")
        let upkeep = Upkeep(node.store, logger: Logger(label: "test"))
        let replica = try other.store.summary().replica
        let device = try TrustedDevice(id: other.key.id, name: "other", added: .now)
        func written() throws -> Int32 {
            try node.database.writeWithoutTransaction { db in
                try Int32.fetchOne(db, sql: "SELECT total_changes()") ?? -1
            }
        }
        upkeep.trust([device])
        upkeep.heard(device.id, status(of: replica, VersionVector()))
        let before = try written()
        for _ in 0..<3 {
            upkeep.heard(device.id, status(of: replica, VersionVector()))
            upkeep.note()
        }
        #expect(try written() == before)
        let vector = try node.store.vector()
        upkeep.heard(device.id, status(of: replica, vector))
        upkeep.note()
        #expect(try node.store.members().map(\.durable) == [vector], "what is new is written")
        let afterwards = try written()
        upkeep.disconnected(device.id)
        upkeep.note()
        #expect(try written() > afterwards, "when it was last seen")
    }
}
