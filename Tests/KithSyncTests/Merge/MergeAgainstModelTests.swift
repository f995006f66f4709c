import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: the merge loses a write, keeps one that was overwritten, or brings something back to life.
@Suite struct MergeAgainstModelTests {
    @Test(arguments: 0..<UInt64(Soak.count(80, soaking: 300)))
    func `a random history ends as the reference model says, at every replica and every step`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let policy: DeletePolicy = seed % 2 == 0 ? .updateWins : .deleteWins
        let ids = (1...4).map { ReplicaID(high: $0, low: 0) }
        var models = ids.map { ReferenceModel(replica: $0, policy: policy) }
        var stores = ids.map { ModelStore(replica: $0, policy: policy) }
        for step in 0..<60 {
            let index = Int.random(in: 0..<4, using: &random)
            if Bool.random(using: &random) {
                let model = models[index]
                let operations = Operation.random(rowCount: 3, isVisible: model.isVisible, using: &random)
                // Clocks that disagree: a write may be stamped earlier than one made long before.
                let now = UInt64(max(0, step + [0, 50, -50, 5][index]))
                models[index].commit(now: now, operations)
                stores[index].commit(now: now, operations)
            } else {
                let other = Int.random(in: 0..<4, using: &random)
                models[index].pull(from: models[other])
                stores[index].pull(from: stores[other])
            }
            #expect(stores[index].rows == models[index].states)
            #expect(stores[index].vector == VersionVector(models[index].vector.map { Dot(replica: $0.key, sequence: $0.value) }))
        }
    }

    @Test(arguments: 0..<UInt64(Soak.count(80, soaking: 300)))
    func `deltas broken off at any row, with anybody, in any order, end in the same state`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var stores = (1...4).map { ModelStore(replica: ReplicaID(high: $0, low: 0)) }
        var writes = WriteLedger()
        for step in 0..<90 {
            let index = Int.random(in: 0..<4, using: &random)
            if Bool.random(using: &random) {
                let store = stores[index]
                let operations = Operation.random(rowCount: 5, isVisible: store.isVisible, using: &random)
                stores[index].commit(now: UInt64(max(0, step + [0, 50, -50, 5][index])), operations)
                writes.note(from: store, to: stores[index])
            } else {
                stores[index].sliceRowsMax = .random(in: 1...3, using: &random)
                let breaksAfter = Bool.random(using: &random) ? Int.random(in: 0...3, using: &random) : .max
                let sender = stores[Int.random(in: 0..<4, using: &random)]
                stores[index].pull(from: sender, slices: breaksAfter)
            }
        }
        for _ in 0..<4 {
            for receiver in 0..<4 { for sender in 0..<4 where sender != receiver { stores[receiver].pull(from: stores[sender]) } }
        }
        for store in stores {
            #expect(store.rows == stores[0].rows)
            #expect(!store.rows.values.contains { !$0.context.isEmpty })
        }
        #expect(writes.survivors == WriteLedger.kept(in: stores[0]))
    }
}

extension ModelStore {
    /// Takes in what `other` knows, at most `slices` slices of it.
    mutating func pull(from other: ModelStore, slices: Int = .max) {
        var request = SliceRequest(since: vector, resumption: resumption)
        var count = 0
        while count < slices, let slice = other.read(request) {
            guard case .applied = apply(slice), !slice.isLast else { return }
            request = SliceRequest(since: request.since, resumption: request.resumption, after: slice.position, target: slice.target)
            count += 1
        }
    }
}
