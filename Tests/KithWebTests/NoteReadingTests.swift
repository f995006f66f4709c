import Foundation
import GRDB
import KithFiles
import KithNotes
import TestSupport
import Testing

@testable import KithWeb

@Suite("A text that somebody else wrote keeps the page busy, or is shown as what it is not", .timeLimit(.minutes(1)))
struct NoteReadingTests {
    @Test(
        "links of a wiki are in one line, and lead to what is before the bar",
        arguments: [
            ("a [[b]] c", "a [b](<b>) c"), ("[[b|words]]", "[words](<b>)"), ("![[b]]", "![b](<b!>)"), ("[[b", "[[b"), ("b]]", "b]]"),
            ("[[a\nb]] [[c]]", "[[a\nb]] [c](<c>)"), ("[[a\r\n[[b]]", "[[a\r\n[b](<b>)"), ("[[no]] [[b]]", "[[no]] [b](<b>)"),
            ("[[ b # c ]]", "[ b # c ](<b>)"), ("[[b]]![[b]]", "[b](<b>)![b](<b!>)"), ("]] [[b]]", "]] [b](<b>)"), ("[[]]", "[](<>)"),
            ("[[\u{E9}\u{1F600}]]\u{301}", "[\u{E9}\u{1F600}](<\u{E9}\u{1F600}>)\u{301}"), ("[b]", "[b]"),
        ])
    func links(_ text: String, _ expected: String) {
        let replaced = WikiLinks.replaced(text) { name, isEmbedded in name == "no" ? nil : "<\(name)\(isEmbedded ? "!" : "")>" }
        #expect(replaced == expected)
    }

    @Test("a text of four megabytes of brackets, of links or of boxes is read in a moment, and few of the links are looked up")
    func long() throws {
        let notes = try NotesStore(DatabaseQueue())
        let reading = NoteReading(notes: notes, attachments: [])
        for piece in ["[[", "[[ ", "[[\n", "]]", "![[", "[[a\n]]"] {
            let text = String(repeating: piece, count: (4 << 20) / piece.utf8.count)
            #expect(WikiLinks.replaced(text) { _, _ in "x" } == text, "\(piece.debugDescription)")
        }
        let html = reading.html(String(repeating: "[[a]] ", count: 100_000))
        #expect(html.ranges(of: "href=\"/new?title=a\"").count == NoteReading.linksMax)
        #expect(NoteReading.plainChecks(String(repeating: "- [xx] a\n", count: 100_000)).hasSuffix("- [x] a\n"))
    }
}
