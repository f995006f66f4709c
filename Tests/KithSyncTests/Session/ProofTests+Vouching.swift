import KithCausality
import KithSync
import TestSupport
import Testing

/// Commits of a device that is no member any more, which others vouch for.
extension ProofTests {
    /// The peer's word for a commit of the third device.
    private func voucher(_ head: Head, _ origin: HeadProof.Origin) -> ProofOffer {
        ProofOffer(head: head, origin: origin, voucher: peer.key, signature: peer.proof(of: head, origin).signature)
    }

    /// A book of this device, as which the third one has ceased to be a member so often.
    private func book(thirdEnded rounds: Int) -> TestProofs {
        var own = self.own
        own.ended = [third.key: rounds]
        return TestProofs(own)
    }

    @Test func `a member vouches for what a device wrote that is none any more, and for nothing that it writes once it has come back`() {
        let (before, after) = (third.origin(0), third.origin(1))
        func offer(_ origin: HeadProof.Origin) -> ProofOffer {
            voucher(Head(dot: Dot(replica: third.replica(of: origin) ?? .nobody, sequence: 7), timestamp: .zero), origin)
        }
        #expect((before.round, after.round) == (0, 1))
        #expect(throws: CloseReason.self) { try book(thirdEnded: 0).take([offer(before)]) }
        #expect(throws: Never.self) { try book(thirdEnded: 1).take([offer(before)]) }
        #expect(throws: CloseReason.self) { try book(thirdEnded: 1).take([offer(after)]) }
    }

    @Test func `only a member vouches, with its own signature, and for no more replicas than it may`() throws {
        let origin = third.origin(0)
        let head = head(third, 7)
        let device = own.key
        #expect(throws: CloseReason.self) {
            let forged = ProofOffer(head: head, origin: origin, voucher: device, signature: peer.proof(of: head, origin).signature)
            try book(thirdEnded: 1).take([forged])
        }
        var own = self.own
        (own.ended, own.strangers) = ([third.key: 1], [peer.key])
        #expect(throws: CloseReason.self) { try TestProofs(own).take([voucher(head, origin)]) }
        let limit = UInt64(ProofRecords.replicasOfStrangersMax)
        let full = book(thirdEnded: 300)
        func offer(_ number: UInt64) -> ProofOffer {
            let origin = third.origin(number << 8)
            return voucher(Head(dot: Dot(replica: third.replica(of: origin) ?? .nobody, sequence: 7), timestamp: .zero), origin)
        }
        try full.take((0..<limit).map(offer))
        #expect(throws: CloseReason.self) { try full.take([offer(limit)]) }
    }

    @Test func `a store vouches for what a device left unsigned once that is no member, and passes it on`() throws {
        var own = self.own
        let origins = [own.replica(): own.origin(), third.replica(): third.origin()]
        let held = VersionVector([dot(third, 3)])
        let waiting = TestProofs(own, ProofRecords(own, origins: origins, heads: [head(third, 3)]))
        #expect(!waiting.isComplete)
        #expect(waiting.silencing == [third.key])
        own.ended = [third.key: 1]
        waiting.withRecords { $0.bind(to: own, origins: origins, heads: [head(third, 3)]) }
        #expect(waiting.isComplete)
        #expect(waiting.sayable(held) == held)
        let proof = try waiting.proof(of: dot(third, 3))
        #expect(proof.voucher == own.key)
        var other = peer
        other.ended = own.ended
        try TestProofs(other).take([offer(proof)])
    }

    // MARK: Why others vouch

    /// A book of this device, and a session of a store that holds three commits of each of two devices, signed by nobody. The book takes those
    /// for out that are given. The peer has said hello.
    private func open(out: [ProofAuthority], _ capabilities: Capabilities = .household) -> (TestProofs, SessionProbe, [PeerSession.Effect])
    {
        let heads = [head(third, 3), head(fourth, 3)].sorted { $0.dot < $1.dot }
        let book = TestProofs(own, ProofRecords(own, origins: origins, heads: heads))
        hear(out, book)
        var probe = SessionProbe { configuration in
            configuration.proofs = book
            configuration.capabilities.insert(.household)
        }
        probe.store = ModelStore(replica: own.replica())
        _ = probe.store.apply(
            Slice(
                since: VersionVector(), vector: VersionVector(heads.map(\.dot)), target: heads, clock: .zero, isFirst: true, isLast: true,
                position: nil, rowsRemaining: 0, tables: [], rows: []))
        var hello = probe.hello()
        (hello.replica, hello.capabilities) = (peer.replica(), capabilities)
        let effects = probe.open(with: hello)
        return (book, probe, effects)
    }

    private var fourth: ProofAuthority { ProofAuthority(4) }

    private var origins: [ReplicaID: HeadProof.Origin] {
        Dictionary(uniqueKeysWithValues: [own, third, fourth].map { ($0.replica(), $0.origin()) })
    }

    /// This device hears that these are out. Each is one more record.
    private func hear(_ out: [ProofAuthority], _ book: TestProofs) {
        var own = self.own
        own.ended = Dictionary(uniqueKeysWithValues: out.map { ($0.key, 1) })
        own.householdRecords = ([UInt8(out.count)], [[3, 0], [3, UInt8(out.count)]])
        book.withRecords { $0.bind(to: own, origins: origins, heads: []) }
    }

    /// The frames about the household and those with proofs, by whose commits they prove and whether another vouches.
    private func told(_ effects: [PeerSession.Effect]) -> [String] {
        let names = [own.replica(): "own", third.replica(): "third", fourth.replica(): "fourth"]
        return effects.frames.flatMap { frame -> [String] in
            switch frame {
            case .household(let bytes): ["household \(bytes[1])"]
            case .proofs(let offers):
                offers.map { "\(names[$0.head.dot.replica] ?? "?")\($0.voucher == nil ? "" : ", vouched for")" }
            default: []
            }
        }
    }

    @Test func `a peer hears why another vouches for a device before it does, unless it cannot hear of the household`() {
        #expect(told(open(out: [third]).2) == ["household 0", "household 1", "third, vouched for"])
        #expect(told(open(out: [third], []).2) == ["third, vouched for"])
        #expect(told(open(out: []).2) == [])
    }

    @Test func `what the store comes to vouch for in an open session is told after the reason for it, and that once`() throws {
        var (book, probe, effects) = open(out: [])
        #expect(effects.reads.isEmpty)
        hear([third, fourth], book)
        effects = probe.handle(.committed(probe.store.summary))
        effects += probe.handle(.sliceRead(probe.store.read(try #require(effects.reads.first))))
        let both = Set(told(effects).suffix(2))
        #expect(told(effects).prefix(2) == ["household 0", "household 2"])
        #expect(both == ["third, vouched for", "fourth, vouched for"])
        guard case .slice? = effects.frames.last else { return #expect(Bool(false), "\(effects.frames)") }
    }

    @Test func `the reason is told again if more is known, and not if it is the same`() throws {
        var (book, probe, effects) = open(out: [third])
        #expect(effects.reads.isEmpty)
        hear([third, fourth], book)
        effects = probe.handle(.committed(probe.store.summary))
        effects += probe.handle(.sliceRead(probe.store.read(try #require(effects.reads.first))))
        #expect(told(effects) == ["household 0", "household 2", "fourth, vouched for"])
        // Another member vouches for another replica of the third device, and the store passes it on.
        let head = Head(dot: Dot(replica: third.replica(256), sequence: 1), timestamp: HybridTimestamp(rawValue: 1))
        try book.take([voucher(head, third.origin(256))])
        let heads = (probe.store.heads + [head]).sorted { $0.dot < $1.dot }
        _ = probe.store.apply(
            Slice(
                since: VersionVector(), vector: VersionVector(heads.map(\.dot)), target: heads, clock: .zero, isFirst: true, isLast: true,
                position: nil, rowsRemaining: 0, tables: [], rows: []))
        effects = probe.handle(.committed(probe.store.summary))
        effects += probe.receive(.acknowledge(Acknowledgement(slices: 1, durable: VersionVector())))
        effects += probe.handle(.sliceRead(probe.store.read(try #require(effects.reads.first))))
        #expect(told(effects) == ["?, vouched for"])
    }
}
