import Foundation
import KithNotes
import Testing

@testable import KithFiles

@Suite("A page of the site shows something else than the note, or runs what somebody wrote")
struct SiteExportTests {
    private let folder: TemporaryFolder
    private let notes: NotesStore

    init() throws {
        folder = try TemporaryFolder()
        notes = try folder.notes()
    }

    private func page(_ name: String) throws -> String { String(decoding: try folder.bytes("site/\(name)"), as: UTF8.self) }

    @Test("notes are pages with their links, tags and attachments, and the index names them")
    func pages() throws {
        let first = try notes.add(
            title: "First & best",
            body:
                "---\naliases: [x]\n---\n# Head\n\n- [x] done\n\n| a |\n|---|\n| b |\n\nsee [[Second]], [[Second|that one]], [[nowhere]], ![[pic 1.png]]",
            tags: ["home"])
        try notes.attach(URL(filePath: folder.write("pic 1.png", "png")), to: first.id)
        try notes.add(title: "Second", body: "text")
        try notes.add(title: "index", body: "a note that is called so")
        let gone = try notes.add(title: "Gone")
        try notes.delete([gone.id])
        let report = try SiteExport.write(notes, to: folder.path("site"))
        #expect(report.notes == 3 && report.attachments == 1)
        let shown = try page("First & best.html")
        for part in [
            "<h1>First &amp; best</h1>", "#home", "<h1>Head</h1>", "checked", "<td>b</td>", "<a href=\"Second.html\">that one</a>",
            "[[nowhere]]",
            "<a href=\"attachments/pic%201.png\">", "src=\"attachments/pic%201.png\"",
        ] {
            #expect(shown.contains(part), "\(part): \(shown)")
        }
        #expect(!shown.contains("aliases"))
        let index = try page("index.html")
        #expect(
            index.contains("<a href=\"First%20&amp;%20best.html\">First &amp; best</a>") && index.contains("index%20%282%29.html"),
            "\(index)")
        #expect(!index.contains("Gone"))
    }

    @Test("links lead to the note's own attachments, whatever others have of the same name")
    func ownAttachments() throws {
        let body = "![[image.png]] ![](attachments/image.png) [x](<../attachments/image.png>) `](attachments/image.png)`"
        for name in ["A", "B"] {
            let note = try notes.add(title: name, body: body)
            try notes.attach(URL(filePath: folder.write("\(name)/image.png", name)), to: note.id)
        }
        // One whose own name is that of the file of another.
        let third = try notes.add(title: "C", body: "![[image (2).png]] ![](attachments/image%20%282%29.png) [[A]] [[sub/image (2).png]]")
        try notes.attach(URL(filePath: folder.write("C/image (2).png", "C")), to: third.id)
        try notes.attach(URL(filePath: folder.write("C/A", "file")), to: third.id)
        _ = try SiteExport.write(notes, to: folder.path("site"))
        for (name, count) in [("A", 4), ("B", 4), ("C", 4)] {
            let page = try page("\(name).html")
            let files = page.matches(of: /(?:src|href)="(attachments\/image[^"]*)"/).map { $0.1.removingPercentEncoding ?? "" }
            #expect(files.count == count && Set(files).count == 1, "\(name): \(page)")
            for file in files { #expect(try folder.bytes("site/\(file)") == Array(name.utf8), "\(name): \(page)") }
        }
        #expect(try page("A.html").contains("<code>](attachments/image.png)</code>"))
        #expect(try page("C.html").contains("<a href=\"attachments/A\">A</a>"))
    }

    @Test func `a picture is shown that is written in HTML, wherever it stands, and nothing else of the HTML`() throws {
        let forms = [
            "text <IMG width=9 SRC='NAME' alt=\"a &lt; b\"> more", "<img src=\"NAME\"\n  alt=\"a < b\"/>",
            "<p align=center>\nlost <b><img src=NAME alt='a < b'></b>\n</p>", "- item\n\n  <img src=\"NAME\" alt='a < b'>\n",
            "| <img src=\"NAME\" alt='a < b'> |\n|---|", "[<img src=\"NAME\" alt='a < b'>](https://example.org)",
        ]
        for form in forms {
            let html = MarkdownHTML.html(form.replacing("NAME", with: "a.png"), hasPositions: true)
            #expect(html.contains("<img src=\"a.png\" alt=\"a &lt; b\" />"), "\(html)")
            #expect(!html.contains("lost") && !html.contains("width") && !html.contains("align"), "\(html)")
        }
        for form in [
            "<!-- <img src=a.png> -->", "`<img src=a.png>`", "<script>\n'<img src=a.png>'\n</script>", "<image src=a.png>", "\\<img>",
        ] {
            #expect(!MarkdownHTML.html(form).contains("<img"), "\(form)")
        }
        #expect(MarkdownHTML.html("<p>\n<img src=a.png>\n<img src=b.png>\n</p>").ranges(of: "<img").count == 2)
        #expect(MarkdownHTML.html("x\n\n<img src=a.png>\n", hasPositions: true).contains("<p data-sourcepos=\"3:1-"))
        #expect(MarkdownHTML.html(String(repeating: "<img src=a>", count: 20_000)).ranges(of: "<img").count == 20_000)
        let deep = "<div>" + String(repeating: "<p><b>", count: 20_000) + "<img src=a.png>"
        #expect(!MarkdownHTML.html(deep).contains("<b>"))
    }

    @Test func `a link leads to the page of the note that it names in any way, and of no note to nothing`() throws {
        let links = [
            ("[[two words]]", true), ("[[Two Words]]", true), ("[[folder/Two Words|x]]", true), ("[x](Two%20Words.md)", true),
            ("[x](<../sub/two words.md#head>)", true), ("[x](Two%20Words.txt)", true), ("[x](Two%20Words.html)", true),
            ("[[nowhere]]", false), ("[x](https://example.org/Two%20Words.md)", false), ("![](Two%20Words.md)", false),
            ("![[Two Words]]", false), ("[[Gone]]", false),
        ]
        for (index, (link, _)) in links.enumerated() { try notes.add(title: "From \(index)", body: link) }
        try notes.add(title: "Two Words", body: "text")
        let gone = try notes.add(title: "Gone")
        try notes.delete([gone.id])
        _ = try SiteExport.write(notes, to: folder.path("site"))
        for (index, (link, isPage)) in links.enumerated() {
            let shown = try page("From \(index).html")
            #expect(shown.contains("href=\"Two%20Words.html\"") == isPage, "\(link): \(shown)")
        }
    }

    @Test(
        "nothing of a note runs",
        arguments: [
            "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<img src=javascript:alert(1)>",
            "<p><img src='JavaScript:alert(1)' onerror=alert(1)></p>", "<img src=\"x\" alt=\"&lt;script>&quot; &lt;b>\">",
            "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))",
            "<javascript:alert(1)>",
            "[x](data:text/html;base64,PHNjcmlwdD4=)", "![x](javascript:alert(1))", "<svg/onload=alert(1)>",
            "[x]: javascript:alert(1)\n\n[x]", "</body><script>x</script>",
        ])
    func safety(body: String) throws {
        try notes.add(title: "\"><script>alert(2)</script>", body: body, tags: ["<b>"])
        _ = try SiteExport.write(notes, to: folder.path("site"))
        for (name, bytes) in try folder.tree("site") {
            let html = String(decoding: bytes, as: UTF8.self).lowercased()
            #expect(
                !html.contains("<script") && !html.contains("onerror=") && !html.contains("<svg") && !html.contains("<b>"),
                "\(name): \(html)")
            #expect(
                !html.contains("href=\"javascript:") && !html.contains("src=\"javascript:") && !html.contains("href=\"data:"),
                "\(name): \(html)")
            #expect(html.contains("content-security-policy"))
        }
    }
}
