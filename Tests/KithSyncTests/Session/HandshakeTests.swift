import KithCausality
import KithSync
import Testing

/// Risk: two nodes that should not talk do, two that should do not, or nobody learns why.
@Suite struct HandshakeTests {
    @Test func `our hello goes out without waiting for the peer's`() {
        var probe = SessionProbe()
        guard case .hello(let hello)? = probe.connect().frames.first else {
            Issue.record("no hello")
            return
        }
        #expect(hello.replica == SessionProbe.own)
        #expect(hello.versions == .current)
    }

    @Test(
        arguments: [
            (ours: (1, 1), theirs: (1, 1), spoken: 1), (ours: (1, 1), theirs: (5, 1), spoken: 1), (ours: (5, 1), theirs: (3, 2), spoken: 3),
            (ours: (2, 1), theirs: (3, 2), spoken: 2), (ours: (2, 1), theirs: (4, 3), spoken: nil),
            (ours: (4, 3), theirs: (2, 1), spoken: nil),
        ] as [(ours: (UInt64, UInt64), theirs: (UInt64, UInt64), spoken: UInt64?)])
    func `the newest version that both understand is spoken, or the session ends with both ranges named`(
        ours: (UInt64, UInt64), theirs: (UInt64, UInt64), spoken: UInt64?
    ) {
        var probe = SessionProbe { $0.versions = ProtocolVersions(newest: ours.0, oldest: ours.1) }
        var hello = probe.hello()
        hello.versions = ProtocolVersions(newest: theirs.0, oldest: theirs.1)
        let effects = probe.open(with: hello)
        if let spoken {
            guard case .peer(let status)? = effects.last else {
                Issue.record("not open")
                return
            }
            #expect(status.protocolVersion == spoken)
        } else {
            #expect(effects.goodbye == .unsupportedVersion)
            #expect(
                effects.closeReason?.message.contains("versions 1 to 2") == true
                    || effects.closeReason?.message.contains(" 1 to 2;") == true)
            #expect(effects.closeReason?.code.retry == .afterChange)
        }
    }

    @Test func `a hello of the future is read as far as it is known`() {
        var probe = SessionProbe()
        var hello = probe.hello()
        hello.versions = ProtocolVersions(newest: 9, oldest: 1)
        hello.capabilities = Capabilities(rawValue: .max)
        _ = probe.connect()
        let effects = probe.handle(.received(FrameCodec.encode(.hello(hello)) + [0, 2, 3]))
        #expect(effects.closeReason == nil)
        #expect(probe.session.peer == SessionProbe.peer)
    }

    @Test func `another group is turned away`() {
        var probe = SessionProbe()
        var hello = probe.hello()
        hello.group = Array("home2".utf8)
        let effects = probe.open(with: hello)
        #expect(effects.goodbye == .wrongGroup)
        #expect(effects.closeReason?.isFromPeer == false)
    }

    @Test func `another app is turned away, with both named`() {
        var probe = SessionProbe()
        var hello = probe.hello()
        hello.app = "pantry"
        let effects = probe.open(with: hello)
        #expect(effects.goodbye == .otherApp)
        #expect(effects.closeReason?.message.contains("pantry") == true && effects.closeReason?.message.contains("test") == true)
        #expect(effects.closeReason?.code.retry == .afterChange)
        #expect(probe.session.refusedGroup == nil)
    }

    @Test func `no hello within its deadline ends the session`() {
        var probe = SessionProbe()
        _ = probe.connect()
        #expect(probe.session.nextDeadline == Instant(milliseconds: 6_000))
        #expect(probe.wait(4_999).isEmpty)
        #expect(probe.wait(1).closeReason?.code == .timeout)
    }

    @Test func `anything else before the hello is a protocol error`() {
        for (name, frame) in FrameSamples.golden where !name.hasPrefix("hello") && name != "goodbye" {
            var probe = SessionProbe()
            _ = probe.connect()
            #expect(probe.receive(frame).goodbye == .protocolError)
        }
    }

    @Test func `a second hello is a protocol error`() {
        var probe = SessionProbe()
        _ = probe.open()
        #expect(probe.receive(.hello(probe.hello())).goodbye == .protocolError)
    }

    @Test func `before the hello a frame has at most helloBytesMax bytes, afterwards frameBytesMax`() {
        // A frame of an unknown kind that may be ignored.
        func padding(_ count: Int) -> PeerSession.Input { .received([0x80] + [UInt8](repeating: 0, count: count - 1)) }
        var probe = SessionProbe()
        _ = probe.connect()
        #expect(probe.session.receivableFrameBytesMax == WireLimits.helloBytesMax)
        #expect(probe.handle(padding(WireLimits.helloBytesMax)).isEmpty)
        var opened = probe
        #expect(probe.handle(padding(WireLimits.helloBytesMax + 1)).goodbye == .protocolError)
        _ = opened.receive(.hello(opened.hello()))
        #expect(opened.session.receivableFrameBytesMax == WireLimits.frameBytesMax)
        #expect(opened.handle(padding(WireLimits.helloBytesMax + 1)).isEmpty)
        #expect(opened.handle(padding(WireLimits.frameBytesMax + 1)).goodbye == .protocolError)
    }

    @Test func `a store that knows too many replicas says so instead of hello`() {
        var probe = SessionProbe()
        let heads = (1...UInt64(WireLimits.replicasMax + 1)).map {
            Head(dot: Dot(replica: ReplicaID(high: 0, low: $0), sequence: 1), timestamp: .zero)
        }
        func connect(_ count: Int) -> PeerSession.Input {
            let summary = StoreSummary(replica: SessionProbe.own, heads: Array(heads.prefix(count)), clock: .zero)
            return .connected(summary, durable: VersionVector(), wallClockMilliseconds: 0)
        }
        var fits = probe
        #expect(fits.handle(connect(WireLimits.replicasMax - 1)).frames.count == 1)
        #expect(probe.handle(connect(WireLimits.replicasMax)).closeReason?.code == .tooLarge)
    }

    @Test func `a goodbye is taken as the reason`() {
        var probe = SessionProbe()
        _ = probe.connect()
        let effects = probe.receive(.goodbye(code: .shutdown, message: "good\u{1b}[31m night"))
        #expect(effects == [.close(CloseReason(.shutdown, "good?[31m night", isFromPeer: true))])
        #expect(probe.handle(.tick(wallClockMilliseconds: 0)).isEmpty)
    }

    @Test func `closing says goodbye with its reason, and is the end`() {
        var probe = SessionProbe()
        _ = probe.open()
        let reason = CloseReason(.shutdown, "The node stops.")
        let effects = probe.handle(.close(reason))
        #expect(effects.frames == [.goodbye(code: .shutdown, message: "The node stops.")])
        #expect(effects.last == .close(reason))
        #expect(probe.receive(.hello(probe.hello())).isEmpty)
        #expect(probe.session.nextDeadline == nil)
    }

    @Test(arguments: [(-120_000, nil), (120_000, nil), (120_001, 120_001), (-120_001, -120_001)] as [(Int64, Int64?)])
    func `a wall clock more than two minutes off is reported`(offset: Int64, reported: Int64?) {
        var probe = SessionProbe()
        var hello = probe.hello()
        hello.wallClockMilliseconds += offset
        guard case .peer(let status)? = probe.open(with: hello).last else {
            Issue.record("no status")
            return
        }
        #expect(status.clockOffsetMilliseconds == reported)
    }
}
