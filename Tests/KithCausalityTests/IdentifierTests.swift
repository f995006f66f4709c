import KithCausality
import TestSupport
import Testing

/// Risk: ids that differ count as one, or sort differently from their bytes.
@Suite struct IdentifierTests {
    @Test func `an id survives its bytes`() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<1_000 {
            let id = ReplicaID.random(using: &random)
            #expect(ReplicaID(bytes: id.bytes) == id)
        }
    }

    @Test(arguments: [0, 1, 15, 17, 32]) func `only 16 bytes make an id`(count: Int) {
        #expect(ReplicaID(bytes: [UInt8](repeating: 7, count: count)) == nil)
    }

    @Test func `ids sort as their bytes do`() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<10_000 {
            let a = ReplicaID(high: .random(in: 0...3, using: &random) << 62, low: .random(in: 0...3, using: &random) << 31)
            let b = ReplicaID(high: .random(in: 0...3, using: &random) << 62, low: .random(in: 0...3, using: &random) << 31)
            #expect((a < b) == a.bytes.lexicographicallyPrecedes(b.bytes))
        }
    }

    @Test func `an id reads as 32 hexadecimal digits, first byte first`() {
        #expect(ReplicaID(high: 0x0123_4567_89ab_cdef, low: 0x10).description == "0123456789abcdef0000000000000010")
    }

    @Test func `dots sort by replica, then by sequence`() {
        let (a, b) = (ReplicaID(high: 1, low: 0), ReplicaID(high: 2, low: 0))
        #expect(Dot(replica: a, sequence: 9) < Dot(replica: b, sequence: 1))
        #expect(Dot(replica: a, sequence: 9) < Dot(replica: a, sequence: 10))
    }
}
