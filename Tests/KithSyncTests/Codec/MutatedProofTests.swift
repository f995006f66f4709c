import KithCausality
import TestSupport
import Testing

@testable import KithSync

/// Risk: a damaged frame of proofs crashes the node, or makes it believe commits that nobody has signed.
@Suite struct MutatedProofTests {
    private static let batchCount = 8
    private static let batchSize = Soak.count(4_000, soaking: 1_000_000) / batchCount

    private let own = ProofAuthority(1)
    private let peer = ProofAuthority(2)
    private let third = ProofAuthority(3)

    /// The highest commit that each device has signed.
    private var signed: [ReplicaID: UInt64] {
        var signed: [ReplicaID: UInt64] = [:]
        for (authority, highest) in [(peer, UInt64(300)), (third, 7)] {
            for number in 0..<UInt64(3) { signed[authority.replica(number)] = highest }
        }
        return signed
    }

    private func frame(_ random: inout SplitMix64) -> [UInt8] {
        var proofs: [HeadProof] = []
        for (authority, highest) in [(peer, UInt64(300)), (third, 7)] {
            for number in 0..<UInt64(3) where Bool.random(using: &random) {
                let (sequence, time) = (UInt64.random(in: 1...highest, using: &random), UInt64.random(in: 1...9, using: &random))
                proofs.append(authority.proof(sequence, time: time, of: number))
            }
        }
        let offers = proofs.sorted { $0.head.dot < $1.head.dot }
            .map { ProofOffer($0, isToldBefore: Int.random(in: 0..<4, using: &random) == 0) }
        return FrameCodec.encode(.proofs(offers))
    }

    @Test(arguments: 0..<batchCount) func `a mutated frame of proofs ends its session or says what was signed`(batch: Int) {
        var random = SplitMix64(seed: Soak.firstSeed &+ UInt64(batch))
        var (session, book) = open()
        var (refused, believed) = (0, 0)
        for round in 0..<Self.batchSize {
            var bytes = frame(&random)
            for _ in 0..<Int.random(in: 1...4, using: &random) { bytes.damage(&random) }
            if let frame = try? FrameCodec.decode(bytes), case .proofs = frame {
                #expect((try? FrameCodec.decode(FrameCodec.encode(frame))) == frame)
            }
            let effects = session.handle(.received(bytes))
            for (replica, highest) in signed {
                let known = book.proven(of: VersionVector([Dot(replica: replica, sequence: .max >> 1)]))[replica]
                if known > highest { Issue.record("\(known) of \(replica) is believed after \(bytes)") }
                believed += known > 0 ? 1 : 0
            }
            if effects.closeReason != nil { refused += 1 }
            if effects.closeReason != nil || round % 64 == 63 { (session, book) = open() }
        }
        #expect(refused > Self.batchSize / 4 && believed > 0)
    }

    private func open() -> (SessionProbe, TestProofs) {
        let book = TestProofs(own, ProofRecords(own, origins: [own.replica(): own.origin()]))
        var probe = SessionProbe { configuration in
            configuration.proofs = book
            configuration.peerDevice = peer.key
        }
        probe.store = ModelStore(replica: own.replica())
        var hello = probe.hello()
        hello.replica = peer.replica()
        _ = probe.open(with: hello)
        return (probe, book)
    }
}
