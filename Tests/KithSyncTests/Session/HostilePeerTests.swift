import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: a paired peer that does not play by the rules stops a session from working or changes what it should not.
@Suite struct HostilePeerTests {
    @Test(arguments: 0..<50) func `random valid frames in any order end a session cleanly or leave it working`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<20 {
            var probe = SessionProbe()
            probe.store.commit(now: 1, [])
            var effects = probe.open()
            for _ in 0..<30 where effects.closeReason == nil {
                let frame = FrameSamples.random(using: &random)
                var bytes = FrameCodec.encode(frame)
                if Int.random(in: 0..<10, using: &random) == 0 { bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 }
                effects = probe.handle(.received(bytes))
                if let slice = effects.applies.first, Bool.random(using: &random) {
                    effects = probe.handle(.applied(probe.store.apply(slice)))
                }
                if let request = effects.reads.first, effects.closeReason == nil {
                    effects = probe.handle(.sliceRead(probe.store.read(request)))
                }
            }
            if let reason = effects.closeReason {
                #expect(effects.last == .close(reason))
                #expect(probe.receive(.ping(FrameSamples.pulse)).isEmpty)
            } else {
                #expect(probe.receive(.ping(FrameSamples.pulse)).frames.contains { if case .pong = $0 { true } else { false } })
            }
        }
    }

    @Test(arguments: 0..<50) func `frames of a session that are replayed into another change nothing`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let network = VirtualNetwork(nodes: 2, seed: seed)
        let link = network.connect(0, 1)
        for _ in 0..<10 {
            network.commit(0, Operation.random(rowCount: 4, isVisible: network.nodes[0].store.isVisible, using: &random))
            network.run(forMilliseconds: 1_000)
        }
        let before = network.nodes[1].store
        // The whole store once more, by a sender who believes that nothing is known.
        var request = SliceRequest(since: VersionVector())
        while let slice = network.nodes[0].store.read(request) {
            network.inject(FrameCodec.encode(.slice(slice, alsoSentTo: [])), link, to: 1)
            network.run(forMilliseconds: 1_000)
            if slice.isLast { break }
            request = SliceRequest(since: request.since, after: slice.position, target: slice.target)
        }
        #expect(network.nodes[1].store.rows == before.rows)
        #expect(network.nodes[1].store.vector == before.vector)
    }
}
