import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import KithText
import TestSupport
import Testing

@Suite("A text depends on how its changes were delivered")
struct TextDeliveryTests {
    /// Stores that exchange slices over a bad network, and a ledger of what was typed and deleted.
    private final class Network {
        let stores: [TextStore]
        var random: SplitMix64
        /// Every character is typed once: it is in the text exactly if nobody deleted it.
        private var nextCharacter: UInt32 = 0x20000
        private var typed: [UInt64: Set<Unicode.Scalar>] = [:]
        private var deleted: [UInt64: Set<Unicode.Scalar>] = [:]
        private var delayed: [(to: Int, slice: Slice)] = []

        init(stores count: Int, seed: UInt64) throws {
            stores = try (1...UInt64(count)).map { try TextStore($0) }
            random = SplitMix64(seed: seed)
        }

        private func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

        func step() throws {
            let store = stores[pick(stores.count)]
            switch pick(20) {
            case 0..<8: try edit(store, row: UInt64(pick(3)) + 1)
            case 8: try store.store.packTexts()
            default: try exchange(from: pick(stores.count), to: pick(stores.count))
            }
        }

        private func edit(_ store: TextStore, row: UInt64) throws {
            let old = Array((try store.body(row: row) ?? "").unicodeScalars)
            var new = old
            // A plain save that deletes and inserts may write anew what it keeps; operations say exactly what is meant.
            var operations = TextOperations()
            let isPlain = pick(2) == 0
            let deletes = pick(3) == 0 && !new.isEmpty
            if deletes {
                let start = pick(new.count)
                let count = min(new.count - start, 1 + pick(4))
                new.removeSubrange(start..<start + count)
                operations.delete(count, at: start)
            }
            let place = new.isEmpty ? 0 : [0, new.count, pick(new.count + 1)][pick(3)]
            for offset in 0..<(isPlain && deletes ? 0 : 1 + pick(3)) {
                guard let character = Unicode.Scalar(nextCharacter) else { continue }
                nextCharacter += 1
                typed[row, default: []].insert(character)
                new.insert(character, at: place + offset)
                operations.insert(String(Character(character)), at: place + offset)
            }
            deleted[row, default: []].formUnion(Set(old).subtracting(new))
            let text = String(String.UnicodeScalarView(new))
            if try !store.exists(row: row) { return try store.insert(text, row: row) }
            if isPlain { return try store.save(text, row: row) }
            try store.inner.database.write {
                try store.store.editText($0, table: "page", id: rowID(row), column: "body", operations)
            }
        }

        /// One slice, or a few of a catch-up: lost, late, twice, or broken off.
        private func exchange(from: Int, to: Int) throws {
            if from == to { return }
            let receiver = stores[to].store
            if pick(4) == 0, !delayed.isEmpty {
                let late = delayed.remove(at: pick(delayed.count))
                _ = try stores[late.to].store.apply(late.slice)
            }
            let summary = try receiver.summary()
            var request = SliceRequest(since: summary.vector, resumption: summary.resumption)
            let limits = [SliceLimits(), SliceLimits(rowsMax: 1), SliceLimits(rowsMax: 1, textBytesMax: 200)][pick(3)]
            var preludes = Preludes()
            while true {
                let slice = try stores[from].store.slice(request, limits: limits)
                switch pick(8) {
                case 0: return
                case 1: delayed.append((to, slice)); return
                case 2: _ = try receiver.apply(slice)
                default: break
                }
                guard case .applied = try receiver.apply(try encoded(slice)), !slice.isLast else { return }
                preludes.follow(slice)
                request = SliceRequest(
                    since: request.since, resumption: request.resumption, after: slice.position, target: slice.target,
                    preludes: preludes)
            }
        }

        /// What arrives over the wire.
        private func encoded(_ slice: Slice) throws -> Slice {
            let bytes = try FrameCodec.encode(.slice(slice, alsoSentTo: []))
            guard case .slice(let decoded, _) = try FrameCodec.decode(bytes) else { throw StoreError(.failed, "no slice") }
            #expect(decoded == slice)
            return decoded
        }

        func settle() throws {
            for _ in 0..<2 {
                for from in stores.indices {
                    for to in stores.indices where from != to { try stores[to].receive(from: stores[from]) }
                }
            }
        }

        func check(_ comment: Comment) throws {
            let digest = try stores[0].store.digest()
            for store in stores {
                #expect(try store.store.verify().problems == [], comment)
                #expect(try store.store.digest() == digest, comment)
                #expect(try store.store.refusedTextChanges().isEmpty, comment)
            }
            for row in typed.keys.sorted() {
                let bodies = try stores.map { Array((try $0.body(row: row) ?? "").utf8) }
                #expect(Set(bodies).count == 1, comment)
                let versions = try stores.map { try $0.version(row: row) }
                #expect(Set(versions).count == 1, comment)
                let left = (typed[row] ?? []).subtracting(deleted[row] ?? [])
                let shown = String(decoding: bodies[0], as: UTF8.self).unicodeScalars
                #expect(shown.count == left.count && Set(shown) == left, comment)
            }
        }
    }

    @Test(arguments: 0..<UInt64(Soak.count(2, soaking: 400)))
    func `the same changes give the same text, versions and digest, and no character is lost, however they were delivered`(seed: UInt64)
        throws
    {
        let network = try Network(stores: 2 + Int(seed % 3), seed: seed)
        for _ in 0..<120 { try network.step() }
        try network.settle()
        try network.check("seed \(seed)")
    }
}
