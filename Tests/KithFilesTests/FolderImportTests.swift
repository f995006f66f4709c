import Foundation
import KithNotes
import KithSync
import Synchronization
import Testing

@testable import KithFiles

@Suite("A folder of Markdown is imported wrongly, twice or by half")
struct FolderImportTests {
    private let folder: TemporaryFolder
    private let notes: NotesStore

    init() throws {
        folder = try TemporaryFolder()
        notes = try folder.notes()
    }

    private func run(_ name: String, _ change: (inout NoteImport.Options) -> Void = { _ in }) throws -> ImportReport {
        var options = NoteImport.Options()
        change(&options)
        return try NoteImport.run(folder.path(name), into: notes, options: options)
    }

    @Test("a vault of Obsidian comes with its tags, links and attachments, and once")
    func vault() throws {
        try folder.copyFixture("vault")
        #expect(try run("vault") { $0.isDryRun = true }.added == 4)
        #expect(try notes.list().isEmpty)
        let report = try run("vault") { $0.tagsFolders = true }
        #expect(report.added == 4 && report.attachments == 3, "\(report)")
        #expect(report.remarks.map(\.isLeftOut) == [false], "\(report.remarks)")

        let rome = try #require(try notes.titled("Rome"))
        #expect(Array(rome.tags) == ["Journal", "booked", "to-do", "travel/italy"])
        #expect(rome.createdMilliseconds == TimeText.milliseconds("2026-03-01T08:30:00Z"))
        #expect(rome.body.hasPrefix("---\naliases:\n  - Rome trip\n---\n# Rome\n"))
        #expect(
            rome.body.contains("![[colosseum.png]]") && rome.body.contains("[ticket](attachments/ticket%20%281%29.pdf)"), "\(rome.body)")
        #expect(try notes.attachments(of: rome.id).map(\.name) == ["colosseum.png", "ticket (1).pdf"])
        let monday = try #require(try notes.titled("2026-03-02"))
        #expect(monday.body.contains("![map](<attachments/map.png>)") && monday.body.contains("[[attachments/map.png|the map]]"))
        #expect(Array(monday.tags) == ["Journal/2026"])
        #expect(try notes.titled("Packing list")?.body == "- socks\r\n- camera\r\n")

        let again = try run("vault") { $0.tagsFolders = true }
        #expect(again.added == 0 && again.present == 4, "\(again)")
        #expect(try notes.list().count == 4)
    }

    @Test("progress is told after each thousand notes and at the end, whatever becomes of them")
    func progress() throws {
        for number in 0..<2_100 { try folder.write("many/Note \(number).md", "text \(number)") }
        try folder.write("many/bad.md", [0xFF])
        for isDryRun in [true, false, false] {
            let told = Mutex<[Int]>([])
            let report = try run("many") {
                $0.isDryRun = isDryRun
                $0.progress = { count in told.withLock { $0.append(count) } }
            }
            #expect(told.withLock { $0 } == [1_000, 2_000, 2_100])
            #expect(report.added + report.present == 2_100 && report.leftOut == 1, "\(report)")
        }
    }

    @Test("what cannot be a note is named and left out, and everything else comes")
    func oddities() throws {
        try folder.write("odd/good.md", "fine")
        try folder.write("odd/latin.md", [0x63, 0x61, 0x66, 0xE9])
        try folder.write("odd/zero.md", "a\0b")
        try folder.write("odd/large.md", String(repeating: "x", count: NoteLimits.bodyBytesMax + 1))
        try folder.write("odd/broken.md", "---\ntags: [a\n---\nkept whole")
        let odd = folder.path("odd")
        symlink("/etc/passwd", odd + "/link.md")
        symlink("/etc", odd + "/linked")
        mkfifo(odd + "/pipe.md", 0o600)
        #expect(mknod(odd + "/socket.md", S_IFSOCK | 0o600, 0) == 0)
        let report = try run("odd")
        #expect(report.added == 2, "\(report)")
        let left = Dictionary(report.remarks.filter(\.isLeftOut).map { ($0.origin, $0.words) }) { $1 }
        #expect(left["latin.md"]?.contains("UTF-8") == true && left["zero.md"]?.contains("NUL") == true)
        #expect(left["large.md"]?.contains("bytes") == true)
        #expect(left["link.md"]?.contains("symbolic link") == true && left["linked"]?.contains("symbolic link") == true)
        #expect(left["pipe.md"]?.contains("neither") == true && left["socket.md"]?.contains("neither") == true)
        #expect(try notes.titled("broken")?.body == "---\ntags: [a\n---\nkept whole")
    }

    @Test("a file of an archive that has two names is two notes, and a symbolic link is named", arguments: ["", "gz"])
    func linksInArchives(compression: String) throws {
        try folder.write("vault/one.md", "the first")
        try folder.write("vault/deep/two.md", "the second")
        let vault = folder.path("vault")
        #expect(link(vault + "/one.md", vault + "/deep/other.md") == 0)
        symlink("one.md", vault + "/linked.md")
        symlink("one.md", vault + "/.hidden")
        // Another name of what is outside, or comes later, is nothing here.
        let script = """
            import io, tarfile
            with tarfile.open("vault.archive", "w:\(compression)") as t:
                t.add("vault")
                # As tar does it that is given a folder, and once more what is in it.
                for name in ["vault/one.md", "vault/deep/other.md"]:
                    i = tarfile.TarInfo(name); i.type = tarfile.LNKTYPE; i.linkname = "vault/deep/other.md"
                    t.addfile(i)
                for target in ["../secret.md", "later.md"]:
                    i = tarfile.TarInfo("vault/to-" + target[-8:]); i.type = tarfile.LNKTYPE; i.linkname = target
                    t.addfile(i)
                i = tarfile.TarInfo("later.md"); i.size = 4
                t.addfile(i, io.BytesIO(b"late"))
            """
        try folder.write("secret.md", "not for others")
        try folder.write("make.py", script)
        try folder.shell("python3 make.py")
        let place = folder.path("unpacked")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        // Each name counts, not only each file.
        #expect {
            try Archive.unpack(folder.path("vault.archive"), into: place, limits: Archive.Limits(bytesMin: 24, factorMax: 0))
        } throws: {
            ($0 as? FilesError)?.message.contains("larger") == true
        }
        let report = try run("vault.archive")
        #expect(report.added == 4, "\(report)")
        #expect(try notes.titled("other")?.body == "the first")
        let left = Dictionary(report.remarks.filter(\.isLeftOut).map { ($0.origin, $0.words) }) { $1 }
        #expect(left["vault/linked.md"]?.contains("symbolic link") == true, "\(left)")
        #expect(left["vault/to-ecret.md"] != nil && left["vault/to-later.md"] != nil && left.count == 3, "\(left)")
    }

    @Test("a name that is not UTF-8 is told, and does no harm")
    func names() throws {
        try folder.write("names/good.md", "fine")
        var bytes = Array((folder.path("names") + "/caf").utf8CString.dropLast())
        bytes += [CChar(bitPattern: 0xE9), CChar(bitPattern: 0x2E), 0x6D, 0x64, 0]
        let made = bytes.withUnsafeBufferPointer { name in name.baseAddress.map { open($0, O_CREAT | O_WRONLY, 0o600) } ?? -1 }
        try #require(made >= 0)
        close(made)
        let report = try run("names")
        #expect(report.added == 1 && report.remarks.first?.words == "Its name is not UTF-8.", "\(report)")
    }

    @Test("a note that is here, or in the trash, is never changed")
    func known() throws {
        let note = try notes.add(title: "Mine", body: "as it is here")
        let other = try notes.add(title: "Gone")
        try notes.delete([other.id])
        try folder.write("in/Mine.md", "---\nid: \(note.id.uuidString)\n---\nas it was once")
        try folder.write("in/Gone.md", "---\nid: \(other.id.uuidString)\n---\nback?")
        let report = try run("in")
        #expect(report.added == 0 && report.leftOut == 2, "\(report)")
        #expect(try notes.list() == [note])
    }

    @Test("a note of which an attachment cannot be read is not imported by half")
    func halfNote() throws {
        try folder.write("half/Note.md", "![x](x.png)")
        try folder.write("half/x.png", "png")
        // Larger than an attachment may be, without taking up room.
        #expect(truncate(folder.path("half/x.png"), off_t(AttachmentLimits.bytesMax + 1)) == 0)
        let report = try run("half")
        #expect(report.added == 0 && report.leftOut == 1, "\(report)")
        #expect(try notes.list().isEmpty)
    }

    @Test("files that are linked by a definition or by HTML are attached, too")
    func otherLinks() throws {
        let body = """
            ![a][one], [two], <img alt='x' src="img/c d.png"> and <A HREF='img/e.png'>e</A>

            [one]: img/a.png "A title"
              [two]: <img/b b.png>
                [three]: img/no.png
            hrefs="img/no.png" [four] x: img/no.png [five]:
            """
        try folder.write("links/Note.md", body)
        for name in ["a", "b b", "c d", "e", "no"] { try folder.write("links/img/\(name).png", name) }
        #expect(try run("links").attachments == 4)
        let note = try #require(try notes.titled("Note"))
        #expect(try notes.attachments(of: note.id).map(\.name) == ["a.png", "b b.png", "c d.png", "e.png"])
        let expected = body.replacing("img/a.png", with: "attachments/a.png").replacing("<img/b b.png>", with: "<attachments/b b.png>")
            .replacing("img/c d.png", with: "attachments/c%20d.png").replacing("img/e.png", with: "attachments/e.png")
        #expect(note.body == expected)
    }

    @Test("attachments of one name from two folders stay two, and links lead to each")
    func twins() throws {
        try folder.write("two/a/Note A.md", "![](pic.png)")
        try folder.write("two/a/pic.png", "A")
        try folder.write("two/b/Note B.md", "![](pic.png)")
        try folder.write("two/b/pic.png", "B")
        #expect(try run("two").attachments == 2)
        #expect(try notes.titled("Note A")?.body == "![](attachments/pic.png)")
        #expect(try notes.titled("Note B")?.body == "![](attachments/pic.png)")
        _ = try MarkdownExport.write(notes, to: folder.path("out"))
        for name in ["A", "B"] {
            let file = String(decoding: try folder.bytes("out/Note \(name).md"), as: UTF8.self)
            let isFirst = file.hasSuffix("![](attachments/pic.png)")
            #expect(isFirst || file.hasSuffix("![](attachments/pic%20%282%29.png)"), "\(file)")
            #expect(try folder.bytes("out/attachments/\(isFirst ? "pic.png" : "pic (2).png")") == Array(name.utf8))
        }
    }

    @Test("what is left out is named, as far as it is few")
    func leftFiles() throws {
        try folder.write("few/Note.md", "text")
        for name in ["a.pdf", "sub/b.png", "c.zip", "d.mp3", "e.mp4", "f.csv"] { try folder.write("few/\(name)", name) }
        #expect(
            try run("few").remarks.map(\.words) == [
                "6 files that are no notes, and that no note has or links to, were left out: a.pdf, c.zip, d.mp3, e.mp4, f.csv and 1 more."
            ])
        try folder.write("one/Note.md", "text")
        try folder.write("one/a.pdf", "pdf")
        #expect(
            try run("one").remarks.map(\.words) == ["1 file that is no note, and that no note has or links to, was left out: a.pdf."])
    }

    @Test("paths that lead out of the folder lead nowhere")
    func traversal() throws {
        // A slash with a mark above it is one character, and a slash.
        for name in ["secret.txt", "\u{301}secret.txt"] { try folder.write(name, "secret") }
        try folder.write(
            "in/Note.md",
            "---\nattachments:\n  - \"[[../secret.txt]]\"\n  - \"[[../\u{301}secret.txt]]\"\n  - \"[[/etc/passwd]]\"\n---\n![](../secret.txt) ![[../secret.txt]] [x](%2e%2e/secret.txt)"
        )
        let report = try run("in")
        #expect(report.added == 1 && report.attachments == 0)
        #expect(report.remarks.count { $0.words.contains("is not there") } == 3, "\(report.remarks)")
    }

    @Test("what is no folder and no file of notes is refused in words")
    func nothing() throws {
        try folder.write("x.bin", "binary")
        for (name, words) in [("x.bin", "nothing that can be imported"), ("missing", "no file or folder")] {
            #expect { try run(name) } throws: { ($0 as? FilesError)?.message.contains(words) == true }
        }
    }
}
