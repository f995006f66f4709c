import Foundation
import KithNotes
import Testing

@testable import KithFiles

@Suite("A part of an odd export is not imported, or only half of it, and nothing says so")
struct OddExportTests {
    private let desk: ImportDesk

    init() throws {
        desk = try ImportDesk()
    }

    private func keep(_ place: String) throws {
        try desk.folder.write("\(place)/Keep/List.json", #"{"title":"List","textContent":"x","userEditedTimestampUsec":1000}"#)
    }

    @Test func `files beside a folder of Keep are named, each by itself`() throws {
        try keep("all")
        for name in ["Important.md", "deep/Other.txt", ".hidden"] { try desk.folder.write("all/\(name)", "text") }
        let report = try desk.run("all")
        #expect(report.added == 1 && report.leftOut == 2, "\(report)")
        #expect(report.remarks.filter(\.isLeftOut).map(\.origin) == ["Important.md", "deep/Other.txt"], "\(report)")
    }

    @Test func `what else is in a Takeout is no note, and what lies beside it is named`() throws {
        try keep("all/Takeout")
        for name in ["Takeout/archive_browser.html", "Takeout/Mail/all.mbox", "Important.md"] {
            try desk.folder.write("all/\(name)", "text")
        }
        let report = try desk.run("all")
        #expect(report.added == 1 && report.remarks.map(\.origin) == ["Important.md"] && report.leftOut == 1, "\(report)")
    }

    private func item(_ id: Character, _ text: String, kind: Int = 1, _ more: String = "") throws {
        let id = String(repeating: id, count: 32)
        try desk.folder.write("jex/\(id).md", "\(text)\n\nid: \(id)\n\(more)type_: \(kind)")
    }

    @Test func `an item of Joplin that is too large costs no other, and files that are none are counted`() throws {
        try item("a", "Small\n\ntext")
        try item("b", "Large\n\n" + String(repeating: "x", count: 9 << 20))
        try item("c", "picture.png", kind: 4, "ocr_details: " + String(repeating: "y", count: 9 << 20) + "\n")
        try item("d", "", kind: 13)
        try desk.folder.write("jex/Important.md", "text")
        let report = try desk.run("jex")
        #expect(report.added == 1 && report.leftOut == 3, "\(report)")
        let left = Set(report.remarks.filter(\.isLeftOut).map(\.origin))
        #expect(left == Set(["Important.md"] + ["b", "c"].map { String(repeating: $0, count: 32) + ".md" }), "\(report)")
    }

    @Test(arguments: ["a\r\nb\r", "a\r\nb", "a\rb", "\r", "a\r\n"])
    func `line ends of other systems in a note of Joplin stay as they are`(body: String) throws {
        try item("a", "Note\n\n\(body)")
        #expect(try desk.run("jex").added == 1)
        #expect(try desk.notes.list().first?.body.utf8.elementsEqual(body.utf8) == true)
    }

    @Test(arguments: ["zip", "folder"])
    func `a vault that is not the outermost folder is one`(kind: String) throws {
        try desk.folder.write("all/V/.obsidian/app.json", "{}")
        try desk.folder.write("all/V/N.md", "x #plan ![[sub/p.png]]")
        try desk.folder.write("all/V/files/sub/p.png", "picture")
        try desk.folder.write("all/V/.trash/Old.md", "old")
        try desk.folder.write("all/Beside.md", "y #none")
        let script = "import shutil; shutil.make_archive('all', 'zip', 'all')"
        if kind == "zip" { try desk.folder.shell("python3 -c \"\(script)\"") }
        let report = try desk.run(kind == "zip" ? "all.zip" : "all")
        #expect(report.added == 3 && report.addedToTrash == 1 && report.attachments == 1, "\(report)")
        #expect(try desk.notes.titled("N").map { Array($0.tags) } == ["plan"])
        #expect(try desk.notes.titled("Beside").map { Array($0.tags) } == [])
    }

    @Test func `what Obsidian finds is attached: in tables, by a part of its path, whatever the case`() throws {
        try desk.folder.write("vault/.obsidian/app.json", "{}")
        for name in ["t.png", "sub/pic.png", "Other.png"] { try desk.folder.write("vault/assets/\(name)", name) }
        try desk.folder.write("vault/N.md", "| a |\n|---|\n| ![[t.png\\|100]] |\n\n![[sub/pic.png]] ![[other.PNG]] ![[c.png]]\n")
        #expect(try desk.run("vault").attachments == 3)
        let note = try #require(try desk.notes.titled("N"))
        #expect(try desk.notes.attachments(of: note.id).map(\.name) == ["Other.png", "pic.png", "t.png"])
        #expect(note.body.contains("![[t.png\\|100]]") && note.body.contains("![[attachments/Other.png]]"), "\(note.body)")
        #expect(try desk.run("vault").present == 1)
    }

    @Test func `a link of Markdown in a vault means a file in any folder, as Obsidian's does`() throws {
        try desk.folder.write("v/.obsidian/app.json", "{}")
        try desk.folder.write("v/Attach/My pic.png", "PNG")
        try desk.folder.write(
            "v/Notes/A.md", "![](My%20pic.png) ![](attach/my%20pic.png) ![](https://example.com/My%20pic.png) ![](no.png)")
        let report = try desk.run("v")
        #expect(report.added == 1 && report.attachments == 1 && report.remarks.isEmpty, "\(report)")
        let body = try desk.notes.titled("A")?.body
        #expect(
            body == "![](attachments/My%20pic.png) ![](attachments/My%20pic.png) ![](https://example.com/My%20pic.png) ![](no.png)")
    }

    @Test func `a note of a TextBundle has the bundle's name, and stays one if an earlier version has imported it`() throws {
        try desk.folder.write("b/Trip.textbundle/text.md", "![](assets/p.png)")
        try desk.folder.write("b/Trip.textbundle/assets/p.png", "PNG")
        try desk.folder.write("b/Trip.textbundle/info.json", "{}")
        try desk.folder.write("b/My.Notes.textbundle/text.markdown", "# My notes")
        try desk.folder.write("b/plain/text.md", "plain")
        let report = try desk.run("b")
        #expect(report.added == 3 && report.attachments == 1 && report.remarks.isEmpty, "\(report)")
        #expect(try Set(desk.notes.list().map(\.title)) == ["Trip", "My.Notes", "text"])
        try desk.folder.write("One.textbundle/text.md", "one")
        try desk.folder.write("One.textbundle/info.json", "{}")
        #expect(try desk.run("One.textbundle").remarks.isEmpty && desk.notes.titled("One") != nil)
        // As an earlier version has imported one.
        let again = try ImportDesk()
        let id = UUID.derived(from: ["kith import 1", "My.Notes.textbundle/text.markdown", "text", "# My notes"], milliseconds: nil)
        let note = Note(id: id, title: "text", body: "# My notes", createdMilliseconds: 1, updatedMilliseconds: 1)
        #expect(try again.notes.insert([WholeNote(note)]) == [.added])
        #expect(try NoteImport.run(desk.folder.path("b"), into: again.notes).present == 1)
    }

    @Test func `what looks like a link in code stays, and the same note is known again`() throws {
        let code = "```md\n![](a.png)\n```\n\n> ~~~\n> [x](a.png)\n> ~~~\n\nSee `![](a.png)` and ``[`](a.png)``, \\`, a ` and\n"
        let text = code + "- ![](a.png) `\n\n1. ` ![](a.png)\n2. ![[sub/a.png]] `x`\n\n````\n```\n![](a.png)\n"
        try desk.folder.write("c/N.md", text)
        for name in ["a.png", "sub/a.png"] { try desk.folder.write("c/\(name)", name) }
        #expect(try desk.run("c").attachments == 2)
        let linked =
            "- ![](attachments/a.png) `\n\n1. ` ![](attachments/a.png)\n2. ![[attachments/a (2).png]] `x`\n\n````\n```\n![](a.png)\n"
        #expect(try desk.notes.titled("N")?.body == code + linked)
        #expect(try desk.run("c").present == 1)
    }

    @Test func `links with spaces, escaped parentheses or without quotes are followed`() throws {
        try desk.folder.write(
            "l/N.md", "![]( a.png )\n![](\na.png)\n![](b\\(1.png)\n<img src=a.png alt=x> src=a.png <p>\n![](<a.png>) ![]( )\n")
        for name in ["a.png", "b(1.png"] { try desk.folder.write("l/\(name)", name) }
        #expect(try desk.run("l").attachments == 2)
        let expected = "![]( attachments/a.png )\n![](\nattachments/a.png)\n![](attachments/b%281.png)\n"
        let tag = "<img src=attachments/a.png alt=x> src=a.png <p>\n![](<attachments/a.png>) ![]( )\n"
        #expect(try desk.notes.titled("N")?.body == expected + tag)
        #expect(try desk.run("l").present == 1)
    }

    @Test func `links in every form that Markdown and HTML have are followed`() throws {
        let links = [
            ("[d]:\n  NAME", "a.png", "a.png"), ("> [r]: NAME", "a.png", "a.png"), ("> - x\n\n>   [q]: NAME\n", "a.png", "a.png"),
            ("<img alt=\"\"\n src = \"NAME\">", "a.png", "a.png"), ("<img src= 'NAME' >", "a.png", "a.png"),
            ("<img src=\"NAME\">", "a &amp; &#39;b&#39;.png", "a%20&%20'b'.png"), ("[x](<NAME>)", "a\\<b\\>.png", "ab.png"),
            ("![](NAME)", "a.png?raw=true", "a.png?raw=true"),
        ]
        let text = links.map { $0.0.replacing("NAME", with: $0.1) }.joined(separator: "\n") + "\n"
        try desk.folder.write("f/N.md", text)
        for name in ["a.png", "a & 'b'.png", "a<b>.png"] { try desk.folder.write("f/\(name)", name) }
        #expect(try desk.run("f").attachments == 3)
        let expected = links.map { $0.0.replacing("NAME", with: "attachments/" + $0.2) }.joined(separator: "\n") + "\n"
        let body = try #require(try desk.notes.titled("N")?.body)
        #expect(body == expected)
        #expect(try desk.run("f").present == 1)
        let site = desk.folder.path("site")
        _ = try SiteExport.write(desk.notes, to: site)
        let page = try String(contentsOfFile: site + "/N.html", encoding: .utf8)
        #expect(page.components(separatedBy: "<img src=\"attachments/a.png\"").count == 4, "\(page)")
        #expect(page.contains("<img src=\"attachments/a%20&amp;%20'b'.png\""), "\(page)")
    }

    @Test func `a single file of a vault has its pictures, is the note that the vault has, and that an earlier version made`() throws {
        try desk.folder.write("v/.obsidian/app.json", "{}")
        try desk.folder.write("v/Notes/A.md", "![[p.png]] ![](../Files/p.png) #work")
        try desk.folder.write("v/Files/p.png", "PNG")
        let report = try desk.run("v/Notes/A.md")
        #expect(report.added == 1 && report.attachments == 1 && report.remarks.isEmpty, "\(report)")
        #expect(try desk.notes.titled("A").map { Array($0.tags) } == ["work"])
        #expect(try desk.run("v").present == 1)
        // Without a vault around it, what lies elsewhere is named.
        try desk.folder.write("plain/Notes/B.md", "![](../Files/q.png) [x](../C.md) [y](../no.png)")
        for name in ["Files/q.png", "C.md"] { try desk.folder.write("plain/\(name)", name) }
        let plain = try desk.run("plain/Notes/B.md")
        #expect(plain.added == 1 && plain.leftOut == 0 && plain.remarks.count == 1, "\(plain)")
        #expect(plain.remarks.first?.words.contains("../Files/q.png") == true, "\(plain)")
        // As an earlier version has imported it.
        let again = try ImportDesk()
        let body = "![[p.png]] ![](../Files/p.png) #work"
        let id = UUID.derived(from: ["kith import 1", "A.md", "A", body], milliseconds: nil)
        let note = Note(id: id, title: "A", body: body, createdMilliseconds: 1, updatedMilliseconds: 1)
        #expect(try again.notes.insert([WholeNote(note)]) == [.added])
        #expect(try NoteImport.run(desk.folder.path("v/Notes/A.md"), into: again.notes).present == 1)
    }

    @Test func `a text of backticks and brackets is read in time in proportion to its length`() throws {
        let text =
            (1...2_000).map { String(repeating: "`", count: $0 % 60 + 1) + "[[x" }.joined() + String(repeating: "[a](b)`", count: 20_000)
        #expect(WikiLinks.replaced(text) { _, _ in "/n" } == text)
        #expect(MarkdownLinks.replacing(text) { _ in "c" } != text)
    }

    @Test func `a link of a wiki in code is code, and one with a sign of HTML is shown`() {
        let text = "[[A]] `[[A]]` [[<b>]]\n\n```sh\nif [[ a ]]; then\n```\n"
        let shown = WikiLinks.replaced(text) { _, _ in "/n" }
        #expect(shown == "[A](/n) `[[A]]` [\\<b>](/n)\n\n```sh\nif [[ a ]]; then\n```\n")
    }

    @Test func `a link to a place in an attachment leads there afterwards`() throws {
        let text = "[p](b.pdf#page=12)\n<a href=\"b.pdf#page=3\">x</a> [a](<b.pdf#page=5>) [[b.pdf#page=6]]\n[d]: b.pdf#page=4\n"
        try desk.folder.write("R.md", text)
        try desk.folder.write("b.pdf", "B")
        #expect(try desk.run("R.md").attachments == 1)
        let expected =
            "[p](attachments/b.pdf#page=12)\n<a href=\"attachments/b.pdf#page=3\">x</a> [a](<attachments/b.pdf#page=5>) [[b.pdf#page=6]]\n"
        #expect(try desk.notes.titled("R")?.body == expected + "[d]: attachments/b.pdf#page=4\n")
    }

    @Test func `a link with the slashes of Windows, with backslashes before signs, or from the root is followed`() throws {
        let links = ["..\\files\\a.png", "../files/b\\(1\\).png", "/files/c.png", "//files/d.png"]
        try desk.folder.write("vaults/V/.obsidian/app.json", "{}")
        try desk.folder.write("vaults/V/notes/N.md", links.map { "![](\($0))" }.joined(separator: "\n"))
        for name in ["a.png", "b(1).png", "c.png", "d.png"] { try desk.folder.write("vaults/V/files/\(name)", name) }
        try desk.folder.write("plain/notes/P.md", "![](/files/p.png)")
        try desk.folder.write("plain/files/p.png", "p.png")
        #expect(try desk.run("vaults").attachments == 3 && desk.run("plain").attachments == 1)
        let paths = ["attachments/a.png", "attachments/b%281%29.png", "attachments/c.png", "//files/d.png"]
        #expect(try desk.notes.titled("N")?.body == paths.map { "![](\($0))" }.joined(separator: "\n"))
        #expect(try desk.notes.titled("P")?.body == "![](attachments/p.png)")
        // What an earlier version made of it.
        let again = try ImportDesk()
        let body = try String(contentsOfFile: desk.folder.path("plain/notes/P.md"), encoding: .utf8)
        let id = UUID.derived(from: ["kith import 1", "notes/P.md", "P", body], milliseconds: nil)
        let note = Note(id: id, title: "P", body: body, createdMilliseconds: 1, updatedMilliseconds: 1)
        #expect(try again.notes.insert([WholeNote(note)]) == [.added])
        #expect(try NoteImport.run(desk.folder.path("plain"), into: again.notes).present == 1)
    }

    @Test func `marks behind spaces in HTML stay`() throws {
        try desk.folder.write(
            "c.html", "<p>Hebrew \u{5D0} \u{5B8} Devanagari \u{915} \u{93F} acute \u{A0}\u{301} end *\u{301} \u{301}_x_</p>")
        #expect(try desk.run("c.html").added == 1)
        let body = try #require(try desk.notes.list().first?.body)
        let expected = "Hebrew \u{5D0} \u{5B8} Devanagari \u{915} \u{93F} acute  \u{301} end \\*\u{301} \u{301}\\_x\\_\n"
        #expect(body.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(body.unicodeScalars.map { String($0.value, radix: 16) })")
    }

    @Test func `a name of an archive that the disk cannot hold is not said to be there twice`() throws {
        let script = """
            import io, tarfile
            with tarfile.open("long.tar", "w") as t:
                for name in ["ok.md", "\u{416}" * 200 + ".md"]:
                    i = tarfile.TarInfo(name); i.size = 1
                    t.addfile(i, io.BytesIO(b"x"))
            """
        try desk.folder.write("make.py", script)
        try desk.folder.shell("python3 make.py")
        #expect {
            try desk.run("long.tar")
        } throws: {
            guard let error = $0 as? FilesError else { return false }
            return error.code == .data && error.message.contains("too long") && !error.message.contains("twice")
        }
    }
}
