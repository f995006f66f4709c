import Foundation
import KithStore
import Testing

@testable import Kith

/// Real stores, TCP and TLS over loopback; what could keep two nodes apart, and what must not.
@Suite struct NodeTests {
    @Test func `a commit on either side appears on the other`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try await connect(a, b)
        try a.add("from a")
        try await b.until { try b.titles() == ["from a"] }
        try b.add("from b")
        try await a.until { try a.titles() == ["from a", "from b"] }
        try await a.until { a.node.status.state == .upToDate }
        await a.stop()
        await b.stop()
    }

    @Test func `the store learns what the other device durably holds`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try await connect(a, b)
        try a.add("from a")
        try await a.until {
            a.node.upkeep.note()
            return try a.store.holders().map(\.device) == [b.key.id.bytes]
        }
        #expect(try a.store.members().map(\.replica) == [b.store.summary().replica])
        await a.stop()
        await b.stop()
    }

    @Test func `what was written apart meets when they connect`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        for index in 0..<50 { try a.add("a\(index)") }
        for index in 0..<50 { try b.add("b\(index)") }
        try await connect(a, b)
        try await a.until { try a.titles().count == 100 }
        try await b.until { try b.titles().count == 100 }
        #expect(try a.titles() == b.titles())
        await a.stop()
        await b.stop()
    }

    @Test func `a node in the middle carries commits between two that are not connected`() async throws {
        let (a, b, c) = (try TestNode(), try TestNode(), try TestNode())
        try await connect(a, b)
        let port = try await b.port()
        try b.trust(c)
        try c.trust(b, port: port)
        c.start()
        try a.add("through b")
        try await c.until { try c.titles() == ["through b"] }
        try c.add("and back")
        try await a.until { try a.titles() == ["and back", "through b"] }
        for node in [a, b, c] { await node.stop() }
    }

    @Test func `a node that stops and starts again catches up by itself`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try await connect(a, b)
        try a.add("first")
        try await b.until { try b.titles() == ["first"] }
        await b.stop()
        try await a.until { a.node.status.state != .upToDate }
        try a.add("second")
        try b.add("offline")
        let port = try await a.port()
        try b.trust.remove(a.key.id)
        try b.trust(a, port: port)
        b.start()
        try await b.until { try b.titles() == ["first", "offline", "second"] }
        try await a.until { try a.titles() == ["first", "offline", "second"] }
        await a.stop()
        await b.stop()
    }

    @Test func `without a trusted device nothing listens and the status says why`() async throws {
        let a = try TestNode()
        a.start()
        try a.add("alone")
        try await a.until { a.node.status.state == .localOnly }
        #expect(a.node.status.port == nil)
        #expect(a.node.status.reason == .noDevice)
        #expect(try a.titles() == ["alone"])
        await a.stop()
    }

    @Test func `a device that is added while the node runs is met and shown`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        a.start()
        b.start()
        try a.add("early")
        try a.trust(b)
        try b.trust(a, port: try await a.port())
        try await b.until { try b.titles() == ["early"] }
        try await b.until { b.node.status.state == .upToDate }
        await a.stop()
        await b.stop()
    }

    @Test func `a device that is not trusted gets nothing`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(TestNode())
        a.start()
        let port = try await a.port()
        try a.add("private")
        try b.trust(a, port: port)
        b.start()
        try await b.until { b.node.status.peers.first?.lastError != nil }
        #expect(try b.titles().isEmpty)
        #expect(b.node.status.state != .upToDate)
        await a.stop()
        await b.stop()
    }

    @Test func `a device of another app gets nothing and is told why`() async throws {
        let (diary, pantry) = (try TestNode(app: "diary"), try TestNode(app: "pantry"))
        try diary.trust(pantry)
        diary.start()
        try diary.add("dear diary")
        try pantry.trust(diary, port: try await diary.port())
        pantry.start()
        for node in [diary, pantry] {
            try await node.until { node.node.status.peers.first?.lastError?.contains("different apps") == true }
        }
        #expect(try pantry.titles().isEmpty)
        #expect(diary.node.status.state != .upToDate && pantry.node.status.state != .upToDate)
        await diary.stop()
        await pantry.stop()
    }

    @Test func `a device that is removed is cut off`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try await connect(a, b)
        try a.add("before")
        try await b.until { try b.titles() == ["before"] }
        try a.trust.remove(b.key.id)
        try await b.until { b.node.status.peers.first?.state == .notReachable }
        try a.add("after")
        try await Task.sleep(for: .milliseconds(200))
        #expect(try b.titles() == ["before"])
        await a.stop()
        await b.stop()
    }

    @Test func `a port that is taken is reported with what to do`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(b)
        a.start()
        let port = try await a.port()
        try b.trust(a)
        var configuration = NodeConfiguration(app: "test")
        configuration.port = port
        configuration.usesDiscovery = false
        let second = Node(store: b.store, key: b.key, trust: b.trust, configuration: configuration)
        await #expect {
            try await second.run()
        } throws: { error in
            (error as? NodeError)?.code == .portUnavailable && "\(error)".contains("\(port)")
        }
        await a.stop()
    }

    @Test func `a port that is asked for while the node begins to listen is the one on which it does`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(b)
        for _ in 0..<20 {
            a.start()
            let node = a.node
            async let first = node.port()
            async let second = node.port()
            let asked = try await [first, second]
            let listened = try await a.port()
            #expect(asked == [listened, listened])
            await a.stop()
        }
    }

    /// Both trust each other, both run, the second dials the first.
    private func connect(_ a: TestNode, _ b: TestNode) async throws {
        try a.trust(b)
        a.start()
        try b.trust(a, port: try await a.port())
        b.start()
        try await a.until { a.node.status.peers.first?.state == .connected }
    }
}
