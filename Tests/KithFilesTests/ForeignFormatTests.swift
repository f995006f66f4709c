import Foundation
import KithNotes
import KithStore
import Testing

@testable import KithFiles

@Suite("Notes of another program come wrongly, twice or not at all")
struct ForeignFormatTests {
    private let folder: TemporaryFolder
    private let notes: NotesStore

    init() throws {
        folder = try TemporaryFolder()
        notes = try folder.notes()
    }

    /// Imports it twice; the second time nothing comes. Exported and imported elsewhere, all of it is the same.
    private func run(_ path: String, tagsFolders: Bool = false) throws -> ImportReport {
        var options = NoteImport.Options()
        options.tagsFolders = tagsFolders
        let report = try NoteImport.run(path, into: notes, options: options)
        let again = try NoteImport.run(path, into: notes, options: options)
        #expect(again.added == 0 && again.present == report.added, "\(again)")
        _ = try MarkdownExport.write(notes, to: folder.path("exported"))
        _ = try JSONLinesExport.write(notes, to: folder.path("exported.jsonl"))
        for name in ["exported", "exported.jsonl"] {
            let elsewhere = try folder.notes("elsewhere-\(name)")
            let report = try NoteImport.run(folder.path(name), into: elsewhere)
            #expect(report.remarks.isEmpty, "\(report)")
            #expect(try elsewhere.everything() == notes.everything(), "\(name)")
        }
        return report
    }

    private func expectJoplin() throws {
        let trip = try #require(try notes.titled("Trip: plans"))
        #expect(trip.id.uuidString == "11111111-1111-1111-1111-111111111111")
        #expect(
            trip.body == "# Trip\n\n![a map](attachments/map%20of%20Rome.png) and [the list](Packing.md)\n\nkey: value lines are text here")
        #expect(Array(trip.tags) == ["Travel/Italy-2021", "next-summer"])
        #expect(trip.createdMilliseconds == TimeText.milliseconds("2021-04-13T13:06:44Z"))
        #expect(trip.updatedMilliseconds == TimeText.milliseconds("2021-04-14T08:00:00.5Z"))
        #expect(try notes.attachments(of: trip.id).map(\.name) == ["map of Rome.png"])
        #expect(try notes.titled("Packing").map { Array($0.tags) } == ["Travel", "done"])
        #expect(try notes.trash().map(\.note.body) == ["Some **HTML**\n"])
    }

    @Test("from Joplin, as JEX")
    func jex() throws {
        try folder.copyFixture("joplin-raw")
        try folder.shell("cd joplin-raw && tar cf ../export.jex *")
        let report = try run(folder.path("export.jex"), tagsFolders: true)
        #expect(report.added == 3 && report.addedToTrash == 1 && report.attachments == 1 && report.leftOut == 0, "\(report)")
        try expectJoplin()
    }

    @Test("from Joplin, as a raw folder")
    func joplinRaw() throws {
        try folder.copyFixture("joplin-raw")
        #expect(try run(folder.path("joplin-raw"), tagsFolders: true).added == 3)
        try expectJoplin()
    }

    @Test("from Joplin, as Markdown with front matter")
    func joplinMarkdown() throws {
        try folder.copyFixture("joplin-md")
        let report = try run(folder.path("joplin-md"), tagsFolders: true)
        #expect(report.added == 2 && report.attachments == 1 && report.remarks.isEmpty, "\(report)")
        let meeting = try #require(try notes.titled("Meeting: Monday"))
        #expect(Array(meeting.tags) == ["Work", "minutes", "work"])
        #expect(meeting.body.contains("latitude: 52.52000000") && meeting.body.hasSuffix("We met. ![](attachments/board.jpg)\n"))
        #expect(meeting.createdMilliseconds == 1_618_319_204_000)
        #expect(try notes.titled("Plain")?.body == "Nothing special\n")
    }

    @Test("from Google Keep, as a Takeout that is unpacked or not", arguments: ["keep", "takeout.tgz", "takeout.zip", "other.tgz"])
    func keep(name: String) throws {
        try folder.copyFixture("keep")
        try folder.copyFixture("takeout.zip")
        try folder.shell("mv keep Takeout && tar czf takeout.tgz Takeout && cp -r Takeout keep")
        try folder.shell("cd Takeout && mv Keep 'Google Notizen' && mkdir A && cd .. && tar czf other.tgz Takeout && rm -r Takeout")
        let report = try run(folder.path(name))
        #expect(report.added == 2 && report.addedToTrash == 1 && report.attachments == 1 && report.remarks.isEmpty, "\(report)")
        let shopping = try #require(try notes.titled("Shopping"))
        #expect(shopping.body == "- [ ] Bread\n- [x] Coffee")
        #expect(shopping.color == .yellow && Array(shopping.tags) == ["At-home"] && shopping.isPinned)
        #expect(shopping.createdMilliseconds == 1_618_300_000_000 && shopping.updatedMilliseconds == 1_618_319_204_123)
        let thought = try #require(try notes.trash().first?.note)
        #expect(thought.body == "A thought\n\n[Example](https://example.org/a)\n\n![](attachments/17a8b.jpg)")
        #expect(thought.title.isEmpty && Array(thought.tags) == ["archived"])
    }

    @Test("from Evernote")
    func evernote() throws {
        try folder.copyFixture("sample.enex")
        let report = try run(folder.path("sample.enex"))
        #expect(report.added == 2 && report.attachments == 1 && report.remarks.isEmpty, "\(report)")
        let note = try #require(try notes.titled("Check & picture"))
        #expect(note.body == "- [x] Socks\n- [ ] Camera\n\nSee **this**:\n\n![sample.gif](attachments/sample.gif)\n")
        #expect(Array(note.tags) == ["home", "two-words"])
        #expect(note.createdMilliseconds == 1_618_319_204_000)
        #expect(try notes.titled("Second")?.body == "One\n\nTwo\n")
    }

    @Test func `a file that cannot be read out of an export of Evernote is named, and its note is imported`() throws {
        let resources = ["!", "", "R0lGODlhIHNhbXBsZQ="].enumerated().map { number, data in
            "<resource><data encoding=\"base64\">\(data)</data><resource-attributes><file-name>\(number).gif</file-name></resource-attributes></resource>"
        }
        let note = "<note><title>Trip</title><content><![CDATA[<en-note>text</en-note>]]></content>\(resources.joined())</note>"
        try Data("<en-export>\(note)</en-export>".utf8).write(to: folder.url.appending(path: "damaged.enex"))
        let report = try NoteImport.run(folder.path("damaged.enex"), into: notes)
        #expect(report.added == 1 && report.attachments == 0 && report.leftOut == 0)
        #expect(
            report.remarks.map(\.words)
                == ["0", "1", "2"].map { "Its attachment \u{201C}\($0).gif\u{201D} is empty or damaged in the export." })
    }

    @Test func `a file that a note of Evernote shows, and that its export lacks, is told`() throws {
        let content = "a <en-media hash=\"00112233445566778899aabbccddeeff\" type=\"image/png\"/> b"
        let note = "<note><title>Trip</title><content><![CDATA[<en-note>\(content)</en-note>]]></content></note>"
        try Data("<en-export>\(note)</en-export>".utf8).write(to: folder.url.appending(path: "a.enex"))
        let report = try NoteImport.run(folder.path("a.enex"), into: notes)
        #expect(report.remarks.map(\.words) == ["An attachment that its text shows is not in the export."])
        #expect(try notes.titled("Trip")?.body == "a [missing attachment] b\n")
    }

    @Test func `attachments of Joplin to which no note links are told, and items of other kinds do not hide what it is`() throws {
        let (revision, lone) = (String(repeating: "0", count: 32), String(repeating: "9", count: 32))
        try folder.copyFixture("joplin-raw")
        try Data("id: \(revision)\ntype_: 13".utf8).write(to: folder.url.appending(path: "joplin-raw/\(revision).md"))
        try Data("lone.png\n\nid: \(lone)\nmime: image/png\ntype_: 4".utf8).write(to: folder.url.appending(path: "joplin-raw/\(lone).md"))
        let report = try NoteImport.run(folder.path("joplin-raw"), into: notes)
        #expect(report.remarks.contains { $0.words == "1 attachment to which no note links was left out: lone.png." }, "\(report.remarks)")
        #expect(try notes.titled("Trip: plans") != nil)
    }

    @Test func `what is to be done stands below the note of Evernote, whose next export brings nothing twice`() throws {
        let list = """
            <ul style="--en-todo:true"><li style="--en-checked:true">Ticket</li><li style="--en-checked:false">Hotel</li></ul>\
            <img src="data:image/gif;base64,R0lGODlhIHNhbXBsZQ"/>
            """
        let task = "<title>Book</title><created>20250101T101010Z</created><taskStatus>open</taskStatus><dueDate>20250301T000000Z</dueDate>"
        let trip = """
            <note><title>Trip</title><created>20240101T101010Z</created>\
            <content><![CDATA[<en-note>\(list)</en-note>]]></content><task>\(task)</task></note>
            """
        let file = folder.url.appending(path: "tasks.enex")
        try Data("<en-export>\(trip)</en-export>".utf8).write(to: file)
        #expect(try NoteImport.run(file.path, into: notes).attachments == 1)
        let note = try #require(try notes.titled("Trip"))
        let name = try #require(try notes.attachments(of: note.id).first?.name)
        #expect(note.body == "- [x] Ticket\n- [ ] Hotel\n\n![](attachments/\(name))\n\n- [ ] Book (until 2025-03-01)\n")
        #expect(note.createdMilliseconds == 1_704_103_810_000)
        try Data("<en-export><note><title>New</title><content>x</content></note>\(trip)</en-export>".utf8).write(to: file)
        let report = try NoteImport.run(file.path, into: notes)
        #expect(report.added == 1 && report.present == 1, "\(report)")
    }

    @Test func `of two files with one id and different texts each is a note, however often they are imported`() throws {
        let id = "0190a1b2-0000-7000-8000-000000000001"
        for (name, text) in [("a", "first"), ("b", "second"), ("c", "second")] {
            try Data("---\nid: \(id)\ntitle: Same\n---\n\(text)\n".utf8).write(to: folder.url.appending(path: "\(name).md"))
        }
        let report = try NoteImport.run(folder.url.path, into: notes)
        #expect(report.added == 2 && report.leftOut == 0, "\(report)")
        #expect(try NoteImport.run(folder.url.path, into: notes).added == 0)
    }

    @Test("from Apple's Notes, as HTML and text")
    func apple() throws {
        try folder.copyFixture("apple")
        let report = try run(folder.path("apple"))
        #expect(report.added == 2 && report.attachments == 1 && report.remarks.isEmpty, "\(report)")
        #expect(try notes.titled("Codes")?.body == "Numbers: 12 34\n")
        let recipe = try #require(try notes.titled("Pancakes"))
        #expect(
            recipe.body == """
                # Pancakes

                Mix **well**, *gently* and see [this page](https://example.org/x).

                - Flour
                  - wheat
                - Milk & eggs
                1. Stir
                2. Fry

                > Good\\*
                >
                > Better

                | What | How much |
                | --- | --- |
                | Flour | 200 g \\| 7 oz |

                ```
                a  b
                c
                ```

                ---

                Straße \\<script> click  
                next line

                ![a pan](attachments/pan.png)

                """, "\(recipe.body)")
    }

    // MARK: Names

    @Test("files of which the names are written in another form of accents than the links are found, and both forms if both are there")
    func accents() throws {
        let (composed, parts) = ("\u{E9}", "e\u{301}")
        try folder.write("vault/\(parts).png", "parts")
        try folder.write("vault/\(composed) dir/b.png", "in a folder")
        try folder.write("vault/both/\(parts)2.png", "parts")
        try folder.write("vault/both/\(composed)2.png", "composed")
        try folder.write("vault/One.md", "![[\(composed).png]] ![](\(parts)%20dir/b.png)")
        try folder.write("vault/Two.md", "![](both/\(parts)2.png) ![](both/\(composed)2.png)")
        let report = try NoteImport.run(folder.path("vault"), into: notes)
        #expect(report.added == 2 && report.leftOut == 0 && report.attachments == 4, "\(report)")
        for note in try notes.list() {
            let texts = try notes.attachments(of: note.id).map { file in
                let content = try #require(try notes.provenFile(of: file))
                return try String(contentsOf: content.url, encoding: .utf8)
            }
            #expect(texts.sorted() == (note.title == "One" ? ["in a folder", "parts"] : ["composed", "parts"]))
        }
    }

    // MARK: Damage

    @Test("an export that breaks off or is damaged imports nothing, and says so")
    func damaged() throws {
        try folder.copyFixture("joplin-raw")
        try folder.copyFixture("sample.enex")
        try folder.shell("cd joplin-raw && tar cf ../a.jex * && cd .. && gzip -k a.jex")
        for name in ["sample.enex", "a.jex", "a.jex.gz"] {
            let bytes = try folder.bytes(name)
            // Between two files of the archive, too.
            let end = bytes.lastIndex { $0 != 0 } ?? 0
            let places =
                name == "a.jex" ? Array(stride(from: 512, to: end, by: 512)) : [bytes.count / 4, bytes.count / 2, bytes.count * 3 / 4]
            for part in places {
                let path = try folder.write("part-\(part)-\(name)", bytes[..<part])
                #expect(throws: FilesError.self, "\(name) \(part)") { try NoteImport.run(path, into: notes) }
            }
        }
        try folder.copyFixture("takeout.zip")
        try folder.copyFixture("keep")
        try folder.shell("mv keep Takeout && tar czf takeout.tgz Takeout")
        func expectRefused(_ name: String, _ bytes: some Sequence<UInt8>, _ place: Int) throws {
            let path = try folder.write("damaged-\(name)", bytes)
            #expect(throws: FilesError.self, "\(name) \(place)") { try NoteImport.run(path, into: notes) }
        }
        let (zip, tgz) = (try folder.bytes("takeout.zip"), try folder.bytes("takeout.tgz"))
        // Cut off within a file, and between two.
        for part in [100, 300, 467, 593, 700] { try expectRefused("takeout.zip", zip[..<part], part) }
        for part in [tgz.count / 4, tgz.count / 2, tgz.count * 3 / 4, tgz.count - 8, tgz.count - 1] {
            try expectRefused("takeout.tgz", tgz[..<part], part)
        }
        // In the bytes of two of the files; names have no checksum in a zip archive.
        for place in Array(stride(from: 234, to: 467, by: 13)) + stride(from: 649, to: 839, by: 13) {
            var bytes = zip
            bytes[place] ^= 4
            try expectRefused("takeout.zip", bytes, place)
        }
        // Within a run of zeros another distance brings the same zeros: such a byte is not damage.
        let harmless = """
            import gzip
            whole = open("takeout.tgz", "rb").read()
            content = gzip.decompress(whole)
            with open("harmless", "w") as file:
                for place in range(10, len(whole)):
                    bytes = bytearray(whole)
                    bytes[place] ^= 4
                    try:
                        if gzip.decompress(bytes) == content: print(place, file=file)
                    except Exception: pass
            """
        try folder.write("harmless.py", harmless)
        try folder.shell("python3 harmless.py")
        let places = Set(String(decoding: try folder.bytes("harmless"), as: UTF8.self).split(separator: "\n").compactMap { Int($0) })
        try #require(places.count < tgz.count / 4)
        for place in Array(stride(from: 10, to: tgz.count - 20, by: 13)) + [tgz.count - 8, tgz.count - 1] where !places.contains(place) {
            var bytes = tgz
            bytes[place] ^= 4
            try expectRefused("takeout.tgz", bytes, place)
        }
        #expect(try notes.everything().isEmpty)
    }

    @Test("an archive that would write elsewhere, or grows without end, is refused")
    func hostileArchives() throws {
        let script = """
            import tarfile, io, gzip, warnings, zipfile
            warnings.simplefilter("ignore")
            def tar(name, entries):
                with zipfile.ZipFile(name.replace(".tar", ".zip"), "w") as z:
                    for path, kind, data in entries:
                        i = zipfile.ZipInfo(path); i.create_system = 3
                        i.external_attr = (0o120777 if kind == tarfile.SYMTYPE else 0o100644) << 16
                        z.writestr(i, b"/etc" if kind == tarfile.SYMTYPE else data)
                with tarfile.open(name, "w") as t:
                    for path, kind, data in entries:
                        i = tarfile.TarInfo(path); i.type = kind; i.size = len(data)
                        if kind == tarfile.SYMTYPE: i.linkname = "/etc"
                        t.addfile(i, io.BytesIO(data))
            tar("up.tar", [("../escaped.md", tarfile.REGTYPE, b"x")])
            tar("mark.tar", [("../\\u0301escaped.md", tarfile.REGTYPE, b"x")])
            tar("root.tar", [("/tmp/kith-escaped.md", tarfile.REGTYPE, b"x")])
            tar("link.tar", [("d", tarfile.SYMTYPE, b""), ("d/kith-escaped.md", tarfile.REGTYPE, b"x"), ("ok.md", tarfile.REGTYPE, b"fine")])
            tar("twice.tar", [("a.md", tarfile.REGTYPE, b"x"), ("a.md", tarfile.REGTYPE, b"y")])
            class Zeros(io.RawIOBase):
                def __init__(self, n): self.n = n
                def readable(self): return True
                def readinto(self, b):
                    k = min(len(b), self.n); self.n -= k; b[:k] = bytes(k); return k
            with tarfile.open("bomb.tgz", "w:gz") as t:
                i = tarfile.TarInfo("bomb.md"); i.size = 8 << 20
                t.addfile(i, Zeros(i.size))
            with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
                with z.open("bomb.md", "w") as f:
                    for _ in range(257): f.write(bytes(1 << 20))
            """
        try folder.write("make.py", script)
        try folder.shell("python3 make.py")
        let refused = [("up", "elsewhere"), ("mark", "elsewhere"), ("root", "elsewhere"), ("twice", "twice")]
        for (name, words) in refused.flatMap({ [("\($0).tar", $1), ("\($0).zip", $1)] }) + [("bomb.zip", "larger")] {
            #expect(throws: FilesError.self, "\(name)") {
                do {
                    _ = try NoteImport.run(folder.path(name), into: notes)
                } catch let error as FilesError {
                    #expect(error.message.contains(words), "\(error.message)")
                    throw error
                }
            }
        }
        #expect(try notes.everything().isEmpty)
        let place = folder.path("unpacked")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let limits = Archive.Limits(bytesMin: 1 << 20)
        #expect { try Archive.unpack(folder.path("bomb.tgz"), into: place, limits: limits) } throws: {
            ($0 as? FilesError)?.message.contains("larger") == true
        }
        // A folder takes the place of the link, which is passed over.
        #expect(try NoteImport.run(folder.path("link.tar"), into: notes).added == 2)
        #expect(try NoteImport.run(folder.path("link.zip"), into: notes).present == 2)
        #expect(
            !FileManager.default.fileExists(atPath: "/etc/kith-escaped.md")
                && !FileManager.default.fileExists(atPath: "/tmp/kith-escaped.md"))
        #expect(!FileManager.default.fileExists(atPath: folder.url.deletingLastPathComponent().path + "/escaped.md"))
    }

    @Test func `a list of HTML keeps its numbers, and a sign that Markdown would take for more than itself stays a sign`() {
        func text(_ html: String) -> String {
            HTMLMarkdown.read(Array("<body>\(html)</body>".utf8)).text.trimmingCharacters(in: .newlines)
        }
        #expect(text("<ol start=3><li>c</li><li>d</li><li value=9>i</li><li>j</li></ol>") == "3. c\n4. d\n9. i\n10. j")
        #expect(text("<ol start=-3><li>a</li></ol>") == "1. a" && text("<ol start=999999999><li>a<li>b</ol>").hasSuffix("999999999. b"))
        #expect(text("<p>_under_ and snake_case __x</p>") == #"\_under\_ and snake_case \_\_x"#)
        #expect(text("<p>[no](link)</p>") == #"[no\](link)"#)
        #expect(text(#"<p><a href="https://example.org/_a_">https://example.org/_a_</a></p>"#) == "<https://example.org/_a_>")
        #expect(text(#"<p><en-crypt hint="pet" cipher="AES">RU5D\nAA==</en-crypt></p>"#).hasPrefix("Encrypted by Evernote: `RU5D"))
    }

    @Test("HTML that nests without end, or is none, does no harm")
    func hostileHTML() {
        let deep = String(repeating: "<div><ul><li>", count: 20_000) + "core"
        #expect(HTMLMarkdown.read(Array(deep.utf8)).text.utf8.count < 1 << 20)
        // libxml2 alone drops what follows 256 elements within each other.
        let fonts = "<p>start</p>" + String(repeating: "<font>x ", count: 400) + "<p>end</p>"
        #expect(HTMLMarkdown.read(Array(fonts.utf8)).text.contains("end"))
        let table = "<table><caption>Prices</caption><tr><td>1</td></tr></table><noscript>shown</noscript>"
        #expect(HTMLMarkdown.read(Array(table.utf8)).text == "Prices\n\n| 1 |\n| --- |\n\nshown\n")
        let unclosed = String(repeating: "<b>x</i>", count: 100_000)
        #expect(HTMLMarkdown.read(Array(unclosed.utf8)).text == unclosed)
        #expect(HTMLMarkdown.read(Array("<ul><ul><li>first</li></ul><li>next</li></ul>".utf8)).text == "- first\n- next\n")
        #expect(HTMLMarkdown.read([]).text.isEmpty)
        #expect(HTMLMarkdown.read(Array("<<<>>&&& <b".utf8)).text.utf8.count < 100)
    }
}
