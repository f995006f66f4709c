import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: a member names commits that nobody has made, or speaks for another device's replica, and is believed.
@Suite struct ProofTests {
    let own = ProofAuthority(1)
    let peer = ProofAuthority(2)
    let third = ProofAuthority(3)

    /// A session of a store that knows two commits of its own and three of a third device, and has said hello to a peer that knows `heads`.
    private func open(
        _ heads: [Head] = [], as replica: ReplicaID? = nil, device: [UInt8]? = nil
    ) -> (probe: SessionProbe, effects: [PeerSession.Effect]) {
        let own = self.own
        let book = TestProofs(own, ProofRecords(own, origins: [own.replica(): own.origin()], proofs: [third.proof(3)]))
        var probe = SessionProbe { configuration in
            configuration.proofs = book
            configuration.peerDevice = device ?? peer.key
        }
        probe.store = ModelStore(replica: own.replica())
        for time: UInt64 in 1...2 { probe.store.commit(now: time, []) }
        var hello = probe.hello(heads)
        hello.replica = replica ?? peer.replica()
        let effects = probe.open(with: hello)
        return (probe, effects)
    }

    func dot(_ authority: ProofAuthority, _ sequence: UInt64) -> Dot { Dot(replica: authority.replica(), sequence: sequence) }

    func head(_ authority: ProofAuthority, _ sequence: UInt64, time: UInt64 = 1) -> Head {
        Head(dot: dot(authority, sequence), timestamp: HybridTimestamp(rawValue: time))
    }

    func offer(_ proof: HeadProof) -> ProofOffer { ProofOffer(proof, isToldBefore: false) }

    /// A slice that brings the peer's first commit, with one thing changed.
    private func slice(_ change: (inout Slice) -> Void = { _ in }) -> Frame {
        let first = head(peer, 1)
        var state = RowState(
            cells: [RowState.Entry(column: 0, cell: .register(RegisterState(writes: [Write(stamp: stamp(peer, 1), value: .integer(1))])))],
            tombstones: [], context: VersionVector())
        state.context = VersionVector()
        var slice = Slice(
            since: VersionVector(), vector: VersionVector([first.dot]), target: [first], clock: .zero, isFirst: true, isLast: true,
            position: nil, rowsRemaining: 0,
            tables: [
                TableSchema(
                    name: Array("things".utf8),
                    columns: [
                        ColumnKey("r", .register), ColumnKey("s", .set), ColumnKey("c", .counter), ColumnKey("t", .text),
                    ])
            ],
            rows: [RowPart(table: 0, id: RowID(high: 0, low: 1), state: state, isCut: false)])
        slice.position = slice.rows[0].position(in: slice.tables)
        change(&slice)
        return .slice(slice, alsoSentTo: [])
    }

    private func stamp(_ authority: ProofAuthority, _ sequence: UInt64) -> Stamp {
        Stamp(dot: dot(authority, sequence), timestamp: HybridTimestamp(rawValue: 1))
    }

    // MARK: What is believed

    @Test func `a slice whose commits are proven is applied`() {
        var (probe, _) = open()
        #expect(probe.receive(.proofs([offer(peer.proof(1))])).closeReason == nil)
        #expect(probe.receive(slice()).applies.count == 1)
    }

    @Test func `a slice that names a commit of which nothing is proven is refused`() {
        var (probe, _) = open()
        let effects = probe.receive(slice())
        #expect(effects.applies.isEmpty)
        #expect(effects.goodbye == .protocolError)
    }

    /// Everything in a slice that can name a commit names one of the third device that it has not made.
    static let lies: [(name: String, change: @Sendable (inout Slice, Dot) -> Void)] = [
        ("since", { $0.since.insert($1) }),
        ("vector", { $0.vector.join(VersionVector([$1])) }),
        (
            "target",
            { slice, dot in
                slice.vector.join(VersionVector([dot]))
                slice.target = (slice.target + [Head(dot: dot, timestamp: .zero)]).sorted { $0.dot < $1.dot }
            }
        ),
        (
            "floor",
            { slice, dot in
                slice.vector.join(VersionVector([dot]))
                slice.listing = Listing(after: nil, floor: VersionVector([dot]))
            }
        ),
        ("context", { $0.rows[0].state.context = VersionVector([$1]) }),
        ("tombstone", { $0.rows[0].state.tombstones = [Tombstone(dot: $1, seen: VersionVector())] }),
        (
            "what a tombstone saw",
            { slice, dot in
                let own = slice.target[0].dot
                slice.rows[0].state.tombstones = [Tombstone(dot: own, seen: VersionVector([dot]))]
            }
        ),
        (
            "register",
            { slice, dot in
                let write = Write(stamp: Stamp(dot: dot, timestamp: .zero), value: .null)
                slice.rows[0].state.cells = [RowState.Entry(column: 0, cell: .register(RegisterState(writes: [write])))]
            }
        ),
        (
            "set",
            { slice, dot in
                let set = SetState(elements: [], touched: VersionVector([dot]))
                slice.rows[0].state.cells = [RowState.Entry(column: 1, cell: .set(set))]
            }
        ),
        (
            "counter",
            { slice, dot in
                let counter = CounterState(totals: [CounterState.Total(dot: dot, amount: 1)], isBorn: true)
                slice.rows[0].state.cells = [RowState.Entry(column: 2, cell: .counter(counter))]
            }
        ),
        (
            "text",
            { slice, dot in
                var text = TextState()
                text.touched = VersionVector([dot])
                slice.rows[0].state.cells = [RowState.Entry(column: 3, cell: .text(text))]
            }
        ),
    ]

    @Test(arguments: lies.map(\.name), [4, UInt64(Int64.max)]) func `a lie anywhere in a slice is refused before it is merged`(
        place: String, sequence: UInt64
    ) throws {
        let change = try #require(Self.lies.first { $0.name == place }?.change)
        var (probe, _) = open()
        _ = probe.receive(.proofs([offer(peer.proof(1))]))
        let effects = probe.receive(slice { change(&$0, dot(third, sequence)) })
        #expect(effects.applies.isEmpty)
        #expect(effects.goodbye == .protocolError, "\(effects)")
        // What was made is no lie.
        var (honest, _) = open()
        _ = honest.receive(.proofs([offer(peer.proof(1))]))
        let made = slice { slice in
            change(&slice, dot(third, 3))
            slice.rows[0].state.context.insert(dot(third, 3))
        }
        #expect(honest.receive(made).closeReason == nil)
    }

    @Test func `a hello, a ping and an acknowledgement are believed as far as they are proven`() throws {
        let lie = head(third, UInt64(Int64.max))
        var (probe, effects) = open([lie])
        #expect(effects.closeReason == nil)
        for case .peer(let status) in effects { #expect(status.vector == VersionVector([dot(third, 3)])) }
        let pulse = Pulse(nonce: 1, wallClockMilliseconds: 0, vector: VersionVector([lie.dot]), durable: VersionVector([lie.dot]))
        for frame in [Frame.ping(pulse), .pong(pulse), .acknowledge(Acknowledgement(slices: 0, durable: VersionVector([lie.dot])))] {
            effects = probe.receive(frame)
            #expect(effects.closeReason == nil)
            for case .peer(let status) in effects {
                #expect(status.vector == VersionVector([dot(third, 3)]))
                #expect([VersionVector(), VersionVector([dot(third, 3)])].contains(status.durable))
            }
        }
    }

    // MARK: Proofs that are none

    @Test func `a signature by another key, over something else or for another's replica is refused`() {
        let good = peer.proof(1)
        let other = third.proof(4)
        let forged = [
            // Signed by the peer, for the third device's replica.
            ProofOffer(head: other.head, origin: peer.origin(), signature: peer.proof(of: other.head, peer.origin()).signature),
            ProofOffer(head: other.head, origin: third.origin(), signature: peer.proof(of: other.head, third.origin()).signature),
            // The right origin, and a signature over something else.
            ProofOffer(head: head(third, 5), origin: third.origin(), signature: other.signature),
            ProofOffer(head: head(third, 4, time: 9), origin: third.origin(), signature: other.signature),
            ProofOffer(head: good.head, origin: good.origin, signature: Array(good.signature.reversed())),
            // A device's replica is nobody else's to vouch for.
            ProofOffer(
                head: other.head, origin: HeadProof.Origin(key: peer.key, nonce: nil),
                signature: peer.proof(of: other.head, peer.origin()).signature),
            // Nobody has said whose it is.
            ProofOffer(head: good.head, origin: nil, signature: good.signature),
        ]
        for offer in forged {
            var (probe, _) = open()
            #expect(probe.receive(.proofs([offer])).goodbye == .protocolError, "\(offer)")
        }
    }

    @Test func `a replica drawn at random is vouched for by the member that brings it`() {
        let replica = ReplicaID(high: 7, low: 7)
        let head = Head(dot: Dot(replica: replica, sequence: 5), timestamp: .zero)
        let origin = HeadProof.Origin(key: peer.key, nonce: nil)
        var (probe, _) = open()
        #expect(probe.receive(.proofs([offer(peer.proof(of: head, origin))])).closeReason == nil)
    }

    @Test func `a device brings as many replicas as it may have, and not one more`() {
        let limit = UInt64(ProofRecords.replicasOfDeviceMax)
        var (probe, _) = open()
        let offers = (0..<limit).map { offer(peer.proof(1, of: $0)) }.sorted { $0.head.dot < $1.head.dot }
        #expect(probe.receive(.proofs(offers)).closeReason == nil)
        #expect(probe.receive(.proofs([offer(third.proof(4))])).closeReason == nil, "Another device has room of its own.")
        #expect(probe.receive(.proofs([offer(peer.proof(2, of: 1))])).closeReason == nil, "What is known may go on.")
        #expect(probe.receive(.proofs([offer(peer.proof(1, of: limit))])).goodbye == .tooLarge)
    }

    @Test func `devices that never were members have little room together`() {
        var own = self.own
        let stranger = ProofAuthority(9)
        own.strangers = [stranger.key]
        let book = TestProofs(own)
        let limit = UInt64(ProofRecords.replicasOfStrangersMax)
        #expect(throws: Never.self) { try book.take((0..<limit).map { offer(stranger.proof(1, of: $0)) }) }
        #expect(throws: CloseReason.self) { try book.take([offer(stranger.proof(1, of: limit))]) }
    }

    // MARK: Claims about oneself

    private func isAsked(_ effects: [PeerSession.Effect]) -> Bool {
        effects.contains { if case .verifyIdentity = $0 { true } else { false } }
    }

    @Test func `a claim about the store's own replica is nothing without its own device's signature`() {
        let lie = head(own, 9)
        var (probe, effects) = open([lie])
        #expect(!isAsked(effects))
        let forged = ProofOffer(head: lie, origin: own.origin(), signature: peer.proof(of: lie, own.origin()).signature)
        effects = probe.receive(.proofs([forged]))
        #expect(!isAsked(effects))
        #expect(effects.goodbye == .protocolError)
    }

    @Test func `a claim about what the store has proven itself is nothing without its own device's signature either`() {
        let lie = head(own, 2, time: 77)
        let other = ProofOffer(head: lie, origin: own.origin(), signature: peer.proof(of: lie, own.origin()).signature)
        let unsigned = ProofOffer(head: lie, origin: nil, signature: own.proof(2).signature)
        let earlier = ProofOffer(head: head(own, 1, time: 77), origin: nil, signature: own.proof(2).signature)
        for forged in [other, unsigned, earlier] {
            // The store has signed its second commit for the peer.
            var (probe, _) = open()
            let effects = probe.receive(.proofs([forged]))
            #expect(!isAsked(effects), "\(forged)")
            #expect(effects.goodbye == .protocolError)
        }
        // Another commit under the same number, signed by its own device, shows that it is a copy.
        var (probe, _) = open()
        #expect(isAsked(probe.receive(.proofs([offer(own.proof(of: lie, own.origin()))]))))
    }

    @Test func `a signature of its own that the store does not know shows that it is a copy`() {
        var (probe, effects) = open([head(own, 9)])
        effects = probe.receive(.proofs([offer(own.proof(9))]))
        #expect(effects.contains(.verifyIdentity(head(own, 9))))
    }

    @Test func `whoever says that it is another device's replica is not believed, and the store stays who it is`() {
        for replica in [own.replica(), third.replica()] {
            let (_, effects) = open(as: replica)
            #expect(effects.goodbye == .protocolError)
            #expect(!effects.contains(.renewIdentity))
        }
        // Two stores of one device are copies of each other.
        let (_, effects) = open(as: own.replica(), device: own.key)
        #expect(effects.contains(.renewIdentity))
    }

    // MARK: What is proven

    @Test func `the store proves what its hello has named as far as the peer does not know it, and never twice`() throws {
        var (probe, effects) = open()
        var frames = effects.frames
        let request = try #require(effects.reads.first)
        guard case .proofs(let offers)? = frames.first else { return #expect(Bool(false), "\(frames)") }
        #expect(offers.map(\.head.dot) == [dot(own, 2)])
        #expect(throws: Never.self) { try TestProofs(peer).take(offers) }
        effects = probe.receive(.ping(Pulse(nonce: 1, wallClockMilliseconds: 0, vector: VersionVector(), durable: VersionVector())))
        frames = effects.frames
        #expect(!frames.contains { if case .proofs = $0 { true } else { false } })
        // The next commit is proven ahead of the frame that brings it, without what the peer was told. What tells no more than how far
        // the store is needs no proof.
        probe.store.commit(now: 3, [])
        effects = probe.handle(.committed(probe.store.summary))
        effects += probe.receive(.ping(Pulse(nonce: 2, wallClockMilliseconds: 0, vector: VersionVector(), durable: VersionVector())))
        #expect(!effects.frames.contains { if case .proofs = $0 { true } else { false } })
        frames = probe.handle(.sliceRead(probe.store.read(request))).frames
        guard case .proofs(let next)? = frames.first, case .slice? = frames.dropFirst().first else {
            return #expect(Bool(false), "\(frames)")
        }
        #expect(next.map(\.head.dot) == [dot(own, 3)])
        #expect(next.first?.origin == nil)
    }

    @Test func `a store that holds what it cannot prove says nothing of it, and sends no rows until it can`() {
        let book = TestProofs(
            own, ProofRecords(own, origins: [own.replica(): own.origin()], heads: [head(own, 2), head(third, 3)]))
        #expect(!book.isComplete)
        #expect(book.sayable(VersionVector([dot(own, 2), dot(third, 3)])) == VersionVector([dot(own, 2)]))
        var probe = SessionProbe { $0.proofs = book }
        probe.store = ModelStore(replica: own.replica())
        for time: UInt64 in 1...2 { probe.store.commit(now: time, []) }
        var hello = probe.hello()
        hello.replica = peer.replica()
        #expect(probe.open(with: hello).reads.isEmpty)
        #expect(!probe.receive(.proofs([offer(third.proof(3))])).reads.isEmpty)
        #expect(book.isComplete)
    }
}
