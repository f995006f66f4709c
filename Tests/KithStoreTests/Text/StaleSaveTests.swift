import Foundation
import GRDB
import KithStore
import KithText
import Testing

@Suite("An editor that had the text open for a while deletes what others wrote meanwhile")
struct StaleSaveTests {
    @Test func `a save against its base leaves what came after in place, over many exchanges`() throws {
        let pair = try TextPair("title\n\nfirst line\n")
        let base = try pair.a.version()
        let loaded = try #require(try pair.a.body())
        for round in 0..<20 {
            try pair.b.save(try #require(try pair.b.body()) + "remote \(round)\n")
            try pair.a.receive(from: pair.b)
        }
        try pair.a.save(loaded.replacing("first", with: "very first"), base: base)
        let merged = try #require(try pair.meet())
        #expect(merged.hasPrefix("title\n\nvery first line\nremote 0\n"))
        #expect(merged.hasSuffix("remote 19\n"))
    }

    @Test func `what a stale save meets on its own device is merged and no place in conflict, and what it meets elsewhere is one`() throws {
        let pair = try TextPair("Train: 9:00\n")
        let base = try pair.a.version()
        try pair.a.save("Train: 10:30\n")
        try pair.a.save("Train: 8:15\n", base: base)
        // It was transformed before anybody saw it: for all others it was written after the first.
        #expect(try pair.meet() == "Train: 10:30815\n")
        for store in [pair.a, pair.b] { #expect(try store.store.conflicts().isEmpty) }
        try pair.b.save("Train: noon\n")
        try pair.a.save("Train: midnight\n", base: base)
        try pair.meet()
        for store in [pair.a, pair.b] { #expect(try store.store.conflicts().count == 1) }
    }

    @Test func `kith_text merges in SQL, with the text that was loaded as the base`() throws {
        let store = try TextStore(1)
        try store.insert("one two three")
        try store.save("one two three four")
        func save(_ new: String?, base: String?) throws {
            try store.inner.execute("UPDATE page SET body = kith_text(?, ?, body) WHERE id = ?", [new, base, key(1)])
        }
        try save("zero one two three", base: "one two three")
        #expect(try store.body() == "zero one two three four")
        let sequence = try store.inner.sequence()
        try save("stale", base: "stale")
        #expect(try store.body() == "zero one two three four")
        #expect(try store.inner.sequence() == sequence)
        try save("x", base: "zero one two three four")
        #expect(try store.body() == "x")
        try store.save(nil)
        try save("more", base: "")
        #expect(try store.body() == "more")
        #expect(throws: (any Error).self) { try store.inner.execute("UPDATE page SET body = kith_text('a', 'b')") }
        try store.expectSound()
    }

    @Test func `a save that comes to what is there makes no commit`() throws {
        let store = try TextStore(1)
        try store.insert("same")
        let base = try store.version()
        try store.save("changed")
        let sequence = try store.inner.sequence()
        try store.save("changed", base: base)
        try store.save("same", base: base)
        #expect(try store.inner.sequence() == sequence)
        #expect(try store.body() == "changed")
    }

    @Test func `a base that is not of this text is refused, and nothing is written`() throws {
        let store = try TextStore(1)
        try store.insert("mine")
        try store.insert("other", row: 2)
        let foreign = try store.version(row: 2)
        #expect(throws: StoreError.self) { try store.save("x", base: foreign) }
        #expect(throws: StoreError.self) { try store.save("x", base: TextVersion([]), row: 3) }
        #expect(try store.body() == "mine")
        #expect(TextVersion("nonsense") == nil && TextVersion(foreign.description) == foreign)
    }

    @Test(arguments: [(TextUnit.utf8, 3..<7), (.utf16, 2..<4), (.scalars, 2..<3)])
    func `a position counts in the unit it is given in`(unit: TextUnit, emoji: Range<Int>) throws {
        let store = try TextStore(1)
        try store.insert("aé👍z".precomposedStringWithCanonicalMapping)
        try store.inner.database.write { db in
            try store.store.replaceText(db, table: "page", id: rowID(1), column: "body", emoji, in: unit, with: "!")
        }
        #expect(try store.body() == "aé!z")
        for bad in unit == .utf8 ? [2..<3, -1..<0, 0..<99] : [0..<99, -1..<0] {
            #expect(throws: StoreError.self) {
                try store.inner.database.write { db in
                    try store.store.replaceText(db, table: "page", id: rowID(1), column: "body", bad, in: unit, with: "!")
                }
            }
        }
        try store.expectSound()
    }
}
