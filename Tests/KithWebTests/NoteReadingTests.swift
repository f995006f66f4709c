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

    @Test(
        "links that repeat a long definition again and again make no large page",
        arguments: [
            ("[a]: /", "", "[a]"), ("> - [a]: <", ">", "[x][a]"), ("- [ ] [a]: /", "", "[a][]"), ("[a]: / \"", "\"", "![a]"),
            ("[a]:\n/x\n(1\n    >\n[b]: y\n\\) ", ")", "[A]"), ("[\u{DF}]: /", "", "[\u{1E9E}]"), ("[a\nb]: /", "", "[a  b]"),
            ("[a]: <\\>", ">", "[a]"), ("\u{FEFF}[a]: /", "", "[a]"), ("x\r\r1. [a]: /", "", "[a]"),
        ])
    func repeatedLinks(_ start: String, _ end: String, _ link: String) {
        func text(_ bytes: Int, _ links: Int) -> String {
            start + String(repeating: "x", count: bytes) + end + "\n\n" + String(repeating: link + " ", count: links)
        }
        // It is one.
        let small = MarkdownHTML.html(text(100, 3))
        #expect(small.ranges(of: String(repeating: "x", count: 100)).count == 3, "\(small)")
        let large = text(20_000, 12_000)
        let html = MarkdownHTML.html(large)
        #expect(html.utf8.count < 2 * large.utf8.count && html.hasPrefix("<pre>") && html.contains("xxx"))
    }

    @Test("a table whose columns or cells the parser would take minutes for is shown as text, one of a thousand columns as a table")
    func wideTables() {
        func table(_ columns: Int, _ rows: Int) -> String {
            let head = [String](repeating: "|a", count: columns).joined() + "\n" + [String](repeating: "|-", count: columns).joined() + "\n"
            return "text\n\n" + head + String(repeating: "|b\n", count: rows) + "\nend\n"
        }
        for (columns, rows) in [(20_000, 1), (999, 10_000), (2, 400_000)] {
            let html = MarkdownHTML.html(table(columns, rows))
            #expect(html.hasPrefix("<pre>text") && html.contains("|b"), "\(columns) by \(rows)")
        }
        for (columns, rows) in [(999, 100), (2, 10_000)] {
            let html = MarkdownHTML.html(table(columns, rows))
            #expect(html.ranges(of: "<th>").count == columns && html.ranges(of: "<tr>").count == rows + 1, "\(columns) by \(rows)")
        }
        // Many that are each within the limits, and lines that end as they did on old machines.
        let many = MarkdownHTML.html(String(repeating: table(999, 490), count: 100))
        #expect(many.hasPrefix("<pre>text"))
        for end in ["\r", "\r\n"] {
            let html = MarkdownHTML.html(table(900, 3_000).replacingOccurrences(of: "\n", with: end))
            #expect(html.hasPrefix("<pre>text"), "\(end.utf8.count)")
            let small = MarkdownHTML.html(table(3, 2).replacingOccurrences(of: "\n", with: end))
            #expect(small.ranges(of: "<tr>").count == 3)
        }
        for (space, indent) in [("\u{B}", ""), ("\u{C}", ""), ("", "> "), ("", "12) ")] {
            let head = indent + [String](repeating: "|a", count: 900).joined() + "\n"
            let rows = String(repeating: indent + "b\n", count: 3_000)
            let text = head + indent + [String](repeating: "|-" + space, count: 900).joined() + "\n" + rows
            #expect(MarkdownHTML.html(text).hasPrefix("<pre>"), "\(indent)")
        }
        // Code is no table, however long.
        let code = "```\n| a | b | c | d |\n" + String(repeating: "code\n", count: 400_000) + "```\n"
        #expect(MarkdownHTML.html(code).hasPrefix("<pre><code>"))
        // Rows of tables that are apart are not one table.
        #expect(MarkdownHTML.html(String(repeating: table(10, 1), count: 10_000)).ranges(of: "<table>").count == 10_000)
    }

    @Test("a long note with many links, with titles, too, or with pictures within itself is shown as always")
    func longNotes() {
        let items = (0..<20_000).map { "- [\($0 % 2 == 0 ? " " : "x")] item [\($0)](https://kith.example/\($0)) [r\($0 % 800)]\n" }
        let definitions = (0..<800).map { "[r\($0)]: https://kith.example/some/long/path/\($0) \"The title of \($0)\"\n" }
        let list = MarkdownHTML.html((items + ["\n"] + definitions).joined())
        #expect(list.hasPrefix("<ul>") && list.ranges(of: "title=\"The title of 7\"").count == 25)
        let picture = "data:image/png;base64," + String(repeating: "A", count: 1 << 20)
        let pictures = (0..<3).map { "\n\n[image\($0)]: <\(picture)>\n" }.joined()
        let document = MarkdownHTML.html("![][image0] ![][image1] ![][image2] " + String(repeating: "[x](y) ", count: 100) + pictures)
        #expect(document.hasPrefix("<p>") && document.ranges(of: "<img ").count == 3)
    }

    @Test("links lead to a note by its title, in another case, by the last part of a path, and by the name of its file")
    func notesByName() throws {
        let notes = try NotesStore(DatabaseQueue())
        var ids: [String: String] = [:]
        for title in ["Home", "home page", "Other / slash", "Plan", "A/B", "Read.md", "CON", "plan"] {
            // Of two that fit, the one counts that was written last: in another millisecond.
            if title == "plan" { Thread.sleep(forTimeInterval: 0.002) }
            ids[title] = try notes.add(title: title).id.uuidString.lowercased()
        }
        let reading = NoteReading(notes: notes, attachments: [])
        for (text, title) in [
            ("[[Home]]", "Home"), ("[[home]]", "Home"), ("[[HOME|x]]", "Home"), ("[[Home.md]]", "Home"), ("[[Home#part]]", "Home"),
            ("[[Projects/Sub folder/Plan|the plan]]", "Plan"), ("[[Projects/plan]]", "plan"), ("[[Projects/PLAN.md]]", "plan"),
            ("[[A/B]]", "A/B"), ("[[Read.md]]", "Read.md"), ("[[Home Page]]", "home page"),
            ("[x](Home.md)", "Home"), ("[x](./home.md)", "Home"), ("[x](../up/Home.md#part)", "Home"),
            ("[x](Other%20-%20slash.md)", "Other / slash"),
            ("[x](<Other - slash.md>)", "Other / slash"), ("[x](Home.txt)", "Home"), ("[x](home.HTML#part)", "Home"),
            ("[x](CON_.md)", "CON"), ("[x](Read.md)", "Read.md"),
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
            ("`[[home]] [x](Home.md)`", "[x](Home.md)"), ("[x](Home.pdf)", "href=\"Home.pdf\""),
            ("[x](Nowhere.txt)", "href=\"Nowhere.txt\""),
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
