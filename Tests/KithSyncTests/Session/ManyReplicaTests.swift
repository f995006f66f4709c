import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: stores that know thousands of replicas say so each time; or do not, and take each other for what they are not.
@Suite struct ManyReplicaTests {
    private static func replica(_ number: Int) -> ReplicaID {
        ReplicaID(high: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number))
    }

    /// The heads of `count` replicas, the later ones newer.
    private static func heads(_ count: Int) -> [Head] {
        (0..<count).map { number in
            Head(
                dot: Dot(replica: replica(number), sequence: UInt64(1 + number % 300)),
                timestamp: HybridTimestamp(milliseconds: 1_700_000_000_000 + Int64(number)))
        }.sorted { $0.dot < $1.dot }
    }

    private static func moved(_ head: Head, by count: UInt64 = 1, at time: Int64 = 1_800_000_000_000) -> Head {
        Head(
            dot: Dot(replica: head.dot.replica, sequence: head.dot.sequence + count),
            timestamp: HybridTimestamp(milliseconds: time + Int64(count)))
    }

    /// Two sessions whose stores know `left` and `right`, and what they send each other until nobody has more to say.
    private final class Meeting {
        var sessions: [PeerSession]
        private(set) var frames: [[[UInt8]]] = [[], []]
        private(set) var closings: [CloseReason] = []
        private(set) var statuses: [PeerStatus?] = [nil, nil]
        private var inputs: [(side: Int, input: PeerSession.Input)] = []

        init(_ left: [Head], _ right: [Head], spelledMax: Int = 8, resumption: Resumption? = nil, durable: VersionVector? = nil) {
            sessions = (0...1).map { _ in
                var configuration = PeerSession.Configuration(app: "test", group: [], software: "test")
                configuration.headsSpelledMax = spelledMax
                configuration.capabilities = []
                return PeerSession(configuration)
            }
            for (side, heads) in [left, right].enumerated() {
                let summary = StoreSummary(
                    replica: ReplicaID(high: UInt64(side), low: 1), heads: heads, clock: .zero, resumption: side == 0 ? resumption : nil)
                let known = side == 0 ? durable ?? summary.vector : summary.vector
                inputs.append((side, .connected(summary, durable: known, wallClockMilliseconds: 0)))
            }
            settle()
        }

        func handle(_ input: PeerSession.Input, _ side: Int) {
            inputs.append((side, input))
            settle()
        }

        private func settle() {
            while !inputs.isEmpty {
                let (side, input) = inputs.removeFirst()
                for effect in sessions[side].handle(input, now: Instant(milliseconds: 0)) {
                    switch effect {
                    case .send(let bytes):
                        frames[side].append(bytes)
                        inputs.append((1 - side, .received(bytes)))
                    case .peer(let status): statuses[side] = status
                    case .close(let reason): closings.append(reason)
                    default: break
                    }
                }
            }
        }

        func types(_ side: Int) -> [UInt8] { frames[side].compactMap(\.frameType) }
        func bytes(_ side: Int) -> Int { frames[side].reduce(0) { $0 + $1.count } }
    }

    private func expect(_ left: [Head], _ right: [Head], _ comment: Comment, spelledMax: Int = 8) -> Meeting {
        let meeting = Meeting(left, right, spelledMax: spelledMax)
        #expect(meeting.closings.isEmpty, comment)
        #expect(meeting.statuses[0]?.vector == VersionVector(right.map(\.dot)), comment)
        #expect(meeting.statuses[1]?.vector == VersionVector(left.map(\.dot)), comment)
        #expect(meeting.sessions[0].bases == meeting.sessions[1].bases?.turned, comment)
        return meeting
    }

    @Test func `stores that know the same say no more than a hash`() {
        let heads = Self.heads(10_000)
        let meeting = expect(heads, heads, "equal")
        for side in 0...1 {
            #expect(meeting.types(side) == [1])
            #expect(meeting.bytes(side) < 150)
        }
    }

    @Test func `stores that differ in a few heads name those, wherever they are`() {
        let heads = Self.heads(1_000)
        for index in [0, 1, 499, 998, 999] {
            var newer = heads
            newer[index] = Self.moved(heads[index])
            for (left, right) in [(heads, newer), (newer, heads)] {
                let meeting = expect(left, right, "\(index)")
                for side in 0...1 {
                    #expect(meeting.types(side).prefix(3) == [1, 10, 10])
                    #expect(meeting.frames[side].prefix(3).reduce(0) { $0 + $1.count } < 600)
                }
            }
        }
        // One has met a replica of which the other has not heard; both have moved.
        var (left, right) = (heads, heads)
        left.append(Self.moved(Head(dot: Dot(replica: Self.replica(5_000), sequence: 7), timestamp: .zero)))
        left.sort { $0.dot < $1.dot }
        right[10] = Self.moved(right[10], by: 3)
        right[11] = Self.moved(right[11], by: 2)
        #expect(expect(left, right, "both").types(0).prefix(3) == [1, 10, 10])
    }

    @Test func `stores that differ in more than that name all`() {
        let heads = Self.heads(1_000)
        var newer = heads
        for index in 0..<20 { newer[index * 7] = Self.moved(heads[index * 7], by: UInt64(index + 1)) }
        #expect(expect(heads, newer, "many").types(0).prefix(4) == [1, 10, 10, 10])
        // A head with another time is another commit.
        newer = heads
        newer[5] = Head(dot: heads[5].dot, timestamp: .zero)
        #expect(expect(heads, newer, "time").types(1).prefix(4) == [1, 10, 10, 10])
    }

    @Test func `a store that knows little spells it out, and is told the rest as a difference`() {
        let heads = Self.heads(1_000)
        let few = Array(heads.prefix(5))
        let meeting = expect(few, heads, "few")
        #expect(meeting.types(0).first == 1)
        #expect(meeting.types(1).prefix(2) == [1, 10])
        _ = expect([], heads, "none")
        _ = expect(few, [], "small")
        #expect(expect(few, few, "few").types(0) == [1])
    }

    @Test(arguments: 0..<UInt64(Soak.count(300, soaking: 20_000))) func `whatever two stores know, each learns exactly what the other does`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        let all = Self.heads(.random(in: 0...60, using: &random))
        let common = all.filter { _ in Int.random(in: 0..<20, using: &random) > 0 }
        let sides = (0...1).map { _ in
            let changes = Int.random(in: 0...3, using: &random) * Int.random(in: 0...4, using: &random)
            var heads = common
            for _ in 0..<changes where !heads.isEmpty {
                let index = heads.indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<4, using: &random) {
                case 0: heads.remove(at: index)
                case 1:
                    heads[index] = Self.moved(
                        heads[index], by: .random(in: 1...3, using: &random), at: .random(in: 0...1 << 41, using: &random))
                default: heads[index] = Self.moved(heads[index], by: .random(in: 1...3, using: &random))
                }
            }
            return heads
        }
        _ = expect(sides[0], sides[1], "\(seed)", spelledMax: [0, 8].randomElement(using: &random) ?? 0)
    }

    @Test func `a catch-up that was broken off, and what is not durable, are said with the heads`() {
        let heads = Self.heads(100)
        let vector = VersionVector(heads.map(\.dot))
        let resumption = Resumption(
            position: FrameSamples.position, vector: VersionVector([Dot(replica: Self.replica(9_999), sequence: 4)]))
        let meeting = Meeting(heads, heads, resumption: resumption, durable: VersionVector(vector.entries.dropLast()))
        #expect(meeting.closings.isEmpty)
        #expect(meeting.types(0).prefix(3) == [1, 10, 10])
        #expect(meeting.statuses[1]?.vector == vector)
        #expect(meeting.statuses[1]?.durable == VersionVector(vector.entries.dropLast()))
        #expect(meeting.statuses[0]?.durable == vector)
    }

    @Test func `a file that is carried spells out all heads, and whoever reads it takes them`() throws {
        let heads = Self.heads(20_000)
        let configuration = PeerSession.Configuration(app: "test", group: [], software: "test")
        var writer = try CarryWriter(configuration, StoreSummary(replica: ReplicaID(high: 1, low: 1), heads: heads, clock: .zero))
        let frames = try writer.greeting(durable: VersionVector(), wallClockMilliseconds: 0)
        #expect(frames[0].count > WireLimits.helloBytesMax)
        let few = StoreSummary(replica: ReplicaID(high: 1, low: 2), heads: Array(heads.prefix(100)), clock: .zero)
        var reader = try CarryReader(configuration, few, wallClockMilliseconds: 0) { _ in nil }
        var known: VersionVector?
        for frame in frames {
            try reader.read(frame) { effect in
                if case .peer(let status) = effect { known = status.vector }
                return nil
            }
        }
        #expect(reader.reason == nil && known == VersionVector(heads.map(\.dot)))
    }

    // MARK: Lies

    /// A session of a store that knows `heads`, to which a peer has said a hash.
    private func probe(_ heads: [Head], _ hash: HeadsHash) -> (probe: SessionProbe, effects: [PeerSession.Effect]) {
        var probe = SessionProbe()
        let summary = StoreSummary(replica: SessionProbe.own, heads: heads, clock: .zero)
        _ = probe.handle(.connected(summary, durable: summary.vector, wallClockMilliseconds: 0))
        var hello = probe.hello()
        hello.headsHash = hash
        let effects = probe.receive(.hello(hello))
        return (probe, effects)
    }

    @Test func `who says the hash of what the other knows is sent nothing, and another hash names newest heads`() {
        let heads = Self.heads(100)
        var (equal, effects) = probe(heads, HeadsHash(of: heads))
        #expect(equal.session.peer == SessionProbe.peer && effects.reads.isEmpty)
        var other: SessionProbe
        (other, effects) = probe(heads, HeadsHash(of: heads.dropLast()))
        #expect(other.session.peer == nil)
        guard case .heads(.newest(let knowledge))? = effects.frames.first else { return #expect(Bool(false), "\(effects)") }
        #expect(Set(knowledge.heads) == Set(heads.sorted { $0.timestamp > $1.timestamp }.prefix(8)))
        // Nothing else may come before it has said what it knows.
        for frame in [
            Frame.acknowledge(Acknowledgement(slices: 0, durable: VersionVector())), .heads(.rest([], HeadsHash(of: []))),
            .heads(.all(Knowledge(heads: []))), .hello(other.hello()),
        ] {
            var fresh = other
            #expect(fresh.receive(frame).goodbye == .protocolError, "\(frame)")
        }
        #expect(equal.receive(.heads(.newest(Knowledge(heads: [])))).goodbye == .protocolError)
        // It names heads that were not asked for.
        _ = other.receive(.heads(.newest(Knowledge(heads: Array(heads.prefix(1))))))
        #expect(other.receive(.heads(.rest([heads[0]], HeadsHash(of: [])))).goodbye == .protocolError)
    }

    @Test func `a false hash of the rest leads to all heads, and no further`() {
        let heads = Self.heads(100)
        var (probe, _) = probe(heads, HeadsHash(of: []))
        var effects = probe.receive(.heads(.newest(Knowledge(heads: []))))
        guard case .heads(.rest)? = effects.frames.first else { return #expect(Bool(false), "\(effects)") }
        effects = probe.receive(.heads(.rest([], HeadsHash(of: heads))))
        #expect(effects.frames == [.heads(.all(Knowledge(heads: heads)))])
        #expect(probe.session.peer == nil)
        var silent = probe
        effects = probe.receive(.heads(.all(Knowledge(heads: Array(heads.prefix(3))))))
        #expect(probe.session.peer == SessionProbe.peer)
        #expect(effects.reads.map(\.since) == [VersionVector(heads.prefix(3).map(\.dot))])
        #expect(silent.wait(45_000).closeReason?.code == .timeout)
    }

    @Test func `differences from heads that are not proven are a lie, wherever they stand`() throws {
        let (own, peer, third) = (ProofAuthority(1), ProofAuthority(2), ProofAuthority(3))
        let claimed = (0..<9).map { number in
            Head(dot: Dot(replica: third.replica(number), sequence: 5), timestamp: .zero)
        }.sorted { $0.dot < $1.dot }
        var proofs = (0..<9).map {
            third.proof(of: Head(dot: Dot(replica: third.replica($0), sequence: 5), timestamp: .zero), third.origin($0))
        }
        func meet() -> SessionProbe {
            var probe = SessionProbe {
                $0.proofs = TestProofs(own, ProofRecords(own, origins: [own.replica(): own.origin()]))
                $0.peerDevice = peer.key
            }
            probe.store = ModelStore(replica: own.replica())
            var hello = probe.hello(claimed)
            hello.replica = peer.replica()
            #expect(probe.open(with: hello).closeReason == nil)
            return probe
        }
        let bases = WireBases(sender: claimed, receiver: [])
        let vector = VersionVector(claimed.map(\.dot))
        let slice = Slice(
            since: VersionVector(), vector: vector, target: claimed, clock: .zero, isFirst: true, isLast: true, position: nil,
            rowsRemaining: 0, tables: [], rows: [])
        let frame = FrameCodec.encode(.slice(slice, alsoSentTo: []), bases)
        #expect(frame.count < 40)
        func answer(proving proofs: [HeadProof]) -> [PeerSession.Effect] {
            var probe = meet()
            let offers = proofs.map { ProofOffer($0, isToldBefore: false) }.sorted { $0.head.dot < $1.head.dot }
            #expect(probe.receive(.proofs(offers)).closeReason == nil)
            return probe.handle(.received(frame))
        }
        #expect(answer(proving: proofs).applies == [slice])
        proofs.removeLast()
        #expect(answer(proving: proofs).goodbye == .protocolError)
    }

    // MARK: Differences

    @Test func `a vector said as a difference is the same vector, and damaged ones are refused or read as others`() throws {
        for seed: UInt64 in 0..<UInt64(Soak.count(300, soaking: 20_000)) {
            var random = SplitMix64(seed: seed)
            func some() -> [Head] {
                Self.heads(20).filter { _ in Bool.random(using: &random) }.map { head in
                    Bool.random(using: &random) ? head : Self.moved(head, by: .random(in: 1...2, using: &random))
                }
            }
            let bases = WireBases(sender: some(), receiver: some())
            let (since, known) = (VersionVector(some().map(\.dot)), some())
            let vector = VersionVector(known.map(\.dot))
            let pulse = Pulse(nonce: 1, wallClockMilliseconds: 2, vector: vector, durable: since)
            let frames: [Frame] = [
                .ping(pulse), .pong(pulse), .acknowledge(Acknowledgement(slices: 1, durable: vector)),
                .want(Want(slices: 1, since: since, resumption: Resumption(position: FrameSamples.position, vector: vector))),
                .heads(
                    .all(Knowledge(heads: known, durable: since, resumption: Resumption(position: FrameSamples.position, vector: since)))),
                .digest(StoreDigest(vector: vector, rows: DigestSum(count: 1, value: 1)), wantsAnswer: true),
                .digestQuestion(vector, DigestRange(), wantsRows: true), .digestParts(vector, DigestRange(), []),
                .slice(
                    Slice(
                        since: VersionVector(), vector: vector, target: known, clock: .zero, isFirst: true, isLast: true, position: nil,
                        rowsRemaining: 0, tables: [], rows: [], listing: Listing(after: nil, floor: vector)), alsoSentTo: []),
            ]
            for frame in frames {
                let bytes = FrameCodec.encode(frame, bases)
                #expect(try FrameCodec.decode(bytes, bases) == frame)
                if bytes.first == 9 { #expect(throws: WireError.self) { try FrameCodec.decode(bytes) } }
                // Both sides may also spell everything out.
                #expect(try FrameCodec.decode(FrameCodec.encode(frame), bases) == frame)
                var damaged = bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) { damaged.damage(&random) }
                if let other = try? FrameCodec.decode(damaged, bases) {
                    #expect(try FrameCodec.decode(FrameCodec.encode(other, bases), bases) == other)
                }
            }
        }
    }

    @Test func `differences are no longer than the whole, and none makes a vector of more than replicasMax`() throws {
        let limit = WireLimits.replicasMax
        let full = (0..<UInt64(limit)).map { Head(dot: Dot(replica: ReplicaID(high: 1, low: $0), sequence: 1), timestamp: .zero) }
        let bases = WireBases(sender: full, receiver: [])
        let more = Dot(replica: ReplicaID(high: 2, low: 0), sequence: 1)
        func frame(_ dots: [Dot]) -> [UInt8] {
            FrameCodec.encode(.acknowledge(Acknowledgement(slices: 0, durable: VersionVector(dots))), bases)
        }
        #expect(try FrameCodec.decode(frame(full.map(\.dot)), bases) != nil)
        #expect(frame(full.map(\.dot)).count < 10)
        #expect(frame([more]).count < 30)
        var writer = ByteWriter()
        for byte: UInt8 in [9, 3, 1] { writer.byte(byte) }
        writer.identifier(more.replica)
        // No slices; one difference from the sender's heads.
        for byte: UInt8 in [0, 1 << 2 | 1, 0, 1] { writer.byte(byte) }
        #expect(throws: WireError.limitExceeded("replicasMax")) { try FrameCodec.decode(writer.bytes, bases) }
    }

    @Test func `at most newestHeadsMax heads are the newest, and a hash stands alone`() throws {
        let limit = WireLimits.newestHeadsMax
        for message in [{ HeadsMessage.newest(Knowledge(heads: $0)) }, { HeadsMessage.rest($0, HeadsHash(of: [])) }] {
            let fits = Frame.heads(message(Self.heads(limit)))
            #expect(try FrameCodec.decode(FrameCodec.encode(fits)) == fits)
            let past = FrameCodec.encode(.heads(message(Self.heads(limit + 1))))
            #expect(throws: WireError.limitExceeded("newestHeadsMax")) { try FrameCodec.decode(past) }
        }
        var hello = FrameSamples.hello
        hello.headsHash = HeadsHash(of: [])
        #expect(throws: WireError.malformed("heads beside their hash")) { try FrameCodec.decode(FrameCodec.encode(.hello(hello))) }
    }

    @Test func `the hash is SHA-256 of what the protocol says`() {
        func hexadecimal(_ hash: HeadsHash) -> String {
            hash.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        // By another program, of 13, 45 and 77 bytes: less than a block, one that needs another, and more than one.
        #expect(hexadecimal(HeadsHash(of: [])) == "2db7d11734f306278b46211bf7f43b505f218db8185d9a041c2448a4466aa97d")
        #expect(
            hexadecimal(HeadsHash(of: FrameSamples.heads.prefix(1))) == "8cc43bd22b8d8049d0f0eb12c538f2f15faa1c5260a863893de067c7fa3a692c")
        #expect(hexadecimal(HeadsHash(of: FrameSamples.heads)) == "b5d3ee9f22139ab57aaca6c9a12d22b524953ac375287d68be06e866da57fd91")
    }
}
