import Foundation
import Kith
import KithTransport
import KithTrust
import Testing

/// Real stores, TCP and TLS over loopback: who belongs to the household decides who gets anything.
@Suite struct HouseholdNodeTests {
    private func asTrusted(_ node: TestNode, port: Int? = nil) throws -> TrustedDevice {
        let addresses = try port.map { [try PeerAddress(host: "127.0.0.1", port: $0)] } ?? []
        return try TrustedDevice(id: node.key.id, name: "", addresses: addresses, added: Date(timeIntervalSince1970: 0))
    }

    /// What pairing does: the first makes the second a member, which joins and dials it.
    private func pair(_ first: TestNode, _ second: TestNode, port: Int? = nil) throws {
        try first.trust.admit(asTrusted(second), founding: Household.founded(as: "first", by: first.key))
        try second.trust.join(try #require(first.trust.household).id, through: asTrusted(first, port: port))
    }

    /// Two members that are connected.
    private func connected() async throws -> (a: TestNode, b: TestNode, port: Int) {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust.admit(asTrusted(b), founding: Household.founded(as: "a", by: a.key))
        a.start()
        let port = try await a.port()
        try b.trust.join(try #require(a.trust.household).id, through: asTrusted(a, port: port))
        b.start()
        try await b.until { b.trust.standing == .member }
        return (a, b, port)
    }

    @Test func `who has left and is back before its node has noticed is a member again, over the connection that is there`() async throws {
        let (a, b, port) = try await connected()
        try await b.until { b.node.status.state == .upToDate }
        try b.trust.leave()
        try b.trust.join(try #require(a.trust.household).id, through: asTrusted(a, port: port))
        try await b.until { b.trust.standing == .member }
        await a.stop()
        await b.stop()
    }

    @Test func `a file about a revocation can be read by a machine that was met, and has written nothing`() async throws {
        let (a, b, _) = try await connected()
        try await b.until { b.node.status.state == .upToDate }
        await b.stop()
        // It meets nobody any more, and so lacks the secret that the revocation makes.
        let c = try TestNode()
        try pair(a, c)
        try a.trust.remove(c.key.id)
        let file = try a.trust.seal(knownKeys: try a.store.knownKeys())
        #expect(b.trust.open(file.header) != nil && c.trust.open(file.header) == nil)
        await a.stop()
    }

    @Test func `what was written alone for months comes along`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        for index in 0..<30 { try b.add("alone \(index)") }
        a.start()
        b.start()
        try await a.until { a.node.status.state == .localOnly }
        try a.trust.admit(asTrusted(b), founding: Household.founded(as: "a", by: a.key))
        let port = try await a.port()
        try pair(a, b, port: port)
        try await a.until { try a.titles().count == 30 }
        try await b.until { b.trust.standing == .member && b.node.status.state == .upToDate }
        #expect(b.node.status.household == a.node.status.household && b.node.status.household != nil)
        // Leaving keeps all of it, and goes back to local only.
        try b.trust.leave()
        try await b.until { b.node.status.state == .localOnly }
        #expect(try b.titles().count == 30)
        try b.add("alone again")
        // The other one hears of it, and waits for it no more.
        try await a.until { try a.trust.devices.isEmpty && a.store.members().isEmpty }
        #expect(try a.titles().count == 30)
        try await b.until { b.trust.standing == .alone }
        // And coming back brings what was written meanwhile.
        try pair(a, b, port: port)
        try await a.until { try a.titles().count == 31 }
        await a.stop()
        await b.stop()
    }

    @Test func `members hear of each other through one that knows both`() async throws {
        let (a, b, port) = try await connected()
        let c = try TestNode()
        try pair(a, c, port: port)
        c.start()
        try await c.until { c.trust.isTrusted(b.key.id) }
        try await b.until { b.trust.isTrusted(c.key.id) }
        try b.trust.remove(c.key.id)
        try await a.until { !a.trust.isTrusted(c.key.id) }
        try await a.until { a.node.status.peers.allSatisfy { $0.deviceID != c.key.id.description } }
        try a.add("after the revocation")
        try await b.until { try b.titles() == ["after the revocation"] }
        try await Task.sleep(for: .milliseconds(300))
        #expect(try c.titles().isEmpty)
        for node in [a, b, c] { await node.stop() }
    }

    @Test func `a list kept by hand becomes a household when one of them pairs`() async throws {
        let (a, b, c) = (try TestNode(), try TestNode(), try TestNode())
        try a.trust(b)
        a.start()
        let port = try await a.port()
        try b.trust(a, port: port)
        b.start()
        try a.add("by hand")
        try await b.until { try b.titles() == ["by hand"] }
        try a.trust.admit(asTrusted(c), founding: Household.founded(as: "a", by: a.key))
        try await b.until { b.trust.standing == .member && b.trust.isTrusted(c.key.id) }
        try a.add("in the household")
        try await b.until { try b.titles() == ["by hand", "in the household"] }
        await a.stop()
        await b.stop()
    }

    @Test(arguments: [true, false]) func `who renews its key is followed`(doesDial: Bool) async throws {
        let (a, b, port) = try await connected()
        let (renewing, other) = doesDial ? (b, a) : (a, b)
        let id = try renewing.trust.renewKey()
        try await other.until { other.trust.devices.map(\.id) == [id] }
        try renewing.add("under the new key")
        try await other.until { try other.titles() == ["under the new key"] }
        try other.add("to the new key")
        try await renewing.until { try renewing.titles().count == 2 }
        #expect(try other.store.members().map(\.device) == [id.bytes])
        // Whoever has the old key gets no byte from either.
        let thief = try Transport(key: renewing.key, admits: { _ in true })
        for port in [port, try await renewing.port(), try await other.port()] {
            var bytes = 0
            do {
                let connection = try await thief.dial(host: "127.0.0.1", port: port)
                for try await frame in connection.frames { bytes += frame.count }
                Issue.record("the old key was let in")
            } catch {
                #expect(error.code == .refusedByPeer || error.code == .handshakeFailed || error.code == .ownDevice, "\(error)")
            }
            #expect(bytes == 0)
        }
        await thief.close()
        await a.stop()
        await b.stop()
    }

    @Test func `who was away follows to a new key later`() async throws {
        let (a, b, port) = try await connected()
        await b.stop()
        for round in 0..<3 {
            try a.trust.rename(a.trust.ownID, to: "a \(round)")
            _ = try a.trust.renewKey()
        }
        try a.add("while b was away")
        try await a.until { a.node.status.port == port }
        b.start()
        try await b.until { try b.titles() == ["while b was away"] }
        try await b.until { b.trust.devices.map(\.id) == [a.trust.ownID] && b.trust.devices.first?.name == "a 2" }
        await a.stop()
        await b.stop()
    }

    @Test func `who leaves while nobody is there tells the first that it meets`() async throws {
        let (a, b, port) = try await connected()
        await a.stop()
        try await b.until { b.node.status.peers.first?.state == .notReachable }
        // It has said something else before, which nobody has heard yet either.
        let c = try TestNode()
        try b.trust.rename(b.trust.ownID, to: "gone")
        try pair(b, c)
        try b.trust.leave()
        try await b.until { b.node.status.state == .localOnly }
        #expect(b.trust.standing == .left && b.node.status.peers.isEmpty)
        try b.add("after leaving")
        try a.add("for the others")
        a.start(port: port)
        try await b.until { b.trust.standing == .alone }
        #expect(a.trust.devices.map(\.id) == [c.key.id])
        #expect(try a.titles() == ["for the others"] && b.titles() == ["after leaving"])
        await a.stop()
        await b.stop()
    }

    @Test func `places that take connections and say nothing do not keep a farewell from the member that listens`() async throws {
        let (a, b, port) = try await connected()
        await a.stop()
        // Whoever sorts last is dialled first, at eight places.
        let places = try (0..<8).map { _ in try SilentPlace() }
        for _ in 0..<3 {
            var key = DeviceKey()
            while key.id < a.key.id { key = DeviceKey() }
            let addresses = places.map(\.address)
            try b.trust.add(TrustedDevice(id: key.id, name: "silent", addresses: addresses, added: Date(timeIntervalSince1970: 0)))
        }
        try b.trust.leave()
        try await b.until { b.node.status.state == .localOnly }
        a.start(port: port)
        try await b.until { b.trust.standing == .alone }
        await a.stop()
        await b.stop()
    }

    @Test func `two households never mix`() async throws {
        let (a, b, port) = try await connected()
        // c is a member of another household, in which somebody put a; and b's household has c.
        let c = try TestNode()
        try c.trust.found(Household.founded(as: "c", by: c.key))
        try c.trust.add(asTrusted(a, port: port))
        try a.trust.add(asTrusted(c))
        try c.add("of another household")
        c.start()
        try await c.until { c.node.status.peers.first?.lastError?.contains("different groups") == true }
        #expect(try a.titles().isEmpty && b.titles().isEmpty)
        #expect(c.trust.household?.id != a.trust.household?.id)
        for node in [a, b, c] { await node.stop() }
    }
}
