import KithCausality
import TestSupport
import Testing

@testable import KithText

/// Risk: one device has forgotten the history of a text, another has not, and they show it in different orders.
@Suite struct RestartTests {
    @Test func `what is forgotten before a restart changes neither order nor conflicts`() throws {
        var count = 0
        let seeds = Soak.count(4_000)
        for seed in 0..<seeds {
            var random = SplitMix64(seed: UInt64(seed) ^ 0xF0_26E7)
            let changes = try RandomGraph(
                sites: 2 + random.below(3), changes: 3 + random.below(12), isHot: random.chance(50), hasRestarts: true, using: &random
            ).changes
            guard let forgotten = Self.forgettable(changes, using: &random) else { continue }
            count += 1
            var document = TextDocument()
            for change in changes.reordered(using: &random) where !forgotten.contains(change.dot) {
                let isWhole = change.parents.allSatisfy { !forgotten.contains($0) }
                let outcome = try document.merge([isWhole ? change : document.standIn(for: change, history: NoOlderHistory())])
                try #require(outcome.appended.count == 1, "seed \(seed)")
            }
            try #require(document.text == TextBuffer(TreeOracle.text(changes)), "seed \(seed)")
            var whole = TextDocument()
            _ = try whole.merge(changes)
            try #require(try document.conflicts() == whole.conflicts(), "seed \(seed)")
        }
        #expect(count > seeds / 10)
    }

    /// What came before some restart, if nobody has built on it otherwise.
    private static func forgettable(_ changes: [TextChange], using random: inout SplitMix64) -> Set<Dot>? {
        let graph = NaiveGraph(changes)
        let restarts = changes.indices.filter { changes[$0].isRestart && !changes[$0].parents.isEmpty }
        guard !restarts.isEmpty else { return nil }
        let bits = graph.ancestors[random.pick(restarts)]
        let forgotten = Set(changes.indices.filter { bits & 1 << UInt64($0) != 0 }.map { changes[$0].dot })
        let others = changes.filter { !forgotten.contains($0.dot) && !$0.isRestart }
        return others.allSatisfy { forgotten.isDisjoint(with: $0.parents) } ? forgotten : nil
    }

    @Test func `an edit beside a restart stays`() throws {
        var mine = TextDocument()
        try mine.edit([.insert("Milk", at: 0)], as: dot(2, 1))
        var theirs = mine
        let restart = try mine.restart(with: "Bread", as: dot(3, 1)).change
        let edit = try theirs.edit([.insert("!", at: 4)], as: dot(1, 1)).change
        _ = try mine.merge([edit])
        _ = try theirs.merge([restart])
        // Of what stands at the beginning the smaller name goes first: that of the milk.
        #expect(mine.text.string == "!Bread")
        #expect(theirs.text == mine.text)
        #expect(try mine.text(at: [restart.dot]).string == "Bread")
        #expect(try mine.text(at: restart.parents).string == "Milk")
    }

    @Test func `a restart of nothing leaves an empty text`() throws {
        var document = TextDocument()
        let first = try document.restart(with: "", as: dot(1, 1)).change
        #expect(document.text.isEmpty && !first.operations.isEmpty)
        try document.edit([.insert("a", at: 0)], as: dot(1, 2))
        try document.restart(with: "", as: dot(1, 3))
        #expect(document.text.isEmpty)
    }

    @Test func `a restart that keeps some of the text is refused`() throws {
        var document = TextDocument()
        try document.edit([.insert("Milk", at: 0)], as: dot(1, 1))
        func restart(_ operations: TextOperations, _ length: Int?, parents: [Dot] = [dot(1, 1)]) -> TextChange {
            TextChange(dot: dot(2, 1), parents: parents, isRestart: true, operations: operations, lengthBefore: length)
        }
        let lies = [
            restart([.insert("x", at: 0)], 4), restart([.delete(count: 3, at: 0), .insert("x", at: 0)], 4),
            restart([.delete(count: 3, at: 1), .insert("x", at: 0)], 3), restart([.delete(count: 3, at: 0), .insert("x", at: 0)], 3),
            restart([.insert("x", at: 0)], nil), restart([.delete(count: 1, at: 0)], 0, parents: []),
        ]
        for lie in lies {
            let outcome = try document.merge([lie])
            #expect(outcome.rejected.map(\.reason) == [.restartKeepsText])
        }
        #expect(document.text.string == "Milk")
    }

    @Test func `a chunk refuses a restart`() {
        let header = TextChangeHeader(firstEvent: 0, length: 2, dot: dot(1, 1), parents: [], isRestart: true)
        #expect(throws: TextError.malformed("a chunk cannot hold a restart")) { try TextChunk.encodeGraph([header]) }
    }
}
