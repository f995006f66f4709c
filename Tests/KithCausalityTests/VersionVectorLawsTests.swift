import KithCausality
import TestSupport
import Testing

/// Risk: a law of vectors is broken, and replicas that exchanged the same end up knowing different things.
@Suite struct VersionVectorLawsTests {
    private let replicas = (1...6).map { ReplicaID(high: 0, low: $0) }

    private func vectors(_ count: Int, seed: UInt64) -> [VersionVector] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { _ in
            VersionVector(
                replicas.shuffled(using: &random).prefix(Int.random(in: 0...6, using: &random)).map {
                    Dot(replica: $0, sequence: .random(in: 1...4, using: &random))
                })
        }
    }

    @Test func `join is commutative, associative and idempotent`() {
        let all = vectors(30_000, seed: 1)
        for index in stride(from: 0, to: all.count, by: 3) {
            let (a, b, c) = (all[index], all[index + 1], all[index + 2])
            #expect(a.joined(with: b) == b.joined(with: a))
            #expect(a.joined(with: b).joined(with: c) == a.joined(with: b.joined(with: c)))
            #expect(a.joined(with: a) == a)
        }
    }

    @Test func `join is the least vector that covers both`() {
        let all = vectors(9_000, seed: 2)
        for index in stride(from: 0, to: all.count, by: 3) {
            let (a, b, upper) = (all[index], all[index + 1], all[index + 2])
            let join = a.joined(with: b)
            #expect(join.covers(a) && join.covers(b))
            #expect((upper.covers(a) && upper.covers(b)) == upper.covers(join))
        }
    }

    @Test func `join and cover mean the same for vectors of hundreds of replicas`() {
        var random = SplitMix64(seed: 6)
        for round in 0..<300 {
            var sides: [[ReplicaID: UInt64]] = [[:], [:]]
            for number: UInt64 in 1...200 {
                let replica = ReplicaID(high: number &* 0x9E37_79B9_7F4A_7C15, low: number)
                let sequence = UInt64.random(in: 0...3, using: &random)
                // Of every third pair one covers the other.
                let other = round % 3 > 0 ? .random(in: 0...3, using: &random) : number.isMultiple(of: 50) ? sequence + 1 : sequence
                if sequence > 0 { sides[0][replica] = sequence }
                if other > 0 { sides[1][replica] = other }
            }
            let vectors = sides.map { VersionVector($0.map { Dot(replica: $0.key, sequence: $0.value) }) }
            let joined = sides[0].merging(sides[1]) { max($0, $1) }
            #expect(vectors[0].joined(with: vectors[1]) == VersionVector(joined.map { Dot(replica: $0.key, sequence: $0.value) }))
            #expect(vectors[0].covers(vectors[1]) == sides[1].allSatisfy { sides[0][$0.key] ?? 0 >= $0.value })
        }
    }

    @Test func `covers is a partial order`() {
        let all = vectors(120, seed: 3)
        for a in all {
            #expect(a.covers(a))
            for b in all {
                if a.covers(b), b.covers(a) { #expect(a == b) }
                for c in all.prefix(30) where a.covers(b) && b.covers(c) { #expect(a.covers(c)) }
            }
        }
    }

    @Test func `a vector covers exactly the dots up to its entries`() {
        let vector = VersionVector([Dot(replica: replicas[0], sequence: 3)])
        #expect(vector.covers(Dot(replica: replicas[0], sequence: 3)))
        #expect(!vector.covers(Dot(replica: replicas[0], sequence: 4)))
        #expect(!vector.covers(Dot(replica: replicas[1], sequence: 1)))
        #expect(vector[replicas[1]] == 0)
    }

    @Test func `entries are sorted and distinct whatever the order of insertion`() {
        var random = SplitMix64(seed: 4)
        for vector in vectors(500, seed: 5) {
            let replayed = VersionVector(vector.entries.shuffled(using: &random) + vector.entries.shuffled(using: &random))
            #expect(replayed == vector)
            #expect(zip(vector.entries, vector.entries.dropFirst()).allSatisfy { $0.replica < $1.replica })
        }
    }

    @Test func `sequence 0 is nothing`() {
        #expect(VersionVector([Dot(replica: replicas[0], sequence: 0)]).isEmpty)
    }
}
