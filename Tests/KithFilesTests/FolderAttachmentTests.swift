import Foundation
import KithNotes
import KithStore
import Testing

@testable import KithFiles

@Suite("Attachments of a folder are not in the notes, or the other way round")
struct FolderAttachmentTests {
    private let machine: FolderMachine
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
        machine = try FolderMachine(place, "a")
    }

    private var notes: NotesStore { machine.notes }

    private func put(_ bytes: String, _ name: String) throws {
        try machine.save(bytes, as: "attachments/\(name)")
    }

    private func names(of id: UUID) throws -> [String] { try notes.attachments(of: id).map(\.name) }

    private func text(of id: UUID, _ name: String) throws -> String? {
        let attachment = try notes.findAttachment(name, of: try #require(try notes.note(id)))
        return try notes.provenFile(of: attachment).map { String(decoding: try Data(contentsOf: $0.url), as: UTF8.self) }
    }

    @Test(
        "a file that is put among the attachments and linked to is attached, whichever comes first",
        arguments: [
            "![](attachments/my%20photo.png)", "![[my photo.png]]", "[it](<attachments/my photo.png>)", "![[attachments/my photo.png|x]]",
        ])
    func linked(link: String) throws {
        try machine.save("See \(link).", as: "First.md")
        machine.clock.advance(1_000)
        try machine.pass()
        let first = try #require(try notes.titled("First"))
        #expect(try names(of: first.id).isEmpty)
        try put("PNG", "my photo.png")
        try machine.pass()
        machine.clock.advance(1_000)
        try machine.pass()
        #expect(try text(of: first.id, "my photo.png") == "PNG")
        try machine.save("Also \(link)", as: "Second.md")
        machine.clock.advance(1_000)
        try machine.sync()
        let second = try #require(try notes.titled("Second"))
        #expect(try names(of: second.id) == ["my photo.png"])
        #expect(try machine.read("Second.md").contains("[[attachments/my photo.png|my photo.png]]"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: machine.path("attachments")) == ["my photo.png"])
        #expect(try machine.sync().isQuiet)
        try put("NEW", "my photo.png")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try text(of: first.id, "my photo.png") == "NEW" && text(of: second.id, "my photo.png") == "NEW")
        // Nothing of this was done by a command or on the page.
        #expect(try notes.steps.nextUndo() == nil)
    }

    @Test(
        "a file that is moved or copied to another folder keeps its attachments, and a new one there has what it links to",
        arguments: ["![](attachments/p.png)", "![[p.png]]", ""])
    func moved(body: String) throws {
        let note = try notes.add(title: "Note", body: body)
        try notes.attach(URL(filePath: place.write("p.png", "PNG")), to: note.id)
        try machine.sync()
        var path = "Note.md"
        for folder in ["work", "work/2026", "other/deep/down"] {
            try FileManager.default.createDirectory(atPath: machine.path(folder), withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: machine.path(path), toPath: machine.path("\(folder)/Note.md"))
            path = "\(folder)/Note.md"
            machine.clock.advance(1_000)
            try machine.sync()
            #expect(try names(of: note.id) == ["p.png"], "\(path)")
            #expect(try machine.read(path).contains("attachments/p.png") && machine.sync().isQuiet)
        }
        try machine.save(machine.read(path), as: "work/Copy.md")
        try machine.save("See ![](attachments/p.png).", as: "work/New.md")
        machine.clock.advance(1_000)
        try machine.sync()
        for title in ["Copy", "New"] { #expect(try names(of: #require(try notes.titled(title)).id) == ["p.png"], "\(title)") }
        #expect(try names(of: note.id) == ["p.png"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: machine.path("attachments")) == ["p.png"])
    }

    @Test func `many files that are put among the attachments at once are attached to the notes that link to them`() throws {
        let names = (1...12).map { "p\($0).png" } + ["Cafe\u{301}.png"]
        for (number, name) in names.enumerated() {
            try machine.save("![[\(name.precomposedStringWithCanonicalMapping)]]", as: "N\(number).md")
        }
        machine.clock.advance(1_000)
        try machine.sync()
        for name in names + ["nobody's.png"] { try put(name, name) }
        machine.clock.advance(1_000)
        try machine.sync()
        for (number, name) in names.enumerated() {
            #expect(try self.names(of: #require(try notes.titled("N\(number)")).id) == [name], "\(name)")
        }
        #expect(try machine.sync().isQuiet)
    }

    @Test func `a note of which the file is deleted stays if another machine has attached something to it since`() throws {
        var ids: [UUID] = []
        // Of many files that go at once, the notes would stay.
        for number in 1...20 { try notes.add(title: "Other \(number)", body: "") }
        for title in ["Stays", "Goes"] {
            let note = try notes.add(title: title, body: "text")
            try notes.attach(URL(filePath: place.write("p.png", "PNG")), to: note.id)
            ids.append(note.id)
        }
        try machine.sync()
        for title in ["Stays", "Goes"] { try FileManager.default.removeItem(atPath: machine.path("\(title).md")) }
        try notes.attach(URL(filePath: place.write("z.png", "ZZZ")), to: ids[0])
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try notes.note(ids[1]) == nil)
        #expect(try names(of: ids[0]) == ["p.png", "z.png"] && machine.read("Stays.md").contains("z.png"))
    }

    @Test func `nothing is written through a link that stands in place of the folder of attachments`() throws {
        let note = try notes.add(title: "Note", body: "text")
        try notes.attach(URL(filePath: place.write("p.png", "PNG")), to: note.id)
        try machine.sync()
        let elsewhere = place.path("elsewhere")
        try FileManager.default.moveItem(atPath: machine.path("attachments"), toPath: elsewhere)
        try FileManager.default.createSymbolicLink(atPath: machine.path("attachments"), withDestinationPath: elsewhere)
        try notes.attach(URL(filePath: place.write("q.png", "QQQ")), to: note.id)
        try notes.edit(note.id) { $0.body = "more" }
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere) == ["p.png"])
        #expect(try machine.read("Note.md").contains("more") && names(of: note.id) == ["p.png", "q.png"])
        try FileManager.default.removeItem(atPath: machine.path("attachments"))
        try FileManager.default.moveItem(atPath: elsewhere, toPath: machine.path("attachments"))
        try machine.sync()
        #expect(try machine.read("attachments/q.png") == "QQQ" && names(of: note.id) == ["p.png", "q.png"])
    }

    @Test func `an attachment that was detached elsewhere does not come back, though the text links to it`() throws {
        let note = try notes.add(title: "Note", body: "See ![[d.txt]]")
        let attachment = try notes.attach(URL(filePath: place.write("d.txt", "bytes")), to: note.id)
        try machine.sync()
        #expect(try machine.read("attachments/d.txt") == "bytes")
        try notes.detach(attachment)
        try machine.sync()
        try machine.save(machine.read("Note.md") + "\nmore", as: "Note.md")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try names(of: note.id).isEmpty && notes.note(note.id)?.body.contains("more") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: machine.path("attachments")) == [])
    }

    @Test func `what another machine put in the place of an attachment takes the place of its file, unless that was written since`() throws
    {
        let note = try notes.add(title: "Note", body: "![](attachments/p.png)")
        let old = try notes.attach(URL(filePath: place.write("p.png", "old")), to: note.id)
        try machine.sync()
        try notes.attach(URL(filePath: place.write("p.png", "newer")), to: note.id, replacing: old)
        try machine.sync()
        #expect(try machine.read("attachments/p.png") == "newer")
        #expect(try FileManager.default.contentsOfDirectory(atPath: machine.path("attachments")) == ["p.png"])
        #expect(try names(of: note.id) == ["p.png"] && machine.sync().isQuiet)
        // Another note has it, too: it stays.
        let other = try notes.add(title: "Other", body: "")
        try notes.attach(URL(filePath: place.write("p.png", "newer")), to: other.id)
        try machine.sync()
        let shared = try #require(try notes.attachments(of: note.id).first)
        try notes.attach(URL(filePath: place.write("p.png", "newest")), to: note.id, replacing: shared)
        try machine.sync()
        #expect(try machine.read("attachments/p.png") == "newer" && machine.read("attachments/p (2).png") == "newest")
        // What was written in the last moment is kept.
        try notes.detach(try #require(try notes.attachments(of: other.id).first))
        let last = try #require(try notes.attachments(of: note.id).first)
        machine.options.beforeExchange = { path in
            if path.hasSuffix("/p.png") { try? Data("mine".utf8).write(to: URL(filePath: path)) }
        }
        try notes.attach(URL(filePath: place.write("p.png", "last")), to: note.id, replacing: last)
        try machine.sync()
        let all = try FileManager.default.contentsOfDirectory(atPath: machine.path("attachments")).map {
            try machine.read("attachments/\($0)")
        }
        #expect(all.contains("mine") && all.contains("last"))
    }

    @Test(
        "an attachment that is written anew is another one; one that the front matter does not name is detached; one that is gone comes back"
    )
    func changes() throws {
        let note = try notes.add(title: "Note", body: "text")
        try notes.attach(URL(filePath: place.write("p.png", "old")), to: note.id)
        try machine.sync()
        try put("newer", "p.png")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try text(of: note.id, "p.png") == "newer" && names(of: note.id).count == 1)
        unlink(machine.path("attachments/p.png"))
        try machine.sync()
        #expect(try machine.read("attachments/p.png") == "newer")
        let lines = try machine.read("Note.md").split(separator: "\n", omittingEmptySubsequences: false)
        try machine.save(lines.filter { !$0.contains("attachments") }.joined(separator: "\n"), as: "Note.md")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try names(of: note.id).isEmpty)
        #expect(try machine.sync().isQuiet)
    }

    @Test("two attachments of one name have files of their own, and one that is not here comes later")
    func namesakes() throws {
        let (one, two) = (try notes.add(title: "One"), try notes.add(title: "Two"))
        try notes.attach(URL(filePath: place.write("1/p.png", "first")), to: one.id)
        try notes.attach(URL(filePath: place.write("2/p.png", "second")), to: two.id)
        try machine.sync()
        let files = try FileManager.default.contentsOfDirectory(atPath: machine.path("attachments")).sorted()
        #expect(files == ["p (2).png", "p.png"])
        #expect(try Set(files.map { try machine.read("attachments/\($0)") }) == ["first", "second"])
        let other = try FolderMachine(place, "b", clock: machine.clock, seed: 2)
        try other.pull(machine)
        #expect(try other.sync().awaited == [one.id, two.id] && other.files() == ["One.md", "Two.md"])
        for name in ["1/p.png", "2/p.png"] { _ = try other.notes.store.attach(contentsOf: place.url.appending(path: name)) }
        machine.clock.advance(1_000)
        #expect(try other.sync().awaited.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path("attachments")).count == 2)
        #expect(try other.sync().isQuiet)
    }

    @Test(
        "a link that the note's own attachment satisfies brings it no file of another note",
        arguments: ["![[image.png]]", "![](attachments/image.png)", "![[attachments/image.png|x]]"])
    func ownFirst(link: String) throws {
        let ids = try ["A", "B"].map { name in
            let note = try notes.add(title: name, body: link)
            try notes.attach(URL(filePath: place.write("\(name)/image.png", name)), to: note.id)
            return note.id
        }
        try machine.sync()
        for name in ["A", "B"] { try machine.save(machine.read("\(name).md") + "\nmore", as: "\(name).md") }
        machine.clock.advance(1_000)
        try machine.sync()
        for (id, bytes) in zip(ids, ["A", "B"]) {
            #expect(try names(of: id) == ["image.png"])
            #expect(try text(of: id, "image.png") == bytes)
            #expect(try notes.note(id)?.body == "\(link)\nmore")
        }
        // Nor does a file that comes into the place of one that is gone.
        machine.remove("attachments/image.png")
        try notes.detach(try #require(try notes.attachments(of: ids[0]).first))
        try machine.sync()
        try put("other", "image.png")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try names(of: ids[1]) == ["image.png"] && text(of: ids[1], "image.png") == "B")
    }

    @Test("a file that the front matter names is attached by the name that stands there")
    func namedByFrontMatter() throws {
        try put("A", "image.png")
        try put("B", "image (2).png")
        try machine.save("![[image.png]]", as: "A.md")
        try machine.save("---\nattachments:\n  - \"[[attachments/image (2).png|image.png]]\"\n---\n![[image.png]]", as: "B.md")
        machine.clock.advance(1_000)
        try machine.sync()
        for name in ["A", "B"] {
            let note = try #require(try notes.titled(name))
            #expect(try names(of: note.id) == ["image.png"] && text(of: note.id, "image.png") == name && note.body == "![[image.png]]")
        }
        #expect(try machine.sync().isQuiet)
    }

    @Test(
        "a file is attached that a text links to with its accents in another form, and the one of the same form if both are there",
        arguments: [("e\u{301}", "\u{E9}"), ("\u{E9}", "e\u{301}")])
    func accents(here: String, there: String) throws {
        try machine.save("See ![[\(there).png]].", as: "First.md")
        machine.clock.advance(1_000)
        try machine.sync()
        try put("other form", "\(here).png")
        machine.clock.advance(1_000)
        try machine.sync()
        let first = try #require(try notes.titled("First"))
        #expect(try names(of: first.id).count == 1 && text(of: first.id, "\(there).png") == "other form")
        #expect(try notes.note(first.id)?.body.utf8.elementsEqual("See ![[\(there).png]].".utf8) == true)
        #expect(try machine.sync().isQuiet)
        try put("in a folder", "\(here)/b.png")
        try machine.save("![](attachments/\(MarkdownLinks.encoded(there))/b.png)", as: "Second.md")
        try put("same form", "\(there).png")
        try machine.save("![](attachments/\(there).png)", as: "Third.md")
        machine.clock.advance(1_000)
        try machine.sync()
        let (second, third) = (try #require(try notes.titled("Second")), try #require(try notes.titled("Third")))
        #expect(try text(of: second.id, "b.png") == "in a folder" && text(of: third.id, "\(there).png") == "same form")
        #expect(try names(of: first.id).count == 1 && text(of: first.id, "\(there).png") == "other form")
        #expect(try machine.sync().isQuiet)
        // Many at once, of which two are known and differ in their form alone.
        for number in 0..<8 { try put("\(number)", "\(number).txt") }
        try put("newer", "\(here).png")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try text(of: first.id, "\(there).png") == "newer" && text(of: third.id, "\(there).png") == "same form")
    }

    @Test("links out of the folder, and to what is no file, attach nothing")
    func outside() throws {
        try place.write("secret.txt", "secret")
        try machine.save(
            "![](../secret.txt) ![](attachments/../../secret.txt) ![](/etc/passwd) ![](attachments/link) ![](attachments/none)",
            as: "Note.md")
        try FileManager.default.createDirectory(atPath: machine.path("attachments"), withIntermediateDirectories: true)
        symlink("/etc/passwd", machine.path("attachments/link"))
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try names(of: try #require(try notes.titled("Note")).id).isEmpty)
    }

    @Test("a text attaches no file behind a linked folder")
    func linkedFolder() throws {
        try place.write("elsewhere/secret.txt", "not for the notes")
        try machine.sync()
        try FileManager.default.createDirectory(atPath: machine.path("attachments"), withIntermediateDirectories: true)
        symlink(place.path("elsewhere"), machine.path("attachments/away"))
        let note = try notes.add(title: "Note", body: "![](attachments/away/secret.txt)")
        machine.clock.advance(1_000)
        try machine.sync()
        try machine.save(machine.read("Note.md") + "more\n", as: "Note.md")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try notes.note(note.id)?.body.contains("more") == true)
        #expect(try notes.attachments(of: note.id).isEmpty)
    }
}
