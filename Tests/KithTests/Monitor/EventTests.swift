import Foundation
import GRDB
import InMemoryTracing
import KithTrust
import Metrics
import MetricsTestKit
import Synchronization
import TestSupport
import Testing
import Tracing

@testable import Kith
@testable import KithDiscovery

/// Risk: an app cannot tell what its node does, or metrics and traces miss what happens.
@Suite(.serialized, .timeLimit(.minutes(2))) struct EventTests {
    @Test func `everything that a node does begins and ends`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let (seen, other) = (EventLog(phone.node), EventLog(laptop.node))
        let id = try phone.add("Milk")
        try await phone.meet(laptop)
        for (app, title) in [(phone, "Oat milk"), (laptop, "Soy milk")] {
            try await app.database.write { try $0.execute(sql: "UPDATE item SET title = ? WHERE id = ?", arguments: [title, id]) }
        }
        try await laptop.meet(phone)
        try await phone.until {
            seen.count(.conflict, .ended) == 1 && other.count(.conflict, .ended) == 1 && seen.count(.connect, .ended) >= 1
        }
        // Both may have dialled, and one connection ends in favour of the other.
        try await phone.until {
            [seen, other].allSatisfy { log in
                Dictionary(grouping: log.all, by: \.operation).values.allSatisfy { ![.began, .progress].contains($0.last?.phase) }
            }
        }
        #expect(seen.rows(of: .send) >= 2 && seen.rows(of: .receive) >= 1 && other.rows(of: .receive) >= 2)
        #expect(other.bytes(of: .receive) > 0 && seen.bytes(of: .send) > 0)
        #expect(seen.count(.setup, .ended) == 2)
        for log in [seen, other] {
            for event in log.all where event.kind != .setup && event.kind != .garbage {
                #expect([phone.trust.ownID, laptop.trust.ownID].contains(event.peer), "\(event)")
            }
            // One beginning, one end, in order.
            for (_, events) in Dictionary(grouping: log.all, by: \.operation) {
                #expect(events.first?.phase == .began)
                #expect(events.dropFirst().dropLast().allSatisfy { $0.phase == .progress })
                #expect(events.last?.phase != .began && events.last?.phase != .progress, "\(events)")
                #expect(Set(events.map(\.kind)).count == 1)
                #expect(zip(events, events.dropFirst()).allSatisfy { $0.elapsed <= $1.elapsed && $0.rows <= $1.rows })
            }
        }
    }

    @Test func `what takes several slices tells how far it has got`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let (seen, other) = (EventLog(phone.node), EventLog(laptop.node))
        try await phone.database.write { db in
            for number in 0..<5_000 {
                try db.execute(sql: "INSERT INTO item (id, title) VALUES (?, ?)", arguments: [UUID(), "\(number)"])
            }
        }
        try await phone.meet(laptop)
        // Where both have dialled, a session may give way to another in the midst, or when all rows have gone over it and the answer has
        // not come: what went over it was told as failed. The other session begins from what the receiver knows.
        func isWhole(_ log: EventLog, _ kind: NodeEvent.Kind) -> Bool {
            let isDivided = log.all.contains { $0.kind == kind && $0.isFailed }
            return isDivided ? log.rowsSaid(of: kind) >= 5_000 : log.rows(of: kind) == 5_000
        }
        try await phone.until { isWhole(other, .receive) && isWhole(seen, .send) }
        for (log, kind) in [(seen, NodeEvent.Kind.send), (other, .receive)] {
            let steps = log.all.filter { $0.kind == kind && $0.phase == .progress }
            #expect(steps.count >= 2, "\(kind)")
            #expect(steps.contains { $0.rows > 0 && $0.rows < 5_000 }, "\(kind)")
        }
    }

    @Test func `what cannot be done says why`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let log = EventLog(phone.node)
        phone.start()
        // The other one is not there.
        try await phone.until { log.all.contains { $0.kind == .connect && $0.isFailed } }
        #expect(log.all.contains { $0.kind == .connect && $0.peer == laptop.trust.ownID && $0.isFailed })
        await phone.stop()
    }

    @Test func `garbage that is collected is counted`() async throws {
        let (phone, laptop) = try await Pantry.pair()
        let log = EventLog(phone.node)
        phone.node.upkeep.collectGarbage()
        try await phone.until { log.count(.garbage, .ended) == 1 }
        _ = laptop
    }

    @Test func `a search by mDNS begins when there is mDNS, and fails with it`() async throws {
        let machine = try TestNode()
        let node = machine.node
        let log = EventLog(node)
        let network = try Network(node)
        let (events, say) = AsyncStream.makeStream(of: DiscoveryEvent.self)
        let following = Task { await network.follow(events) }
        let gone = DiscoveryError.daemonUnavailable(code: -65_563)
        func phases(_ expected: [NodeEvent.Phase]) async throws {
            for _ in 0..<12_000 where log.phases(of: .discover) != expected { try await Task.sleep(for: .milliseconds(5)) }
            #expect(log.phases(of: .discover) == expected)
        }
        // Without mDNS from the beginning, each attempt is one that failed.
        say.yield(.status(.unavailable(gone)))
        var expected: [NodeEvent.Phase] = [.began, .failed("\(gone)")]
        try await phases(expected)
        #expect(node.status.mdns.contains("avahi"), "\(node.status.mdns)")
        say.yield(.status(.running))
        say.yield(.appeared(try Self.announcement(port: 1)))
        say.yield(.changed(try Self.announcement(port: 2)))
        say.yield(.status(.running))
        say.yield(.disappeared(try Self.announcement(port: 2).name))
        expected += [.began, .progress, .progress]
        try await phases(expected)
        say.yield(.status(.unavailable(gone)))
        say.yield(.status(.running))
        expected += [.failed("\(gone)"), .began]
        try await phases(expected)
        // The node stops.
        say.finish()
        await following.value
        expected.append(.ended)
        try await phases(expected)
        let searches = Dictionary(grouping: log.all, by: \.operation)
        withExtendedLifetime(machine) {}
        #expect(searches.count == 3 && searches.values.allSatisfy { $0.allSatisfy { $0.peer == nil } })
    }

    private static func announcement(port: UInt16) throws -> Announcement {
        Announcement(
            name: try #require(InstanceName(bytes: Array("study".utf8))), host: "study.local.", port: port,
            addresses: [try #require(HostAddress(bytes: [10, 0, 0, 1], interface: 2))], attributes: TXTRecord())
    }

    @Test func `readers come and go`() async throws {
        let board = EventBoard()
        #expect(!board.isHeard)
        do {
            let stream = board.events
            #expect(board.isHeard)
            board.begin(.setup).end()
            var iterator = stream.makeAsyncIterator()
            #expect(await iterator.next()?.phase == .began)
            #expect(await iterator.next()?.phase == .ended)
        }
        #expect(!board.isHeard)
        let operation = board.begin(.receive)
        operation.end()
        // It is over.
        operation.progress(rows: 1)
        operation.fail("late")
    }

    @Test func `metrics and spans go where the app has them`() async throws {
        let (metrics, tracer) = Observability.bootstrapped
        let (phone, laptop) = try await Pantry.pair()
        try phone.add("Milk")
        try await phone.meet(laptop)
        // What has met ends a moment later.
        func isTold(_ name: String) -> Bool {
            tracer.finishedSpans.contains { $0.operationName == name && $0.status?.code != .error }
        }
        func connections() -> Int64 {
            (try? metrics.expectCounter("kith_operations_total", [("kind", "connect"), ("outcome", "ok")]))?.totalValue ?? 0
        }
        try await phone.until { isTold("kith.connect") && isTold("kith.send") && isTold("kith.receive") && connections() >= 1 }
        #expect(isTold("kith.setup"))
        let rows = try metrics.expectCounter("kith_rows_total", [("kind", "receive")])
        #expect(rows.totalValue >= 1)
        let timer = try metrics.expectTimer("kith_operation_duration", [("kind", "receive")])
        #expect(!timer.values.isEmpty)
    }

    @Test func `what failed is a failure in metrics and spans, too, with the same reason`() async throws {
        let (metrics, tracer) = Observability.bootstrapped
        let (phone, laptop) = try await Pantry.pair()
        let log = EventLog(phone.node)
        phone.start()
        // The other one is not there.
        try await phone.until { log.all.contains { $0.kind == .connect && $0.isFailed } }
        await phone.stop()
        let reasons = log.phases(of: .connect).compactMap { if case .failed(let reason) = $0 { reason } else { nil } }
        let spans = tracer.finishedSpans.filter {
            $0.operationName == "kith.connect" && $0.value("kith.peer") == .string(laptop.trust.ownID.shortDescription)
        }
        let failed = spans.filter { $0.status?.code == .error }
        #expect(!reasons.isEmpty && Set(failed.compactMap { $0.status?.message }).isSuperset(of: reasons))
        #expect(try metrics.expectCounter("kith_operations_total", [("kind", "connect"), ("outcome", "failed")]).totalValue >= 1)
    }

    @Test func `rows that were on their way when a connection ended are in the span of what failed`() throws {
        let (_, tracer) = Observability.bootstrapped
        let peer = DeviceKey().id
        let operation = EventBoard().begin(.receive, with: peer)
        operation.progress(rows: 3, bytes: 70)
        operation.fail("the connection was cut")
        operation.end()
        let spans = tracer.finishedSpans.filter { $0.value("kith.peer") == .string(peer.shortDescription) }
        let span = try #require(spans.first)
        #expect(spans.count == 1 && span.operationName == "kith.receive" && span.kind == .consumer)
        #expect(span.status?.code == .error && span.status?.message == "the connection was cut")
        #expect(span.value("kith.rows") == .int64(3) && span.value("kith.bytes") == .int64(70))
    }
}

/// What the process of the tests has bootstrapped, once.
private enum Observability {
    static let bootstrapped: (TestMetrics, InMemoryTracer) = {
        let (metrics, tracer) = (TestMetrics(), InMemoryTracer())
        MetricsSystem.bootstrap(metrics)
        InstrumentationSystem.bootstrap(tracer)
        return (metrics, tracer)
    }()
}

/// Gathers the events of a node.
private final class EventLog: Sendable {
    private let events = Mutex<[NodeEvent]>([])
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ node: Node) {
        let stream = node.events
        let reading = Task { [weak self] in
            for await event in stream { self?.events.withLock { $0.append(event) } }
        }
        task.withLock { $0 = reading }
    }

    deinit { task.withLock { $0 }?.cancel() }

    var all: [NodeEvent] { events.withLock { $0 } }

    func phases(of kind: NodeEvent.Kind) -> [NodeEvent.Phase] { all.filter { $0.kind == kind }.map(\.phase) }

    func count(_ kind: NodeEvent.Kind, _ phase: NodeEvent.Phase) -> Int { all.count { $0.kind == kind && $0.phase == phase } }

    func rows(of kind: NodeEvent.Kind) -> Int { all.filter { $0.kind == kind && $0.phase == .ended }.reduce(0) { $0 + $1.rows } }

    /// Rows of what has ended and of what has failed.
    func rowsSaid(of kind: NodeEvent.Kind) -> Int {
        all.filter { $0.kind == kind && ($0.phase == .ended || $0.isFailed) }.reduce(0) { $0 + $1.rows }
    }

    func bytes(of kind: NodeEvent.Kind) -> Int { all.filter { $0.kind == kind && $0.phase == .ended }.reduce(0) { $0 + $1.bytes } }
}

extension NodeEvent {
    fileprivate var isFailed: Bool { if case .failed = phase { true } else { false } }
}

extension FinishedInMemorySpan {
    fileprivate func value(_ name: String) -> SpanAttribute? { attributes[name]?.toSpanAttribute() }
}
