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

    @Test("links to files beside the text lead to the attachments of these names, and code stays as it is")
    func files() throws {
        let folder = try TemporaryFolder()
        let notes = try NotesStore.open(folder.url.appending(path: "notes.sqlite"))
        let note = try notes.add(title: "Note", body: "")
        var paths: [String] = []
        for name in ["a b.png", "x&y.png", "it's.png"] {
            try Data(name.utf8).write(to: folder.url.appending(path: name))
            paths.append("/file/" + (try notes.attach(folder.url.appending(path: name), to: note.id)).id.uuidString.lowercased())
        }
        let reading = NoteReading(notes: notes, attachments: try notes.attachments(of: note.id))
        let html = reading.html(
            """
            ![1](attachments/a%20b.png) [2](<../attachments/x&y.png>) ![3](attachments/no.png) ![5](attachments/it's.png) [4][d] `src="attachments/a%20b.png"`

                ![](attachments/a%20b.png)

            [d]: ./attachments/a%20b.png
            """)
        #expect(html.contains("<img src=\"\(paths[0])\"") && html.contains("<a href=\"\(paths[1])\""), "\(html)")
        #expect(html.contains("<img src=\"\(paths[2])\""), "\(html)")
        #expect(html.contains("<a href=\"\(paths[0])\"") && html.contains("attachments/no.png"), "\(html)")
        #expect(html.ranges(of: "attachments/a%20b.png").count == 2, "\(html)")
        let long = String(repeating: "![](attachments/a%20b.png) ", count: 40_000)
        #expect(reading.html(long).ranges(of: paths[0]).count == 40_000)
    }

    @Test("links lead to a note by its title, in another case, by the last part of a path, and by the name of its file")
    func notesByName() throws {
        let notes = try NotesStore(DatabaseQueue())
        var ids: [String: String] = [:]
        for title in ["Home", "home page", "Other / slash", "Plan", "A/B", "Read.md", "CON", "plan"] {
            ids[title] = try notes.add(title: title).id.uuidString.lowercased()
        }
        let reading = NoteReading(notes: notes, attachments: [])
        for (text, title) in [
            ("[[Home]]", "Home"), ("[[home]]", "Home"), ("[[HOME|x]]", "Home"), ("[[Home.md]]", "Home"), ("[[Home#part]]", "Home"),
            ("[[Projects/Sub folder/Plan|the plan]]", "Plan"), ("[[Projects/plan]]", "plan"), ("[[Projects/PLAN.md]]", "plan"),
            ("[[A/B]]", "A/B"), ("[[Read.md]]", "Read.md"), ("[[Home Page]]", "home page"),
            ("[x](Home.md)", "Home"), ("[x](./home.md)", "Home"), ("[x](../up/Home.md#part)", "Home"),
            ("[x](Other%20-%20slash.md)", "Other / slash"),
            ("[x](<Other - slash.md>)", "Other / slash"), ("[x](CON_.md)", "CON"), ("[x](Read.md)", "Read.md"),
            ("[x][y]\n\n[y]: Home.md", "Home"),
        ] {
            let html = reading.html(text)
            #expect(html.contains("href=\"/note/\(ids[title] ?? "")\""), "\(text): \(html)")
        }
        for (text, part) in [
            ("[[Nowhere]]", "href=\"/new?title=Nowhere\""), ("[[Folder/Nowhere]]", "href=\"/new?title=Folder%2FNowhere\""),
            ("[x](No%20where.md)", "href=\"/new?title=No%20where\""), ("[[Other - slash]]", "href=\"/new?title=Other"),
            ("[x](/Home.md)", "href=\"/Home.md\""), ("[x](https://example.com/Home.md)", "href=\"https://example.com/Home.md\""),
            ("[x](//example.com/Home.md)", "href=\"//example.com/Home.md\""), ("![x](Home.md)", "src=\"Home.md\""),
            ("`[[home]] [x](Home.md)`", "[x](Home.md)"), ("[x](Home.txt)", "href=\"Home.txt\""),
        ] {
            let html = reading.html(text)
            #expect(html.contains(part), "\(text): \(html)")
        }
    }

    @Test("an attachment is found by the last part of a path, too")
    func filesByLastPart() throws {
        let folder = try TemporaryFolder()
        let notes = try NotesStore.open(folder.url.appending(path: "notes.sqlite"))
        let note = try notes.add(title: "Note", body: "")
        try Data("png".utf8).write(to: folder.url.appending(path: "map.png"))
        let id = try notes.attach(folder.url.appending(path: "map.png"), to: note.id).id.uuidString.lowercased()
        let html = NoteReading(notes: notes, attachments: try notes.attachments(of: note.id)).html("![[assets/map.png|the map]]")
        #expect(html.contains("<img src=\"/file/\(id)\" alt=\"the map\""), "\(html)")
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
