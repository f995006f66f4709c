import KithCausality
import TestSupport
import Testing

@testable import KithText

/// Risk: an editor that had the text open for an hour overwrites what others wrote meanwhile.
@Suite struct BaseTests {
    @Test func `a stale save keeps what others wrote`() throws {
        var document = TextDocument()
        try document.edit([.insert("Shopping:\n- milk\n", at: 0)], as: dot(1, 1))
        let base = document.version
        let loaded = document.text
        for round in 0..<50 as Range<UInt64> {
            let change = TextChange(
                dot: dot(2, round + 1), parents: document.version,
                operations: [.insert("- item \(round)\n", at: document.text.count)])
            _ = try document.merge([change])
        }
        let saved = TextBuffer("Shopping list:\n- milk\n- bread\n")
        let row = try document.edit(TextOperations(from: loaded, to: saved), at: base, as: dot(1, 2))
        let text = document.text.string
        #expect(text.hasPrefix("Shopping list:\n- milk\n"))
        #expect(text.contains("- bread\n"))
        for round in 0..<50 { #expect(text.contains("- item \(round)\n")) }
        #expect(row?.change.parents == [dot(2, 50)])
    }

    @Test func `a rebased save gives the text that a merge of the same edit would give`() throws {
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let changes = try RandomGraph.any(using: &random).changes
            let name = dot(random.pick([0, 7]), 1_000)
            let base = changes[random.below(changes.count)]
            var document = TextDocument()
            _ = try document.merge(changes)
            let old = try document.text(at: [base.dot])
            let operations: TextOperations = [
                .insert("new", at: random.below(old.count + 1)), .delete(count: random.below(old.count + 3), at: 0),
            ]
            var merged = document
            let outcome = try merged.merge([TextChange(dot: name, parents: [base.dot], operations: operations)])
            try #require(outcome.rejected.isEmpty, "seed \(seed)")
            var store = PagedStore(changesPerPage: 3)
            try store.merge(changes)
            var opened = try store.open()
            try opened.edit(operations, at: [base.dot], as: name, history: store)
            try document.edit(operations, at: [base.dot], as: name)
            #expect(document.text == merged.text, "seed \(seed)")
            #expect(opened.text == merged.text, "from a store, seed \(seed)")
        }
    }

    @Test func `a save of what was all deleted meanwhile is no change`() throws {
        var document = TextDocument()
        try document.edit([.insert("gone", at: 0)], as: dot(1, 1))
        let base = document.version
        try document.edit([.delete(count: 4, at: 0)], as: dot(2, 1))
        #expect(try document.edit([.delete(count: 2, at: 1)], at: base, as: dot(1, 2)) == nil)
        #expect(document.text.isEmpty)
        #expect(document.version == [dot(2, 1)])
    }

    @Test func `a base of another text is refused`() throws {
        var document = TextDocument()
        try document.edit([.insert("mine", at: 0)], as: dot(1, 1))
        #expect(throws: TextError.unknownVersion(dot(5, 5))) {
            try document.edit([.insert("x", at: 0)], at: [dot(5, 5)], as: dot(1, 2))
        }
        #expect(document.text.string == "mine")
    }

    @Test func `every version anyone saw can be read again`() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let changes = try RandomGraph.any(using: &random).changes
            let graph = NaiveGraph(changes)
            var store = PagedStore(changesPerPage: 4)
            try store.merge(changes)
            var document = try store.open()
            let index = random.below(changes.count)
            let seen = changes.indices.filter { graph.ancestors[index] >> UInt64($0) & 1 == 1 || $0 == index }
            let expected = NaiveWalker.text(seen.map { changes[$0] })
            #expect(try document.text(at: [changes[index].dot], history: store) == TextBuffer(expected), "seed \(seed)")
            #expect(try document.text(at: [], history: store).isEmpty)
        }
    }
}
