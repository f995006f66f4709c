import Foundation
import GRDB
import KithStore
import KithSync
import KithText
import Testing

@Suite("Text written on two machines at once is lost or torn")
struct ConcurrentEditTests {
    /// Base, one edit, the other edit, the merge.
    static let merges: [(String, String, String, String)] = [
        ("milk, bread", "oat milk, bread", "milk, bread, tea", "oat milk, bread, tea"),
        // Delete all ∥ edit inside: the edit survives alone.
        ("one two three", "", "one two and a half three", "and a half "),
        ("one two three", "one three", "one three", "one three"),
        ("one two three", "one three", "one two, too, three", "one , too,three"),
        ("# first\n", "a\n# first\n", "b\n# first\n", "a\nb\n# first\n"),
        ("", "left", "right", "leftright"),
        ("x", "x👨‍👩‍👧", "", "👨‍👩‍👧"),
    ]

    @Test(arguments: merges)
    func `two edits of one text are both there`(base: String, mine: String, theirs: String, expected: String) throws {
        let pair = try TextPair(base)
        try pair.a.save(mine)
        try pair.b.save(theirs)
        #expect(try pair.meet() == expected)
    }

    @Test func `a new page of a known author is just taken in`() throws {
        let pair = try TextPair("the first")
        let others: [String?] = ["a whole page", "", nil]
        for (index, body) in others.enumerated() {
            try pair.a.insert(body, row: UInt64(index) + 2)
            try pair.a.insert(body, row: UInt64(index) + 12)
            try pair.a.save("edited", row: UInt64(index) + 12)
            let before = try pair.b.store.vector()
            let slice = try pair.a.store.slice(SliceRequest(since: before))
            #expect(slice.rows.count == 2 && slice.rows.allSatisfy { !$0.isCut })
            guard case .applied(let summary) = try pair.b.store.apply(slice) else { throw StoreError(.failed, "it wants everything") }
            // Nobody writes anything because of it.
            #expect(summary.vector == slice.targetVector)
            #expect(try pair.b.body(row: UInt64(index) + 2) == body)
            #expect(try pair.b.body(row: UInt64(index) + 12) == "edited")
        }
        try pair.meet()
    }

    @Test func `both words stay whole when one word is replaced twice`() throws {
        let pair = try TextPair("see you tomorrow")
        try pair.a.save("see you friday")
        try pair.b.save("see you sunday")
        let merged = try pair.meet()
        #expect(["see you fridaysunday", "see you sundayfriday"].contains(merged))
    }

    @Test func `what is typed at one place letter by letter and sent letter by letter stays in runs`() throws {
        for start in ["", "- end", "begin -"] {
            let pair = try TextPair(start)
            let at = start.hasPrefix("-") ? 0 : start.count
            for (store, letters) in [(pair.a, "abcdef"), (pair.b, "ghijkl")] {
                // Forward on one machine, each before the last on the other.
                for (index, letter) in letters.enumerated() {
                    try store.inner.database.write { db in
                        try store.store.editText(
                            db, table: "page", id: rowID(1), column: "body",
                            [.insert(String(letter), at: letters.first == "a" ? at + index : at)])
                    }
                }
            }
            let merged = try #require(try pair.meet())
            #expect(merged.contains("abcdef") && merged.contains("lkjihg"), "\(merged)")
        }
    }

    @Test func `rows that two machines make under one id hold both texts`() throws {
        let (a, b) = (try TextStore(1), try TextStore(2))
        try a.insert("from a. ")
        try b.insert("from b. ")
        try a.receive(from: b)
        try b.receive(from: a)
        #expect(try a.body() == "from a. from b. ")
        #expect(try a.body() == b.body())
        #expect(try a.store.digest() == b.store.digest())
        try a.expectSound()
    }

    @Test func `an edit that did not know of the deletion brings the row back with all its text`() throws {
        let pair = try TextPair("keep this")
        try pair.a.delete()
        try pair.b.save("keep this, please")
        #expect(try pair.meet() == "keep this, please")
    }

    @Test func `a deleted row stays deleted when its text was not edited`() throws {
        let pair = try TextPair("gone")
        try pair.b.save("gone soon")
        try pair.a.receive(from: pair.b)
        try pair.a.delete()
        try pair.meet()
        #expect(try !pair.a.exists() && !pair.b.exists())
    }

    @Test func `NULL is not the empty text, and typing wins over NULL`() throws {
        let pair = try TextPair(nil)
        #expect(try pair.meet() == nil)
        try pair.a.save("")
        #expect(try pair.meet() == "")
        try pair.a.save("text")
        #expect(try pair.meet() == "text")
        try pair.a.save(nil)
        try pair.b.save("text, and more")
        #expect(try pair.meet() == ", and more")
        try pair.b.save(nil)
        #expect(try pair.meet() == nil)
        #expect(try pair.a.exists())
    }

    @Test func `three machines in a row agree, whoever passed a change on`() throws {
        let pair = try TextPair("start")
        let c = try TextStore(3)
        try c.receive(from: pair.b)
        try pair.a.save("a start")
        try c.save("start c")
        try pair.b.receive(from: c)
        try pair.b.save("start b c")
        try pair.meet()
        try c.receive(from: pair.a)
        #expect(try c.body() == pair.a.body())
        #expect(try c.store.digest() == pair.a.store.digest())
        #expect(try c.revisions().count == 4)
    }
}
