import KithCausality
import TestSupport
import Testing

@testable import KithText

/// Risk: a bad change crashes the device, is half applied, or keeps good ones from being applied.
@Suite struct BadInputTests {
    private func document() throws -> TextDocument {
        var document = TextDocument()
        try document.edit([.insert("hello", at: 0)], as: dot(1, 1))
        try document.edit([.insert(" world", at: 5)], as: dot(1, 2))
        return document
    }

    private func change(
        _ name: Dot, _ parents: [Dot], _ operations: TextOperations = [.insert("x", at: 0)], lengthBefore: Int? = nil
    ) -> TextChange {
        TextChange(dot: name, parents: parents, operations: operations, lengthBefore: lengthBefore)
    }

    @Test func `each kind of bad change is refused with its reason`() throws {
        let cases: [(TextChange, TextError)] = [
            (change(dot(2, 1), [dot(1, 2)], []), .emptyChange),
            (change(dot(2, 0), [dot(1, 2)]), .invalidDot(dot(2, 0))),
            (change(dot(2, 1), [dot(1, 2)], [.insert("x", at: 12)]), .positionOutOfRange(position: 12, length: 11)),
            (change(dot(2, 1), [dot(1, 1)], [.insert("x", at: 6)]), .positionOutOfRange(position: 6, length: 5)),
            (change(dot(2, 1), [dot(1, 1)], [.delete(count: 6, at: 0)]), .positionOutOfRange(position: 0, length: 5)),
            (change(dot(2, 1), [], [.delete(count: 1, at: 0)]), .positionOutOfRange(position: 0, length: 0)),
            (change(dot(2, 1), [dot(1, 2)], lengthBefore: 10), .lengthMismatch(stated: 10, actual: 11)),
            (change(dot(2, 1), [dot(1, 1)], lengthBefore: 11), .lengthMismatch(stated: 11, actual: 5)),
            (change(dot(2, 1), [dot(1, 2), dot(1, 1)]), .parentsNotSorted),
            (change(dot(2, 1), [dot(1, 2), dot(1, 2)]), .parentsNotSorted),
            (change(dot(2, 1), [dot(1, 1), dot(1, 2)]), .parentsNotReduced),
            (change(dot(2, 1), [dot(2, 1)]), .cycle),
        ]
        for (bad, reason) in cases {
            var document = try document()
            let good = change(dot(3, 1), [dot(1, 1)], [.insert("!", at: 5)])
            let outcome = try document.merge([bad, good])
            #expect(outcome.rejected == [RejectedTextChange(change: bad, reason: reason)])
            #expect(outcome.appended.map(\.change) == [good])
            #expect(document.text.string == "hello world!")
        }
    }

    @Test func `changes of another text wait and changes in a circle are refused`() throws {
        var document = try document()
        let stranger = change(dot(2, 1), [dot(7, 7)])
        let child = change(dot(2, 2), [dot(2, 1)])
        let circle = [
            change(dot(3, 1), [dot(3, 2)]), change(dot(3, 2), [dot(3, 3)]), change(dot(3, 3), [dot(3, 1)]),
        ]
        let outcome = try document.merge([child] + circle + [stranger])
        #expect(outcome.pending == [child, stranger])
        #expect(outcome.rejected.map(\.change) == circle)
        #expect(outcome.rejected.allSatisfy { $0.reason == .cycle })
        #expect(document.text.string == "hello world")
    }

    @Test func `what builds on a refused change waits`() throws {
        var document = try document()
        let bad = change(dot(2, 1), [dot(1, 1)], [.insert("x", at: 99)])
        let child = change(dot(2, 2), [dot(2, 1)])
        let outcome = try document.merge([child, bad])
        #expect(outcome.rejected.map(\.change) == [bad])
        #expect(outcome.pending == [child])
        #expect(outcome.appended.isEmpty)
    }

    @Test func `a dot is never used twice for local edits`() throws {
        var document = try document()
        #expect(throws: TextError.invalidDot(dot(1, 2))) { try document.edit([.insert("x", at: 0)], as: dot(1, 2)) }
        #expect(throws: TextError.invalidDot(dot(1, 0))) { try document.replace(0..<0, with: "x", as: dot(1, 0)) }
        #expect(throws: TextError.self) { try document.replace(3..<40, with: "x", as: dot(1, 3)) }
        #expect(throws: TextError.emptyChange) { try document.replace(3..<3, with: "", as: dot(1, 3)) }
        #expect(document.text.string == "hello world")
    }

    @Test func `mutated changes never trap and never hinder good ones`() throws {
        for seed in 0..<UInt64(Soak.count(3_000)) {
            var random = SplitMix64(seed: seed)
            let changes = try RandomGraph(sites: 3, changes: 9, isHot: true, using: &random).changes
            let index = random.below(changes.count)
            var mutated = changes
            mutated[index] = Self.mutated(changes[index], among: changes, using: &random)
            var document = TextDocument()
            var appended: Set<Dot> = []
            for batch in [mutated.prefix(4), mutated.dropFirst(4)] {
                appended.formUnion(try document.merge(batch.shuffled(using: &random)).appended.map(\.header.dot))
            }
            // Under a name that is not its own it may stand in for a good one.
            guard mutated[index].dot == changes[index].dot else { continue }
            let graph = NaiveGraph(changes)
            for other in changes.indices where other != index && graph.ancestors[other] >> UInt64(index) & 1 == 0 {
                try #require(appended.contains(changes[other].dot), "seed \(seed)")
            }
        }
    }

    @Test func `a damaged history is reported and never traps`() throws {
        for seed in 0..<UInt64(Soak.count(3_000)) {
            var random = SplitMix64(seed: seed)
            let changes = try RandomGraph(sites: 3, changes: 10, using: &random).changes
            var store = PagedStore(changesPerPage: 3)
            try store.merge(Array(changes.prefix(6)))
            let damaged = DamagedHistory(store: store, seed: seed)
            var document = try store.open()
            do {
                _ = try document.merge(Array(changes.dropFirst(6)), history: damaged)
            } catch let error as TextError {
                #expect(!error.description.isEmpty)
            }
            var other = try store.open()
            do { _ = try other.text(at: [changes[2].dot], history: damaged) } catch is TextError {}
            do {
                try other.edit([.insert("x", at: 0)], at: [changes[0].dot], as: dot(9, 9), history: damaged)
            } catch is TextError {}
        }
    }

    @Test func `a version in the middle of a change is reported`() throws {
        var store = PagedStore(changesPerPage: 1)
        var parents: [Dot] = []
        for sequence in 1...4 as ClosedRange<UInt64> {
            let change = TextChange(dot: dot(1, sequence), parents: parents, operations: [.insert("abcdef", at: 0)])
            try store.merge([change])
            parents = [change.dot]
        }
        for event in [7, 12, 15] {
            var document = try store.open()
            #expect(throws: TextError.damagedHistory("event \(event) is a version and does not end a change")) {
                try document.edit(
                    [.insert("x", at: 0)], at: [dot(1, 2)], as: dot(1, 9), history: MisleadingHistory(store: store, event: event))
            }
        }
    }

    private static func mutated(
        _ change: TextChange, among all: [TextChange], using random: inout SplitMix64
    ) -> TextChange {
        var (name, parents, operations, length) = (change.dot, change.parents, change.operations, change.lengthBefore)
        switch random.below(6) {
        case 0: parents = [random.pick(all).dot]
        case 1: parents.append(random.pick(all).dot)
        case 2: parents = []
        case 3: name = random.pick(all).dot
        case 4:
            operations = TextOperations(
                operations.map { operation in
                    switch operation {
                    case .insert(let text, let position): .insert(text, at: position + random.below(9) - 4)
                    case .delete(let count, let position): .delete(count: count + random.below(4), at: position - random.below(3))
                    }
                })
        default: length = random.below(20)
        }
        if random.chance(50) { length = nil }
        return TextChange(dot: name, parents: parents, operations: operations, lengthBefore: length)
    }
}

/// A history that has one answer for where changes end.
private struct MisleadingHistory: TextHistory {
    let store: PagedStore
    let event: Int

    func headers(endingAt end: Int) throws -> [TextChangeHeader] { try store.headers(endingAt: end) }
    func operations(in events: Range<Int>) throws -> [TextOperations] { try store.operations(in: events) }
    func lastEvent(of dot: Dot, before end: Int) throws -> Int? { event }
}

/// A history that lies: other parents, lengths, numbers, operations than were stored.
private struct DamagedHistory: TextHistory {
    let store: PagedStore
    let seed: UInt64

    func headers(endingAt end: Int) throws -> [TextChangeHeader] {
        var random = SplitMix64(seed: seed ^ UInt64(end))
        var headers = try store.headers(endingAt: end)
        guard !headers.isEmpty, random.chance(70) else { return headers }
        let index = random.below(headers.count)
        let old = headers[index]
        let number = random.pick([-1, 0, 1, old.firstEvent, old.firstEvent - 1, old.firstEvent + 1, .max, .min])
        switch random.below(5) {
        case 0: headers[index] = TextChangeHeader(firstEvent: old.firstEvent, length: old.length, dot: old.dot, parents: [number])
        case 1: headers[index] = TextChangeHeader(firstEvent: old.firstEvent, length: number, dot: old.dot, parents: old.parents)
        case 2: headers[index] = TextChangeHeader(firstEvent: number, length: old.length, dot: old.dot, parents: old.parents)
        case 3: headers[index] = TextChangeHeader(firstEvent: old.firstEvent, length: old.length, dot: old.dot, parents: [])
        default: headers.remove(at: index)
        }
        return headers
    }

    func operations(in events: Range<Int>) throws -> [TextOperations] {
        var random = SplitMix64(seed: seed ^ UInt64(events.lowerBound) &+ 1)
        var operations = try store.operations(in: events)
        guard !operations.isEmpty, random.chance(70) else { return operations }
        let index = random.below(operations.count)
        let count = operations[index].eventCount
        switch random.below(3) {
        case 0: operations[index] = [.delete(count: count, at: random.pick([0, 3, 1_000_000, .max - 1]))]
        case 1: operations[index] = [.insert(String(repeating: "z", count: count), at: random.pick([0, 7, 1_000_000]))]
        default: operations.remove(at: index)
        }
        return operations
    }

    func lastEvent(of dot: Dot, before end: Int) throws -> Int? {
        var random = SplitMix64(seed: seed ^ dot.sequence)
        let event = try store.lastEvent(of: dot, before: end)
        return random.chance(70) ? event : random.pick([nil, -5, 0, 1, end - 1, end, .max])
    }
}
