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

    @Test(
        "nothing of a note runs",
        arguments: [
            "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))",
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
