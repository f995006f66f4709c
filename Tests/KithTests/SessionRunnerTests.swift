import GRDB
import KithTransport
import Logging
import Synchronization
import Testing

@testable import Kith
@testable import KithSync

/// The risk: a session begins with a device that is not trusted any more, or tells of a peer that is gone.
@Suite struct SessionRunnerTests {
    /// A connection that `b` has dialled, before anything was said over it.
    private func connect(_ a: TestNode, _ b: TestNode) async throws -> (ours: Connection, theirs: Connection, transports: [Transport]) {
        let listener = try Transport(key: a.key, admission: a.trust.admission(of:))
        let dialler = try Transport(key: b.key, admits: { _ in true })
        let port = try await listener.listen(host: "127.0.0.1", port: 0)
        let theirs = try await dialler.dial(host: "127.0.0.1", port: port)
        var incoming = listener.incoming.makeAsyncIterator()
        return (try #require(await incoming.next()), theirs, [listener, dialler])
    }

    private func runner(
        _ node: TestNode, _ connection: Connection, capabilities: Capabilities = [],
        onStatus: @escaping @Sendable (PeerStatus, SessionRouter.SessionID) -> Void = { _, _ in }
    ) -> SessionRunner {
        let hub = node.node.hub
        let household = HouseholdExchange(trust: node.trust, hub: hub, logger: Logger(label: "test")) {}
        var configuration = PeerSession.Configuration(app: "test", group: [], software: "test")
        configuration.capabilities.formUnion(capabilities)
        return SessionRunner(
            connection, configuration, store: node.store, hub: hub, exchange: node.node.exchange, household: household, onStatus: onStatus)
    }

    @Test func `who is removed between its handshake and its session gets no byte`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(b)
        let (ours, theirs, transports) = try await connect(a, b)
        try a.trust.remove(b.key.id)
        a.node.reloadTrust()
        let runner = runner(a, ours)
        async let end = runner.run()
        var bytes = 0
        do {
            for try await frame in theirs.frames {
                bytes += frame.count
                theirs.abort(reason: "it was heard")
            }
        } catch {}
        _ = await end
        #expect(bytes == 0)
        #expect(a.node.hub.runners.isEmpty)
        for transport in transports { await transport.close() }
    }

    @Test func `what is posted after the end is told to nobody`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(b)
        try b.trust(a)
        let (ours, theirs, transports) = try await connect(a, b)
        let told = Mutex(0)
        let (first, second) = (runner(a, ours) { _, _ in told.withLock { $0 += 1 } }, runner(b, theirs))
        async let end = first.run()
        async let otherEnd = second.run()
        try await a.until { told.withLock { $0 } > 0 }
        theirs.abort(reason: "the line is cut")
        _ = await (end, otherEnd)
        let before = told.withLock { $0 }
        try a.add("a note")
        first.post(.committed(try a.store.summary()))
        // Comes after what was posted.
        _ = await first.isRefusedByPeer
        #expect(told.withLock { $0 } == before)
        for transport in transports { await transport.close() }
    }

    @Test func `while another program holds the lock, a device that has rows to write is not called up to date`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(b)
        try b.trust(a)
        let (ours, theirs, transports) = try await connect(a, b)
        let told = Mutex<[Bool]>([])
        let (first, second) = (runner(a, ours) { status, _ in told.withLock { $0.append(status.isInSync) } }, runner(b, theirs))
        let ended = Mutex(false)
        let end = Task {
            _ = await first.run()
            ended.withLock { $0 = true }
        }
        async let otherEnd = second.run()
        try await a.until { told.withLock { $0.last } == true }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let program = try DatabaseQueue(path: a.database.path, configuration: configuration)
        try await program.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        try b.add("a note")
        second.post(.committed(try b.store.summary()))
        try await a.until { told.withLock { $0.last } == false || ended.withLock { $0 } }
        #expect(!ended.withLock { $0 })
        try await program.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try await a.until { told.withLock { $0.last } == true || ended.withLock { $0 } }
        #expect(try a.titles() == ["a note"])
        theirs.abort(reason: "the line is cut")
        _ = await (end.value, otherEnd)
        for transport in transports { await transport.close() }
    }

    @Test func `a connection that gives way keeps no attachment from coming, however late its device is met over it`() async throws {
        let (a, b) = (try AttachmentExchangeTests.node(), try AttachmentExchangeTests.node())
        try a.trust(b)
        try b.trust(a)
        let (older, newer) = (try await connect(a, b), try await connect(a, b))
        let met = Mutex(0)
        func pair(_ ours: Connection, _ theirs: Connection) -> (SessionRunner, SessionRunner) {
            let first = runner(a, ours, capabilities: .attachments) { _, _ in met.withLock { $0 |= 1 } }
            return (first, runner(b, theirs, capabilities: .attachments) { _, _ in met.withLock { $0 |= 2 } })
        }
        // Both devices make their sessions in this order.
        let (old, oldOther) = pair(older.ours, older.theirs)
        let (new, newOther) = pair(newer.ours, newer.theirs)
        async let newEnd = new.run()
        async let newOtherEnd = newOther.run()
        try await a.until { met.withLock { $0 } == 3 }
        met.withLock { $0 = 0 }
        async let oldEnd = old.run()
        async let oldOtherEnd = oldOther.run()
        try await a.until { met.withLock { $0 } == 3 }
        old.post(.close(CloseReason(.replaced, "A newer connection to this device is kept.")))
        _ = await (oldEnd, oldOtherEnd)
        let exchanges = [a.node.exchange, b.node.exchange].map { exchange in Task { await exchange.run() } }
        let observation = b.store.observeCommitNews { [exchange = b.node.exchange] _ in exchange.storeChanged() }
        let id = try a.store.attach([1, 2, 3])
        try a.add(id)
        new.post(.committed(try a.store.summary()))
        try await b.until { if case .present = b.store.attachmentState(id) { true } else { false } }
        observation.cancel()
        for exchange in exchanges { exchange.cancel() }
        new.post(.close(CloseReason(.shutdown, "The node stops.")))
        _ = await (newEnd, newOtherEnd)
        for transport in older.transports + newer.transports { await transport.close() }
    }

    @Test func `a node that stops says so, whichever hears of it first, the session or who waits for its frames`() async throws {
        let (a, b) = (try TestNode(), try TestNode())
        try a.trust(b)
        try b.trust(a)
        for round in 0..<80 {
            let (ours, theirs, transports) = try await connect(a, b)
            let met = Mutex(false)
            let (first, second) = (runner(a, ours) { _, _ in met.withLock { $0 = true } }, runner(b, theirs))
            async let otherEnd = second.run()
            let running = Task { await first.run() }
            // Half of them stop in the middle of meeting.
            let isMidway = round % 2 == 1
            if isMidway {
                try await Task.sleep(for: .microseconds(round * 100))
            } else {
                try await a.until { met.withLock { $0 } }
            }
            running.cancel()
            let (end, other) = await (running.value, otherEnd)
            #expect(end.isOwnWish, "\(end.reason.message)")
            if !isMidway { #expect(other.reason.code == .shutdown && other.reason.isFromPeer, "\(other.reason.message)") }
            for transport in transports { await transport.close() }
        }
    }

    @Test func `who says about the household what is of no use is listened to for a while`() {
        var budget = HouseholdBudget()
        // What several members say at once about a full household is no reproach.
        let duplicates = (0..<8).map { _ in budget.spend(heard: 400_000, areRecords: true, answered: 33, hasLearned: false) }
        let news = budget.spend(heard: 60_000, areRecords: true, answered: 33, hasLearned: true)
        #expect(duplicates.allSatisfy(\.self) && news)
        var messages = 0
        while messages < 1_000, budget.spend(heard: 65_536, areRecords: true, answered: 0, hasLearned: false) { messages += 1 }
        #expect(messages > 50 && messages < 70)
        // A digest is cheap, and its answer counts as it is.
        budget = HouseholdBudget()
        messages = 0
        while messages < 1_000, budget.spend(heard: 33, areRecords: false, answered: 65_536, hasLearned: false) { messages += 1 }
        #expect(messages == 512)
    }
}
