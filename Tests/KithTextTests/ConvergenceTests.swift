import KithCausality
import TestSupport
import Testing

@testable import KithText

/// Risk: two devices with the same changes show different texts.
@Suite struct ConvergenceTests {
    @Test func `every replay of random graphs gives the text of the tree`() throws {
        for seed in 0..<Soak.count(1_000) {
            var random = SplitMix64(seed: UInt64(seed))
            let changes = try RandomGraph.any(using: &random).changes
            let expected = TextBuffer(TreeOracle.text(changes))
            try #require(TextBuffer(NaiveWalker.text(changes)) == expected, "naive walker, seed \(seed)")
            try #require(try merged([changes]) == expected, "at once, seed \(seed)")
            let reordered = changes.reordered(using: &random)
            try #require(try merged([reordered]) == expected, "reordered, seed \(seed)")
            let batches = Self.batches(reordered, using: &random).map { $0.shuffled(using: &random) }
            try #require(try merged(batches) == expected, "in batches, seed \(seed)")
        }
    }

    @Test func `a store that opens the text for every merge gets the same text`() throws {
        for seed in 0..<Soak.count(400) {
            var random = SplitMix64(seed: UInt64(seed) ^ 0x5_7083)
            let changes = try RandomGraph.any(using: &random).changes
            var store = PagedStore(changesPerPage: 1 + random.below(6))
            for batch in Self.batches(changes.reordered(using: &random), using: &random) {
                let outcome = try store.merge(batch)
                try #require(outcome.appended.count == batch.count, "seed \(seed)")
            }
            try #require(TextBuffer(store.string) == TextBuffer(TreeOracle.text(changes)), "seed \(seed)")
        }
    }

    @Test func `merging twice is merging once`() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let changes = try RandomGraph.any(using: &random).changes
            var document = TextDocument()
            _ = try document.merge(changes)
            let before = document.text
            let again = try document.merge(changes + changes.shuffled(using: &random))
            #expect(again.known.count == changes.count)
            #expect(again.appended.isEmpty)
            #expect(document.text == before)
        }
    }

    @Test func `a scalar stays exactly if nobody deleted it`() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed &+ 77)
            let graph = try RandomGraph.any(using: &random)
            let shown = Array(try merged([graph.changes]).string.unicodeScalars.map(\.value)).sorted()
            let expected = Array(NaiveWalker.text(graph.changes).unicodeScalars.map(\.value)).sorted()
            #expect(shown == expected)
        }
    }

    @Test func `the walkers sums and index equal a recount`() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let changes = try RandomGraph(sites: 4, changes: 60, using: &random).changes
            var document = TextDocument()
            _ = try document.merge(changes)
            var versions = Array(document.log.graph.version)
            versions.append(EventGraph.root)
            var walker = Walker()
            let surplus = try #require(
                try document.log.walkToHead(&walker, below: versions, text: document.text, from: NoOlderHistory()))
            #expect(walker.spans.isConsistent)
            #expect(walker.spans.visibleLength - surplus == document.text.count)
            try walker.move(to: [], in: document.log.graph)
            #expect(walker.spans.isConsistent)
            #expect(walker.spans.preparedLength == surplus)
        }
    }

    private func merged(_ batches: [[TextChange]]) throws -> TextBuffer {
        var document = TextDocument()
        for batch in batches {
            var patched = document.text
            let outcome = try document.merge(batch)
            try #require(outcome.rejected.isEmpty)
            try patched.apply(outcome.patch)
            try #require(patched == document.text, "the patch leads to the new text")
        }
        return document.text
    }

    private static func batches(_ changes: [TextChange], using random: inout SplitMix64) -> [[TextChange]] {
        var result: [[TextChange]] = []
        var rest = changes[...]
        while !rest.isEmpty {
            result.append(Array(rest.prefix(1 + random.below(6))))
            rest = rest.dropFirst(result[result.count - 1].count)
        }
        return result
    }
}
