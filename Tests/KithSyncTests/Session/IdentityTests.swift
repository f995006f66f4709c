import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: a restored or copied store goes on under its old replica id, so that one dot names two contents.
@Suite struct IdentityTests {
    private func claim(_ sequence: UInt64, _ time: UInt64) -> Head {
        Head(dot: Dot(replica: SessionProbe.own, sequence: sequence), timestamp: HybridTimestamp(rawValue: time))
    }

    /// A store that has committed twice, and the peer's claim about it.
    private func open(claiming head: Head) -> (SessionProbe, [PeerSession.Effect]) {
        var probe = SessionProbe()
        for time: UInt64 in 1...2 { probe.store.commit(now: time, []) }
        let effects = probe.open(with: probe.hello([head]))
        return (probe, effects)
    }

    @Test func `a peer that holds what we know to be ours raises no doubt`() {
        let (_, effects) = open(claiming: claim(2, 2))
        #expect(!effects.contains { if case .verifyIdentity = $0 { true } else { false } })
    }

    @Test(arguments: [(3, 9), (2, 9), (1, 1)] as [(UInt64, UInt64)])
    func `a later commit, another timestamp, or an earlier commit is for the store to verify, and nothing moves until it has`(
        sequence: UInt64, time: UInt64
    ) {
        var (probe, effects) = open(claiming: claim(sequence, time))
        #expect(effects.contains(.verifyIdentity(claim(sequence, time))))
        #expect(effects.reads.isEmpty)
        let slice = Frame.slice(SessionProbe.slice(1, of: 1), alsoSentTo: [])
        #expect(probe.receive(slice).applies.isEmpty)
    }

    @Test func `a claim that the store confirms lets the session go on`() {
        var (probe, _) = open(claiming: claim(1, 1))
        _ = probe.receive(.slice(SessionProbe.slice(1, of: 1), alsoSentTo: []))
        let effects = probe.handle(.identity(probe.store.summary))
        #expect(effects.applies.count == 1)
        #expect(effects.reads.count == 1)
    }

    @Test func `a store that takes a new id ends the session, to connect again at once`() {
        var (probe, _) = open(claiming: claim(3, 9))
        probe.store.verify(claim(3, 9), fresh: ReplicaID(high: 7, low: 7))
        #expect(probe.store.replica == ReplicaID(high: 7, low: 7))
        let reason = probe.handle(.identity(probe.store.summary)).closeReason
        #expect(reason?.code == .identityChanged)
        #expect(reason?.code.retry == .atOnce)
    }

    @Test func `a new id taken for any other reason ends the session, too`() {
        var probe = SessionProbe()
        _ = probe.open()
        probe.store.take(ReplicaID(high: 7, low: 7))
        #expect(probe.handle(.committed(probe.store.summary)).goodbye == .identityChanged)
    }

    @Test func `a claim that the store stands by although it is false is the peer's error`() {
        var (probe, _) = open(claiming: claim(3, 9))
        #expect(probe.handle(.identity(probe.store.summary)).goodbye == .protocolError)
    }

    @Test(arguments: [(1, 1, false), (2, 2, false), (2, 9, true), (3, 9, true)] as [(UInt64, UInt64, Bool)])
    func `a slice that brings a commit of ours that we never made is verified before it is applied`(
        sequence: UInt64, time: UInt64, isDoubtful: Bool
    ) {
        var (probe, _) = open(claiming: claim(2, 2))
        var slice = SessionProbe.slice(1, of: 1)
        slice.target.insert(claim(sequence, time), at: 0)
        slice.vector.insert(claim(sequence, time).dot)
        let effects = probe.receive(.slice(slice, alsoSentTo: []))
        #expect(effects.contains(.verifyIdentity(claim(sequence, time))) == isDoubtful)
        #expect(effects.applies.isEmpty == isDoubtful)
    }

    @Test func `a peer with our own replica id makes both take new ones`() {
        var probe = SessionProbe()
        var hello = probe.hello()
        hello.replica = SessionProbe.own
        let effects = probe.open(with: hello)
        #expect(effects.first == .renewIdentity)
        #expect(effects.goodbye == .identityChanged)
    }

    @Test(arguments: 0..<UInt64(Soak.count(15, soaking: 50))) func `a store restored from any moment of its life gets back what it lost`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        let network = VirtualNetwork(nodes: 3, seed: seed)
        network.connectAll()
        var snapshots: [ModelStore] = []
        for _ in 0..<20 {
            let node = Int.random(in: 0..<3, using: &random)
            network.commit(node, Operation.random(rowCount: 6, isVisible: network.nodes[node].store.isVisible, using: &random))
            network.run(forMilliseconds: .random(in: 0...300, using: &random))
            snapshots.append(network.nodes[0].store)
        }
        network.run(forMilliseconds: 10_000)
        let before = network.nodes[1].store
        let restored = snapshots.randomElement(using: &random) ?? snapshots[0]
        for link in 0...1 { network.cut(link, reconnects: false) }
        network.edit(0) { $0.store = restored }
        for link in 0...1 { network.dial(link) }
        network.run(forMilliseconds: 20_000)
        #expect(network.hasConverged)
        #expect(network.nodes[0].store.rows == before.rows)
        let hadOwnNewer = restored.vector[restored.replica] < before.vector[restored.replica]
        #expect((network.nodes[0].store.replica != restored.replica) == hadOwnNewer)
        network.insert(0, row: 100)
        network.run(forMilliseconds: 10_000)
        #expect(network.hasConverged)
    }

    @Test func `a live copy is noticed as soon as the two meet, and both go on under new ids`() {
        let network = VirtualNetwork(nodes: 2, seed: 1)
        network.insert(0, row: 1)
        let copy = network.nodes[0].store
        network.edit(1) { $0.store = copy }
        network.connect(0, 1)
        network.run(forMilliseconds: 5_000)
        for node in 0...1 { #expect(network.nodes[node].store.replica != copy.replica) }
        network.insert(0, row: 2)
        network.insert(1, row: 3)
        network.run(forMilliseconds: 5_000)
        #expect(network.hasConverged)
        #expect(network.nodes[0].store.rows.count == 3)
    }
}
