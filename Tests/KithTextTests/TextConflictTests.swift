import KithCausality
import TestSupport
import Testing

@testable import KithText

/// Risk: two people change the same place, and one device says so and another does not, or nobody does.
@Suite struct TextConflictTests {
    /// Both replace what is behind `Train: `.
    private func trains() throws -> (document: TextDocument, versions: [Dot]) {
        var mine = TextDocument()
        try mine.edit([.insert("Train: 9:00\nBuy milk\n", at: 0)], as: dot(1, 1))
        var theirs = mine
        let base = mine.text
        try mine.edit(TextOperations(from: base, to: TextBuffer("Train: 10:30\nBuy milk\n")), as: dot(1, 2))
        let other = try theirs.edit(TextOperations(from: base, to: TextBuffer("Train: 8:15\nBuy milk\n")), as: dot(2, 1)).change
        _ = try mine.merge([other])
        return (mine, [dot(1, 2), dot(2, 1)])
    }

    @Test func `two replacements of one word are a conflict of their line`() throws {
        var (document, versions) = try trains()
        let text = document.text.string
        #expect(text == "Train: 10:308:15\nBuy milk\n" || text == "Train: 10:30815\nBuy milk\n")
        let found = try document.conflicts()
        #expect(found.isComplete)
        let conflict = try #require(found.conflicts.first)
        #expect(found.conflicts.count == 1)
        #expect(conflict.before == "Train: 9:00")
        #expect(
            conflict.versions == [
                .init(text: "Train: 10:30", changes: [versions[0]]), .init(text: "Train: 8:15", changes: [versions[1]]),
            ])
        #expect(conflict.line == 0..<text.unicodeScalars.count - 10)
        #expect(conflict.place.lowerBound == 7 && conflict.place.upperBound <= conflict.line.upperBound)
    }

    @Test func `an edit of the line ends it and another edit moves it`() throws {
        var (document, _) = try trains()
        let line = try #require(try document.conflicts().conflicts.first?.line)
        try document.edit([.insert("Trip\n", at: 0)], as: dot(3, 1))
        #expect(try document.conflicts().conflicts.map(\.line) == [line.lowerBound + 5..<line.upperBound + 5])
        try document.edit([.insert("by bus, ", at: 12)], as: dot(3, 2))
        #expect(try document.conflicts().conflicts.isEmpty)
    }

    @Test func `a restart ends all`() throws {
        var (document, _) = try trains()
        try document.restart(with: "Train: 8:15\n", as: dot(3, 1))
        #expect(try document.conflicts() == TextConflicts())
    }

    @Test func `an edit by who had seen one version only does not end it`() throws {
        var (document, versions) = try trains()
        let edit = TextChange(dot: dot(2, 2), parents: [versions[1]], operations: [.insert("!", at: 11)])
        #expect(try document.merge([edit]).appended.count == 1)
        #expect(try document.conflicts().conflicts.map { $0.versions.map(\.text) } == [["Train: 10:30", "Train: 8:15!"]])
    }

    // MARK: Against the rule

    @Test func `the oracles cases are found one by one`() throws {
        let cases = try Fixture.json("vectors/conflicts", as: [JSONObject].self).map(ConflictCase.init)
        #expect(cases.count > 400)
        for expected in cases {
            var document = TextDocument()
            _ = try document.merge(expected.changes)
            #expect(document.text.string.utf8.elementsEqual(expected.text.utf8), "\(expected.name)")
            let found = try document.conflicts()
            #expect(found.isComplete && found.conflicts == expected.conflicts, "\(expected.name)")
            #expect(NaiveConflicts.all(in: expected.changes) == expected.conflicts, "\(expected.name)")
        }
    }

    @Test(arguments: [false, true]) func `every order of arrival gives the conflicts of the rule`(_ hasLines: Bool) throws {
        var count = 0
        for seed in 0..<Soak.count(400) {
            var random = SplitMix64(seed: UInt64(seed) ^ 0xC0_4F11)
            let changes =
                hasLines
                ? try RandomGraph(
                    sites: 2 + random.below(3), changes: 4 + random.below(24), isHot: random.chance(30), hasOwnBranches: random.chance(20),
                    hasRestarts: random.chance(15), hasLines: true, using: &random
                ).changes : try RandomGraph.any(using: &random).changes
            let expected = NaiveConflicts.all(in: changes)
            count += expected.count
            for order in [changes, changes.reordered(using: &random)] {
                var document = TextDocument()
                _ = try document.merge(order)
                let found = try document.conflicts()
                try #require(found.isComplete && found.conflicts == expected, "seed \(seed)")
            }
        }
        #expect(count > 200)
    }

    // MARK: Bounds

    @Test func `what is too much is said and not looked at`() throws {
        // So many type at once that it would take minutes to compare them two by two.
        let sites = 3_000
        var document = TextDocument()
        try document.edit([.insert("word", at: 0)], as: dot(0, 1))
        let changes = (1...sites).map { site in
            TextChange(dot: dot(site, 1), parents: [dot(0, 1)], operations: [.insert("\(site)", at: 2)])
        }
        _ = try document.merge(changes)
        let found = try document.conflicts()
        #expect(!found.isComplete)
        #expect(found.conflicts.isEmpty)
    }

    @Test func `only so many are remembered and the first ones are`() throws {
        let count = TextLimits.conflictsOpenMax + 44
        var mine = TextDocument()
        try mine.edit([.insert(String(repeating: "ab\n", count: count), at: 0)], as: dot(1, 1))
        var theirs = mine
        func operations(_ word: String) -> TextOperations {
            TextOperations((0..<count).map { .insert(word, at: 4 * $0 + 1) })
        }
        try mine.edit(operations("x"), as: dot(1, 2))
        let change = try theirs.edit(operations("y"), as: dot(2, 1)).change
        _ = try mine.merge([change])
        var found = try mine.conflicts()
        #expect(found.isComplete && found.conflicts.count == count)
        // The one brings them together, the other is made when that is over.
        try mine.edit([.insert("z", at: mine.text.count)], as: dot(1, 3))
        try mine.edit([.insert("z", at: mine.text.count)], as: dot(1, 4))
        found = try mine.conflicts()
        #expect(!found.isComplete && found.conflicts.count == TextLimits.conflictsOpenMax)
        #expect(found.conflicts.last?.line.upperBound == 5 * TextLimits.conflictsOpenMax - 1)
    }

    @Test func `a history in pages gives the same`() throws {
        for seed in 0..<200 {
            var random = SplitMix64(seed: UInt64(seed))
            let changes = try RandomGraph.any(using: &random).changes
            var store = PagedStore(changesPerPage: 1 + random.below(6))
            _ = try store.merge(changes)
            try #require(try store.conflicts().conflicts == NaiveConflicts.all(in: changes), "seed \(seed)")
        }
    }
}

/// One case of `vectors/conflicts`.
private struct ConflictCase {
    let name: String
    let changes: [TextChange]
    let text: String
    let conflicts: [TextConflict]

    init(_ json: JSONObject) throws {
        guard let name = json["name"] as? String, let text = json["text"] as? String, let changes = json["changes"] as? [JSONObject],
            let conflicts = json["conflicts"] as? [JSONObject]
        else { throw UnreadableCase() }
        self.name = name
        self.text = text
        self.changes = try changes.map { change in
            TextChange(
                dot: try Self.dot(change["dot"]), parents: try Self.dots(change["parents"]),
                operations: TextOperations(try Splice.all(change["ops"])))
        }
        self.conflicts = try conflicts.map { conflict in
            guard let versions = conflict["versions"] as? [JSONObject] else { throw UnreadableCase() }
            return TextConflict(
                place: try Self.range(conflict["place"]), line: try Self.range(conflict["line"]),
                before: try Self.string(conflict["before"]),
                versions: try versions.map { .init(text: try Self.string($0["text"]), changes: try Self.dots($0["changes"])) })
        }
    }

    private struct UnreadableCase: Error {}

    private static func string(_ json: Any?) throws -> String {
        guard let string = json as? String else { throw UnreadableCase() }
        return string
    }

    private static func range(_ json: Any?) throws -> Range<Int> {
        guard let bounds = json as? [Int], bounds.count == 2 else { throw UnreadableCase() }
        return bounds[0]..<bounds[1]
    }

    private static func dot(_ json: Any?) throws -> Dot {
        guard let numbers = json as? [Int], numbers.count == 2 else { throw UnreadableCase() }
        return KithTextTests.dot(numbers[0], UInt64(numbers[1]))
    }

    private static func dots(_ json: Any?) throws -> [Dot] { try (json as? [Any] ?? []).map(dot).sorted() }
}
