import KithCausality
import KithSync
import Testing

/// Risk: a peer that is gone is taken for one that is quiet, or the other way round; or a push that was lost stays lost.
@Suite struct LivenessTests {
    @Test func `a ping follows 15 seconds of our own silence`() {
        var probe = SessionProbe()
        _ = probe.open()
        #expect(probe.wait(14_999).isEmpty)
        guard case .ping? = probe.wait(1).frames.first else {
            Issue.record("no ping")
            return
        }
        #expect(probe.wait(14_999).isEmpty)
        #expect(probe.wait(1).frames.count == 1)
    }

    @Test func `a flood of pings is answered at a rate that fills nobody's memory`() {
        var probe = SessionProbe()
        _ = probe.open()
        var answers = 0
        for _ in 0..<10_000 { answers += probe.receive(.ping(FrameSamples.pulse)).frames.count }
        #expect(answers == 20)
        _ = probe.wait(1_000)
        #expect(probe.receive(.ping(FrameSamples.pulse)).frames.count == 1)
    }

    @Test func `a ping is answered with its nonce and what we know`() {
        var probe = SessionProbe()
        probe.store.commit(now: 1, [])
        _ = probe.open()
        guard case .pong(let pulse)? = probe.receive(.ping(FrameSamples.pulse)).frames.first else {
            Issue.record("no pong")
            return
        }
        #expect(pulse.nonce == FrameSamples.pulse.nonce)
        #expect(pulse.vector == probe.store.vector)
    }

    @Test func `an answer of the store that was overtaken by a later one takes nothing back`() {
        var probe = SessionProbe()
        let earlier = probe.store.summary
        probe.store.commit(now: 1, [])
        _ = probe.open()
        _ = probe.handle(.committed(earlier))
        guard case .pong(let pulse)? = probe.receive(.ping(FrameSamples.pulse)).frames.first else {
            Issue.record("no pong")
            return
        }
        #expect(pulse.vector == probe.store.vector)
    }

    @Test func `an answer of the store that was overtaken takes nothing back of what is ahead of its vector`() {
        var probe = SessionProbe()
        probe.store.commit(now: 1, [])
        let ahead = VersionVector([Dot(replica: ReplicaID(high: 3, low: 0), sequence: 1)])
        _ = probe.handle(.connected(probe.store.summary, durable: VersionVector(), ahead: ahead, wallClockMilliseconds: 0))
        _ = probe.handle(.committed(probe.store.summary))
        // The peer knows all that the vector says, and not what is ahead of it.
        #expect(probe.receive(.hello(probe.hello(probe.store.summary.heads))).reads.count == 1)
    }

    @Test func `what a ping says is known is not sent, what it shows to be missing for a while is`() {
        var probe = SessionProbe()
        _ = probe.open()
        probe.store.commit(now: 1, [])
        let relay = Relay(vector: probe.store.vector, replicas: [SessionProbe.peer])
        _ = probe.handle(.relayed(relay))
        let held = probe.handle(.committed(probe.store.summary))
        #expect(held.reads.isEmpty)
        func ping(_ vector: VersionVector) -> Frame {
            .ping(Pulse(nonce: 1, wallClockMilliseconds: probe.wallClockMilliseconds, vector: vector, durable: VersionVector()))
        }
        var lacking = probe
        #expect(lacking.receive(ping(VersionVector())).reads.isEmpty, "it was under way when others promised to bring the commit")
        _ = lacking.wait(SessionTiming().relayMilliseconds)
        #expect(lacking.receive(ping(VersionVector())).reads == [SliceRequest(since: VersionVector())])
        let effects = probe.receive(ping(probe.store.vector))
        #expect(effects.reads.isEmpty)
        #expect(
            effects.contains { if case .peer(let status) = $0 { status.isInSync && status.vector == probe.store.vector } else { false } })
    }

    @Test func `a frame that takes minutes to arrive is waited for, as long as more of it comes`() {
        var probe = SessionProbe()
        _ = probe.open()
        for _ in 0..<20 { #expect(probe.wait(15_000, isHearing: true).closeReason == nil) }
        #expect(probe.wait(44_999).closeReason == nil)
        #expect(probe.wait(1).closeReason?.code == .timeout)
    }

    @Test func `who sends only bytes is not waited for longer than for any hello`() {
        var probe = SessionProbe()
        _ = probe.connect()
        #expect(probe.wait(5_000, isHearing: true).closeReason?.code == .timeout)
    }

    @Test func `45 seconds of the peer's silence end the session`() {
        var probe = SessionProbe()
        _ = probe.open()
        for _ in 0..<3 { #expect(probe.wait(14_999).closeReason == nil) }
        #expect(probe.wait(2).closeReason == nil)
        #expect(probe.wait(1).closeReason?.code == .timeout)
    }

    @Test func `any frame counts as a sign of life, also one to be ignored`() {
        var probe = SessionProbe()
        _ = probe.open()
        _ = probe.wait(44_999)
        _ = probe.handle(.received([0x80]))
        #expect(probe.wait(44_999).closeReason == nil)
    }

    @Test func `a clock that goes back or leaps changes nothing but when things are due`() {
        var probe = SessionProbe()
        _ = probe.open()
        for time in [Int64.min, 0, .max, .min] {
            _ = probe.session.handle(.tick(wallClockMilliseconds: time), now: Instant(milliseconds: time))
        }
        #expect(probe.session.nextDeadline == nil)
    }
}
