import Foundation
import KithCausality
import KithSync
import KithTrust
import Testing

@testable import Kith

/// The risk: two machines with one key cut each other off for ever, and nobody says why.
@Suite struct TwinTests {
    private let device = DeviceKey().id
    private let a = ReplicaID(high: 1, low: 1)
    private let b = ReplicaID(high: 1, low: 2)
    private let c = ReplicaID(high: 1, low: 3)

    private func at(_ milliseconds: Int64) -> Instant { Instant(milliseconds: milliseconds) }

    @Test func `two stores that take turns are two machines`() {
        var watch = TwinWatch()
        for (number, replica) in [a, b, a].enumerated() {
            #expect(watch.hosts(of: device, now: at(0)) == nil)
            watch.saw(device, as: replica, at: replica == a ? "10.0.0.1" : "10.0.0.2", now: at(Int64(number) * 1_000))
        }
        #expect(watch.hosts(of: device, now: at(3_000)) == ["10.0.0.1", "10.0.0.2"])
        let end = 2_000 + TwinWatch.windowMilliseconds
        #expect(watch.hosts(of: device, now: at(end)) == nil)
        watch.heardAgain(device, now: at(end - 1))
        #expect(watch.hosts(of: device, now: at(end)) != nil)
        #expect(watch.hosts(of: DeviceKey().id, now: at(3_000)) == nil)
        watch.keep(only: [])
        #expect(watch.hosts(of: device, now: at(3_000)) == nil)
    }

    @Test func `a store that becomes another replica is no second machine`() {
        var watch = TwinWatch()
        for (number, replica) in [a, a, b, b, c, c].enumerated() {
            watch.saw(device, as: replica, at: "10.0.0.1", now: at(Int64(number) * 1_000))
        }
        #expect(watch.hosts(of: device, now: at(6_000)) == nil)
        // A backup of long ago that is put back is none either.
        watch.saw(device, as: a, at: "10.0.0.1", now: at(5_000 + TwinWatch.windowMilliseconds))
        #expect(watch.hosts(of: device, now: at(5_000 + TwinWatch.windowMilliseconds)) == nil)
    }

    @Test func `a key on two machines is named and one of them stays connected`() async throws {
        let (attic, desk) = (try TestNode(), try TestNode())
        let copy = try TestNode(withKeyOf: desk)
        #expect(copy.key.id == desk.key.id)
        try attic.trust(desk)
        attic.start()
        let port = try await attic.port()
        for node in [desk, copy] {
            try node.trust(attic, port: port)
            node.start()
        }
        try await attic.until { attic.node.status.peers.first?.twins != nil }
        #expect(attic.node.status.state == .stalled)
        #expect(attic.node.status.sentence.contains("The key of peer is in use on two machines"))
        #expect(attic.node.status.remedy?.contains("a new key") == true)
        // From now on the first stays.
        try await attic.until { attic.node.status.peers.first?.state == .connected }
        for _ in 0..<20 {
            try await Task.sleep(for: .milliseconds(50))
            #expect(attic.node.status.peers.first?.state == .connected)
        }
        for node in [attic, desk, copy] { await node.stop() }
    }
}
