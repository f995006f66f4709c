import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: replicas that received the same in another order, in other groupings or twice end in different states.
///
/// The laws are checked on states that can be reached: whatever four replicas knew at any time of one history.
@Suite struct MergeLawsTests {
    private static let histories = UInt64(Soak.count(20, soaking: 50))
    private static let triplesEach = 2_000

    @Test(arguments: 0..<histories) func `merge is commutative, associative and idempotent`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let states = History.states(using: &random)
        for _ in 0..<Self.triplesEach {
            let (a, b, c) = (states.element(&random), states.element(&random), states.element(&random))
            let ab = a.merged(with: b)
            let bc = b.merged(with: c)
            if ab != b.merged(with: a) || ab.merged(with: c) != a.merged(with: bc) || a.merged(with: a) != a {
                Issue.record("the laws fail for \(a), \(b), \(c)")
                return
            }
        }
    }

    @Test(arguments: 0..<histories) func `the part a replica lacks brings it as far as the whole state`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let states = History.states(using: &random)
        for a in states {
            for b in states {
                var part = a
                if let uncovered = b.row.uncovered(by: a.vector) { part.row.merge(uncovered, knowing: a.vector, theirs: b.vector) }
                part.vector.join(b.vector)
                #expect(part == a.merged(with: b))
            }
        }
    }

    @Test func `two writes of equal time have one order`() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<10_000 {
            let stamps = (0..<2).map { _ in
                Stamp(
                    dot: Dot(
                        replica: ReplicaID(high: 0, low: .random(in: 0...2, using: &random)), sequence: .random(in: 1...3, using: &random)),
                    timestamp: HybridTimestamp(rawValue: .random(in: 0...1, using: &random)))
            }
            guard stamps[0] != stamps[1] else { continue }
            #expect(stamps[0].isShown(over: stamps[1]) != stamps[1].isShown(over: stamps[0]))
        }
    }
}

/// What one replica knew of the row at one time.
private struct Knowledge: Hashable {
    var row: RowState
    var vector: VersionVector

    func merged(with other: Knowledge) -> Knowledge {
        var result = self
        result.row.merge(other.row, knowing: vector, theirs: other.vector)
        result.vector.join(other.vector)
        return result
    }
}

private enum History {
    static func states(using random: inout SplitMix64) -> [Knowledge] {
        let policy: DeletePolicy = Bool.random(using: &random) ? .updateWins : .deleteWins
        var stores = (1...4).map { ModelStore(replica: ReplicaID(high: $0, low: 0), policy: policy) }
        var states: [Knowledge] = []
        for step in 0..<30 {
            let index = Int.random(in: 0..<4, using: &random)
            if Int.random(in: 0..<3, using: &random) > 0 {
                let operations = Operation.random(rowCount: 1, isVisible: stores[index].isVisible, using: &random)
                stores[index].commit(now: UInt64(max(0, step + [0, 50, -50, 5][index])), operations)
            } else {
                stores[index].pull(from: stores.element(&random))
            }
            states.append(Knowledge(row: stores[index].rows[RowID(high: 0, low: 0)] ?? RowState(), vector: stores[index].vector))
        }
        return states
    }
}

extension Array {
    fileprivate func element(_ random: inout SplitMix64) -> Element { self[Int.random(in: indices, using: &random)] }
}
