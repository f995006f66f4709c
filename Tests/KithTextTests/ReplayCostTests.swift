import KithCausality
import TestSupport
import Testing

@testable import KithText

/// Risk: merging a long text, or what two devices wrote in turns, takes minutes or all memory.
@Suite struct ReplayCostTests {
    /// Two devices that write in turns without seeing each other, after `start`.
    private func interleaved(_ count: UInt64, after start: TextChange) -> [TextChange] {
        (1...count).flatMap { sequence in
            [1, 2].map { site in
                TextChange(
                    dot: dot(site, sequence), parents: [sequence == 1 ? start.dot : dot(site, sequence - 1)],
                    operations: [.insert("abc", at: Int(sequence) * 7)])
            }
        }
    }

    private let start = TextChange(
        dot: dot(3, 1), parents: [], operations: [.insert(String(repeating: "some text ", count: 600), at: 0)])

    @Test func `branches that arrive in turns are walked one after the other`() throws {
        let changes = interleaved(500, after: start)
        var document = TextDocument()
        let order = try document.merge([start] + changes).appended.map(\.change.dot.replica)
        #expect(zip(order, order.dropFirst()).count(where: !=) == 2)
    }

    @Test func `branches that are stored in turns are replayed one after the other`() throws {
        var document = TextDocument()
        for change in [start] + interleaved(50, after: start) { _ = try document.merge([change]) }
        let graph = document.log.graph
        let base = try #require(graph.lastEvent(of: start.dot))
        let order = graph.changesByBranch(above: base).joined().map { graph.dot(ofChange: $0) }
        #expect(Set(order).count == 100)
        #expect(order.count == 100)
        #expect(zip(order, order.dropFirst()).count { $0.replica != $1.replica } == 1)
    }

    @Test func `every order of branches has parents first`() throws {
        for seed in 0..<200 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let changes = try RandomGraph.any(using: &random).changes
            var document = TextDocument()
            for change in changes.reordered(using: &random) { _ = try document.merge([change]) }
            let graph = document.log.graph
            var walked: Set<Int> = []
            for index in graph.changesByBranch(above: EventGraph.root).joined() {
                #expect(graph.parents(ofChange: index).allSatisfy(walked.contains), "seed \(seed)")
                walked.insert(graph.end(ofChange: index) - 1)
            }
            #expect(walked.count == changes.count)
        }
    }

    @Test func `the smaller branch is walked first`() {
        // 0 is built on by the chain 1, 2 and by 3; 4 joins both.
        let edges: ContiguousArray<BranchOrder.Edge> = [(0, 1), (1, 2), (0, 3), (2, 4), (3, 4)]
        #expect(BranchOrder(events: [1, 5, 5, 1, 1], edges: edges).nodes == [0, 3, 1, 2, 4])
        #expect(BranchOrder(events: [1, 5, 5, 90, 1], edges: edges).nodes == [0, 1, 2, 3, 4])
    }

    @Test func `a replay holds what is concurrent whatever the history`() throws {
        for older in [10, 1_000] as [UInt64] {
            var store = PagedStore(changesPerPage: 100)
            var parents: [Dot] = []
            for sequence in 1...older {
                let change = TextChange(dot: dot(4, sequence), parents: parents, operations: [.insert("older ", at: 0)])
                #expect(try store.merge([change]).peakRuns == 0)
                parents = [change.dot]
            }
            let last = TextChange(dot: dot(3, 1), parents: parents, operations: [.delete(count: 1, at: 0)])
            try store.merge([last])
            let outcome = try store.merge(interleaved(8, after: last))
            // An insertion into older text makes two runs of one.
            #expect(outcome.peakRuns > 16)
            #expect(outcome.peakRuns <= 2 * 17 + 1)
        }
    }

    // MARK: Insertions at one place

    /// How many spans and blocks one walk of all changes undid, redid and looked at, and the order of characters that it found.
    private func walk(_ changes: [TextChange], scannedSpansMax: Int = 64) throws -> (steps: Int, order: [Int]) {
        var document = TextDocument()
        let outcome = try document.merge(changes)
        try #require(outcome.appended.count == changes.count)
        var walker = Walker(scannedSpansMax: scannedSpansMax)
        _ = try document.log.walkToHead(
            &walker, below: Array(document.log.graph.version) + [EventGraph.root], text: document.text, from: NoOlderHistory())
        #expect(walker.spans.isConsistent)
        return (walker.steps, walker.spans.all.flatMap { $0.id < Span.older ? Array($0.id..<$0.end) : [] })
    }

    /// Many changes at one place of a text, none of which knows of another.
    private func crowd(_ count: Int, at position: Int, by author: (Int) -> Dot) -> [TextChange] {
        [start]
            + (0..<count).map { number in
                TextChange(dot: author(number), parents: [start.dot], operations: [.insert("x", at: position)])
            }
    }

    @Test(arguments: [0, 700]) func `many insertions at one place cost no look at each other`(_ position: Int) throws {
        let authors: [(Int) -> Dot] = [
            { dot(1, UInt64($0 + 1)) }, { dot(5 + ($0 * 7_919) % 4_000, 1) }, { dot(9_000 - $0, 1) },
        ]
        for author in authors {
            let small = try walk(crowd(1_000, at: position, by: author)).steps
            let large = try walk(crowd(4_000, at: position, by: author)).steps
            #expect(large < 4 * small + small / 2)
            #expect(large < 100 * 4_000)
        }
    }

    @Test func `insertions beside a long branch cost no look at all of it`() throws {
        // A branch that was typed in pieces, each in front of the one before or behind it; others come between at every piece.
        for isBackward in [false, true] {
            func cost(_ count: UInt64) throws -> Int {
                var changes = [start]
                for sequence in 1...count {
                    let parent = sequence == 1 ? start.dot : dot(1, sequence - 1)
                    changes.append(
                        TextChange(
                            dot: dot(1, sequence), parents: [parent],
                            operations: [.insert("ab", at: isBackward ? 700 : 700 + Int(sequence))]))
                }
                for sequence in 1...count {
                    let name = dot(sequence.isMultiple(of: 2) ? 0 : 2, sequence)
                    changes.append(TextChange(dot: name, parents: [start.dot], operations: [.insert("x", at: 700)]))
                }
                return try walk(changes).steps
            }
            let (small, large) = (try cost(500), try cost(2_000))
            #expect(large < 4 * small + small, "\(small), \(large)")
        }
    }

    @Test func `what is searched is where it is when each is looked at`() throws {
        for seed in 0..<UInt64(Soak.count(2_000)) {
            var random = SplitMix64(seed: seed)
            let changes = try RandomGraph.any(using: &random).changes
            let scanned = try walk(changes, scannedSpansMax: .max).order
            for some in [0, 1, 3] {
                #expect(try walk(changes, scannedSpansMax: some).order == scanned, "seed \(seed)")
            }
        }
    }
}
