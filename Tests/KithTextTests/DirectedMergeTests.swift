import KithCausality
import Testing

@testable import KithText

/// Risk: a merge that is correct by the rules and still not what two people meant.
@Suite struct DirectedMergeTests {
    /// What comes out when two devices save `left` and `right`, each having seen `base`; the same on both.
    private func merge(_ base: String, _ left: String, _ right: String) throws -> String {
        var mine = TextDocument()
        if !base.isEmpty { try mine.edit([.insert(base, at: 0)], as: dot(1, 1)) }
        var theirs = mine
        let start = mine.text
        let mineChange = try mine.edit(TextOperations(from: start, to: TextBuffer(left)), as: dot(1, 2)).change
        let theirChange = try theirs.edit(TextOperations(from: start, to: TextBuffer(right)), as: dot(2, 1)).change
        _ = try mine.merge([theirChange])
        _ = try theirs.merge([mineChange])
        #expect(mine.text == theirs.text)
        return mine.text.string
    }

    @Test func `an edit inside a deleted text survives alone`() throws {
        #expect(try merge("Hello world", "", "Hello brave world") == "brave ")
    }

    @Test func `two deletions of the same are one`() throws {
        #expect(try merge("Hello brave world", "Hello world", "Hello world") == "Hello world")
    }

    @Test func `an insertion inside a deleted range stays`() throws {
        #expect(try merge("one two three four", "one four", "one two and a half three four") == "one and a half four")
    }

    @Test func `two replacements of one word are both kept whole`() throws {
        #expect(try merge("see you monday", "see you friday", "see you sunday") == "see you fridaysunday")
        #expect(try merge("color: red", "color: green", "color: black") == "color: greenblack")
    }

    @Test func `an edit of a moved paragraph stays at the old place`() throws {
        let merged = try merge("Alpha bravo.\nCharlie.\n", "Charlie.\nAlpha bravo.\n", "Alpha new bravo.\nCharlie.\n")
        #expect(merged.contains("Charlie.\nAlpha bravo.\n"))
        #expect(merged.contains("new "))
    }

    @Test func `two entries prepended are both whole`() throws {
        let merged = try merge("- old\n", "- mine\n- old\n", "- theirs\n- old\n")
        #expect(merged == "- mine\n- theirs\n- old\n")
    }

    @Test func `a modified emoji and its deletion leave valid text`() throws {
        #expect(try merge("a👍b", "a👍🏽b", "ab") == "a👍🏽b")
    }

    @Test func `an insertion between carriage return and line feed keeps every scalar`() throws {
        var mine = TextDocument()
        try mine.edit([.insert("a\r\nb", at: 0)], as: dot(1, 1))
        var theirs = mine
        let split = try theirs.edit([.insert("x", at: 2)], as: dot(2, 1)).change
        let cut = try mine.edit([.delete(count: 2, at: 1)], as: dot(1, 2)).change
        _ = try mine.merge([split])
        _ = try theirs.merge([cut])
        #expect(mine.text.string == "axb")
        #expect(theirs.text == mine.text)
    }

    // MARK: Interleaving

    /// Types `text` one scalar at a time at `position`, forward, or each before the last.
    private func type(_ text: String, at position: Int, backward: Bool, _ document: inout TextDocument, _ replica: Int)
        throws -> [TextChange]
    {
        try text.unicodeScalars.enumerated().map { offset, scalar in
            let place = backward ? position : position + offset
            return try document.edit(
                [.insert(String(scalar), at: place)], as: dot(replica, UInt64(offset) + 1)
            ).change
        }
    }

    @Test(arguments: [2, 3, 4, 5]) func `runs typed at one place are never interleaved`(_ sites: Int) throws {
        for (style, position) in [(0, 0), (0, 3), (0, 6), (1, 0), (1, 3), (1, 6), (2, 0), (2, 3), (2, 6)] {
            for hasTombstones in [false, true] {
                var start = TextDocument()
                try start.edit([.insert("......", at: 0)], as: dot(9, 1))
                if hasTombstones {
                    try start.edit([.insert("##", at: position), .delete(count: 2, at: position)], as: dot(9, 2))
                }
                var changes: [TextChange] = []
                for site in 0..<sites {
                    var document = start
                    let word = String(repeating: Character(Unicode.Scalar(UInt8(65 + site))), count: 8)
                    let backward = style == 1 || style == 2 && site.isMultiple(of: 2)
                    changes += try type(word, at: position, backward: backward, &document, site)
                }
                var merged = start
                _ = try merged.merge(changes)
                let runs = merged.text.string.filter { $0 != "." }
                let switches = zip(runs, runs.dropFirst()).count { $0 != $1 }
                #expect(runs.count == 8 * sites)
                #expect(switches == sites - 1)
            }
        }
    }
}
