import KithCausality
import TestSupport
import Testing

@testable import KithText

/// Risk: a save becomes edits that do not give the saved text, or that claim more than the user did.
@Suite struct CaptureTests {
    @Test(arguments: troubles) func `the edits give the new text scalar by scalar`(_ pair: Pair) throws {
        for (old, new) in [(pair.old, pair.new), (pair.new, pair.old), ("", pair.new), (pair.old, "")] {
            let operations = TextOperations(from: TextBuffer(old), to: TextBuffer(new))
            var text = TextBuffer(old)
            try text.apply(operations)
            #expect(text == TextBuffer(new))
            #expect(operations.isEmpty == old.unicodeScalars.elementsEqual(new.unicodeScalars))
        }
    }

    @Test func `the edits of random rewrites give the new text`() throws {
        for seed in 0..<UInt64(Soak.count(600)) {
            var random = SplitMix64(seed: seed)
            let old = TextBuffer(Self.prose(words: random.below(120), using: &random))
            var new = old
            for _ in 0..<random.below(6) { try new.apply(Self.rewrite(of: new, using: &random)) }
            let operations = TextOperations(from: old, to: new)
            var text = old
            try text.apply(operations)
            try #require(text == new, "seed \(seed)")
            try #require(TextOperations(from: old, to: new) == operations, "the same every time, seed \(seed)")
        }
    }

    @Test func `one edit is one or two operations`() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<100 {
            let words = Self.prose(words: 60, using: &random).split(separator: " ", omittingEmptySubsequences: false)
            var edited = words
            edited[random.below(words.count)] = "replacement"
            let operations = TextOperations(
                from: TextBuffer(words.joined(separator: " ")), to: TextBuffer(edited.joined(separator: " ")))
            #expect(operations.count <= 2)
        }
    }

    @Test func `two distant edits stay apart`() {
        let line = "The quick brown fox jumps over the lazy dog.\n"
        let old = "First line\n" + String(repeating: line, count: 200) + "Last line\n"
        let new = "First lines\n" + String(repeating: line, count: 200) + "Last lines\n"
        #expect(
            Array(TextOperations(from: TextBuffer(old), to: TextBuffer(new)))
                == [.insert("s", at: 10), .insert("s", at: 12 + 200 * 45 + 9)])
    }

    @Test func `an edit never tears a character apart`() {
        func edits(_ old: String, _ new: String) -> [TextOperation] {
            Array(TextOperations(from: TextBuffer(old), to: TextBuffer(new)))
        }
        #expect(edits("cafe", "cafe\u{301}") == [.delete(count: 4, at: 0), .insert("cafe\u{301}", at: 0)])
        #expect(edits("👩\u{200D}💻", "👩\u{200D}🚀") == [.delete(count: 3, at: 0), .insert("👩\u{200D}🚀", at: 0)])
        #expect(edits("🇫🇷", "🇫🇮") == [.delete(count: 2, at: 0), .insert("🇫🇮", at: 0)])
        #expect(edits("👍", "👍🏽") == [.delete(count: 1, at: 0), .insert("👍🏽", at: 0)])
        #expect(edits("a\rb", "a\r\nb") == [.delete(count: 1, at: 1), .insert("\r\n", at: 1)])
    }

    @Test func `a saved paragraph is words not characters nor the whole line`() {
        let operations = TextOperations(
            from: TextBuffer("The meeting is on Monday at noon in the small room."),
            to: TextBuffer("The meeting is on Friday at noon in the large room."))
        #expect(
            Array(operations) == [
                .delete(count: 6, at: 18), .insert("Friday", at: 18),
                .delete(count: 5, at: 40), .insert("large", at: 40),
            ])
    }

    @Test func `a change of line endings alone is seen and can be converted away`() {
        let lf = TextBuffer("one\ntwo\n")
        let crlf = TextBuffer("one\r\ntwo\r\n")
        #expect(!TextOperations(from: lf, to: crlf).isEmpty)
        #expect(TextLineEnding(of: lf) == .lf)
        #expect(TextLineEnding(of: crlf) == .crlf)
        #expect(TextLineEnding(of: TextBuffer("one\r\ntwo\n")) == nil)
        #expect(TextLineEnding(of: TextBuffer("no line")) == nil)
        #expect(TextLineEnding.lf.applied(to: crlf) == lf)
        #expect(TextLineEnding.crlf.applied(to: lf) == crlf)
        #expect(TextLineEnding.crlf.applied(to: crlf) == crlf)
    }

    @Test func `work is bounded when nothing matches and when everything is reordered`() throws {
        var random = SplitMix64(seed: 3)
        let lines = (0..<9_000).map { "line \($0) \(random.below(1_000_000))\n" }
        let old = TextBuffer(lines.joined())
        for new in [TextBuffer(lines.reversed().joined()), TextBuffer(lines.shuffled(using: &random).joined())] {
            var text = old
            try text.apply(TextOperations(from: old, to: new))
            #expect(text == new)
        }
        // No element is unique and every second one differs: neither Myers nor anchors help, work runs out.
        let numbers = ContiguousArray((0..<40_000).map { _ in Int32(random.below(50)) })
        let others = ContiguousArray((0..<40_000).map { _ in Int32(random.below(50)) })
        let diff = SequenceDiff(numbers, others, pieceCount: 50, work: 100_000)
        #expect(diff.work < 100_000)
        #expect(diff.hunks.map(\.old.count).reduce(0, +) <= 40_000)
    }

    @Test func `a shortest script is found when it is within the bound`() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let old = ContiguousArray((0..<random.below(14)).map { _ in Int32(random.below(4)) })
            let new = ContiguousArray((0..<random.below(14)).map { _ in Int32(random.below(4)) })
            let hunks = SequenceDiff(old, new, pieceCount: 4, work: SequenceDiff.workMax).hunks
            var rebuilt: [Int32] = []
            var next = 0
            for hunk in hunks {
                rebuilt += old[next..<hunk.old.lowerBound] + new[hunk.new]
                next = hunk.old.upperBound
            }
            #expect(rebuilt + old[next...] == Array(new))
            #expect(hunks.reduce(0) { $0 + $1.old.count + $1.new.count } == Self.distance(old, new))
        }
    }

    @Test func `a five megabyte line is compared and pasted`() throws {
        let long = String(repeating: "word ", count: 200_000)
        let old = TextBuffer(long + "end")
        let new = TextBuffer("start " + long + "and " + "end")
        #expect(TextOperations(from: old, to: new).eventCount == 10)
        #expect(TextOperations(from: TextBuffer(), to: old).count == 1)
    }

    /// Insertions and deletions of a shortest script, by the textbook table.
    private static func distance(_ old: ContiguousArray<Int32>, _ new: ContiguousArray<Int32>) -> Int {
        var row = Array(0...new.count)
        for (i, element) in old.enumerated() {
            var previous = row[0]
            row[0] = i + 1
            for (j, other) in new.enumerated() {
                let best = element == other ? previous : min(row[j], row[j + 1]) + 1
                previous = row[j + 1]
                row[j + 1] = best
            }
        }
        return row[new.count]
    }

    @Test(
        arguments: [
            ("Milk", "Milk, bread", true), ("Milk", "buy Milk", true), ("Milk\n bread", "eggs\r\nMilk\nx\n  rye bread ", true),
            ("", "x", true), ("\n \n", "", true), ("Milk", "Milky", false), ("Milk", "oatMilk", false), ("Milk", "buy Milk now", false),
            ("a\nb", "b\na", false), ("a\na", "a", false), ("Milk", "", false), ("日月", "日曜日から月", false), ("日月", "日月火", true),
            ("e", "e\u{301}", false), ("☐", "☑", false),
        ])
    func `of lines it is known whether all of them are there still`(earlier: String, text: String, keeps: Bool) {
        #expect(text.keepsLines(of: earlier) == keeps)
    }

    static func prose(words: Int, using random: inout SplitMix64) -> String {
        let vocabulary = ["the", "note", "été", "e\u{301}", "漢字", "👩\u{200D}💻", "🇫🇷", "ok.", "\r\n", "\n", "a-b", "\u{FEFF}"]
        return (0..<words).map { _ in random.pick(vocabulary) }.joined(separator: random.chance(80) ? " " : "")
    }

    private static func rewrite(of text: TextBuffer, using random: inout SplitMix64) -> TextOperations {
        let start = random.below(text.count + 1)
        let count = min(text.count - start, random.pick([0, 1, 5, 30]))
        return [.delete(count: count, at: start), .insert(prose(words: random.below(5), using: &random), at: start)]
    }
}

extension CaptureTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let old: String
        let new: String
    }

    static let troubles = [
        Pair(testDescription: "beyond the basic plane", old: "a😀b", new: "a😁b😀"),
        Pair(testDescription: "joined emoji", old: "👨\u{200D}👩\u{200D}👧", new: "👨\u{200D}👩\u{200D}👧\u{200D}👦"),
        Pair(testDescription: "flags", old: "🇩🇪🇫🇷🇮🇹", new: "🇩🇪🇮🇹"),
        Pair(testDescription: "Hangul in parts", old: "\u{1112}\u{1161}\u{11AB}", new: "\u{1112}\u{1161}\u{11A8}"),
        Pair(testDescription: "normalisation only", old: "\u{E9}t\u{E9}", new: "e\u{301}te\u{301}"),
        Pair(testDescription: "line endings", old: "a\nb\nc\n", new: "a\r\nb\r\nc\r\n"),
        Pair(testDescription: "mixed endings", old: "a\r\nb\nc\r", new: "a\nb\r\nc"),
        Pair(testDescription: "byte order mark", old: "\u{FEFF}text", new: "text"),
        Pair(testDescription: "final newline", old: "text\n", new: "text"),
        Pair(testDescription: "NUL and replacement character", old: "a\0b", new: "a\u{FFFD}b\0"),
        Pair(testDescription: "same letter repeated", old: "aaaaaaaa", new: "aaaaa"),
        Pair(testDescription: "lines swapped", old: "one\ntwo\nthree\n", new: "three\ntwo\none\n"),
        Pair(testDescription: "equal", old: "same", new: "same"),
        Pair(
            testDescription: "many flags in a row", old: String(repeating: "🇫🇷", count: 400), new: String(repeating: "🇫🇷", count: 399) + "🇫"),
    ]
}
