import KithCausality
import KithSync
import Testing

/// Risk: a store that is years old knows thousands of replicas, and each session holds copies of all of that.
@Suite struct HeldHeadsTests {
    private static let (own, third) = (ProofAuthority(1), ProofAuthority(3))
    private static let ownHead = Head(dot: Dot(replica: own.replica(), sequence: 1), timestamp: .zero)
    /// A head in a summary, and its dot in a vector.
    private static let bytesEach = MemoryLayout<Head>.stride + MemoryLayout<Dot>.stride

    private static func proofs(_ count: Int) -> [HeadProof] { (0..<UInt64(count)).map { third.proof(5, time: $0, of: $0) } }

    private static func sessions(_ book: TestProofs) -> [SessionProbe] {
        (0..<4).map { _ in
            SessionProbe {
                $0.proofs = book
                $0.peerDevice = ProofAuthority(2).key
            }
        }
    }

    @Test func `sessions with peers that know the same hold that once, whatever is committed meanwhile`() throws {
        let proofs = Self.proofs(4_000)
        let heads = (proofs.map(\.head) + [Self.ownHead]).sorted { $0.dot < $1.dot }
        let book = TestProofs(Self.own, ProofRecords(Self.own, origins: [Self.own.replica(): Self.own.origin()], proofs: proofs))
        let summary = StoreSummary(replica: Self.own.replica(), heads: heads, clock: .zero)
        var probes = Self.sessions(book)
        var router = SessionRouter()
        let ids = probes.map { _ in router.open() }
        // It asks for that at the first commit.
        _ = router.handle(.committed(.unknown))
        _ = router.handle(.read(summary))
        for index in probes.indices {
            // Each has read by itself what is durable.
            let durable = VersionVector(heads.map(\.dot))
            _ = probes[index].handle(.connected(summary, durable: durable, wallClockMilliseconds: 0))
            var hello = probes[index].hello()
            hello.headsHash = HeadsHash(of: heads)
            #expect(probes[index].receive(.hello(hello)).closeReason == nil)
            #expect(probes[index].session.peer != nil)
        }
        let once = heads.count * Self.bytesEach
        #expect(HeldHeads.bytes(in: probes.map(\.session)) <= once + 1_000)

        for sequence: UInt64 in 2...5 {
            let head = Head(dot: Dot(replica: Self.own.replica(), sequence: sequence), timestamp: .zero)
            book.note([head])
            let vector = summary.vector.joined(with: VersionVector([head.dot]))
            _ = router.handle(.committed(.own(head)))
            _ = router.handle(.durable(vector))
            for (index, id) in ids.enumerated() {
                for input in router.take(id) { _ = probes[index].handle(input) }
                // What the peer says comes in frames, in memory of its own.
                let pulse = Pulse(nonce: 1, wallClockMilliseconds: 0, vector: vector, durable: vector)
                #expect(probes[index].receive(.pong(pulse)).closeReason == nil)
            }
        }
        // What the store knows now, and what both knew when they met, of which the frames say the differences.
        #expect(HeldHeads.bytes(in: probes.map(\.session)) <= 2 * once + 20_000)
    }

    @Test func `proofs hold each public key once, and give back what they were made of`() {
        let devices = (3...5).map { ProofAuthority($0) }
        let proofs = (0..<300).map { number in
            let device = devices[number % devices.count]
            let proof = device.proof(5, of: UInt64(number))
            // As from a frame: in memory of its own.
            let origin = HeadProof.Origin(key: proof.origin.key.map(\.self), nonce: proof.origin.nonce)
            return HeadProof(head: proof.head, origin: origin, signature: proof.signature)
        }
        let records = ProofRecords(Self.own, proofs: proofs)
        // And this device's.
        #expect(HeldHeads.keyCount(in: records) == devices.count + 1)
        let book = TestProofs(Self.own, records)
        #expect(proofs.allSatisfy { (try? book.proof(of: $0.head.dot)) == $0 })
    }

    @Test func `a session holds twice what a peer claims that nothing proves, as heads and as a vector`() {
        let claimed = Self.proofs(8_000).map(\.head).sorted { $0.dot < $1.dot }
        let book = TestProofs(Self.own, ProofRecords(Self.own, origins: [Self.own.replica(): Self.own.origin()], heads: [Self.ownHead]))
        var probe = Self.sessions(book)[0]
        probe.store = ModelStore(replica: Self.own.replica())
        #expect(probe.open(with: probe.hello(claimed)).closeReason == nil)
        #expect(probe.session.peer != nil)
        #expect(HeldHeads.bytes(in: probe.session) <= claimed.count * Self.bytesEach + 1_000)
    }
}
