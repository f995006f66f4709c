import Foundation
import GRDB
import KithCausality
import Logging
import Testing

@testable import Kith
@testable import KithSync

/// The risk: what a device holds, or that it is a member, is forgotten because the store could not be written for a moment.
@Suite struct UpkeepTests {
    private let session: SessionRouter.SessionID = {
        var router = SessionRouter()
        return router.open()
    }()

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
        upkeep.connected(device.id, by: session)
        upkeep.heard(device.id, status, of: session)
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
        upkeep.connected(device.id, by: session)
        upkeep.heard(device.id, status, of: session)
        upkeep.trust([device])
        #expect(try node.store.members().map(\.durable) == [status.durable])
        upkeep.trust([])
        upkeep.disconnected(device.id)
        upkeep.connected(device.id, by: session)
        upkeep.heard(device.id, status, of: session)
        upkeep.trust([device])
        #expect(try node.store.members().map(\.durable) == [status.durable])
    }

    @Test func `a session that gave way makes no device present that has gone`() throws {
        let (node, other) = (try TestNode(), try TestNode())
        let upkeep = Upkeep(node.store, logger: Logger(label: "test"))
        let device = try TrustedDevice(id: other.key.id, name: "other", added: .now)
        upkeep.trust([device])
        var router = SessionRouter()
        let (old, new) = (router.open(), router.open())
        let replica = try other.store.summary().replica
        try node.add("a note")
        upkeep.connected(device.id, by: old)
        upkeep.heard(device.id, status(of: replica, VersionVector()), of: old)
        upkeep.connected(device.id, by: new)
        upkeep.disconnected(device.id)
        upkeep.heard(device.id, status(of: replica, try node.store.vector()), of: old)
        upkeep.note()
        #expect(try node.store.members().map(\.durable) == [VersionVector()])
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
        upkeep.connected(device.id, by: session)
        upkeep.heard(device.id, status(of: replica, VersionVector()), of: session)
        let before = try written()
        for _ in 0..<3 {
            upkeep.heard(device.id, status(of: replica, VersionVector()), of: session)
            upkeep.note()
        }
        #expect(try written() == before)
        let vector = try node.store.vector()
        upkeep.heard(device.id, status(of: replica, vector), of: session)
        upkeep.note()
        #expect(try node.store.members().map(\.durable) == [vector], "what is new is written")
        let afterwards = try written()
        upkeep.disconnected(device.id)
        upkeep.note()
        #expect(try written() > afterwards, "when it was last seen")
    }
}
