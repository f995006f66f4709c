import Foundation
import GRDB
import KithNotes
import KithStore
import TestSupport
import Testing

@testable import KithFiles

@Suite("Other programs show the picture of another note, or a link to a picture changes on its way out and in")
struct AttachmentLinkTests {
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
    }

    /// Notes with this text, each with a picture of its own.
    @discardableResult
    private func add(_ titles: [String], _ body: String, to notes: NotesStore) throws -> [UUID] {
        try titles.map { title in
            let note = try notes.add(title: title, body: body)
            try notes.attach(URL(filePath: place.write("\(title)/image.png", title)), to: note.id)
            return note.id
        }
    }

    private static let body =
        "![[image.png]] [[image.png|x]] ![](attachments/image.png) <img src=\"../attachments/image.png\">\n\n[a]: attachments/image.png"
    private static let inFile =
        "![[image (2).png]] [[image (2).png|x]] ![](attachments/image%20%282%29.png) <img src=\"../attachments/image%20%282%29.png\">\n\n[a]: attachments/image%20%282%29.png"

    @Test("in an export, links name the file that the note has, and an import gives the text back")
    func export() throws {
        let notes = try place.notes("first")
        try add(["A", "B"], Self.body, to: notes)
        let gone = try add(["C"], Self.body, to: notes)
        try notes.delete(gone)
        _ = try MarkdownExport.write(notes, to: place.path("one"))
        let files = try place.tree("one").mapValues { String(decoding: $0, as: UTF8.self) }
        #expect(files["attachments/image (2).png"] == "B" && files["attachments/image (3).png"] == "C")
        #expect(files["A.md"]?.hasSuffix("\n" + Self.body) == true && files["A.md"]?.contains("[[./") == false)
        #expect(files["B.md"]?.hasSuffix("\n" + Self.inFile) == true, "\(files["B.md"] ?? "")")
        #expect(
            files[".trash/C.md"]?.contains("![[image (3).png]]") == true
                && files[".trash/C.md"]?.contains("[[./../attachments/image") == true)
        let second = try place.notes("second")
        #expect(try NoteImport.run(place.path("one"), into: second).remarks.isEmpty)
        #expect(try second.everything() == notes.everything())
        _ = try MarkdownExport.write(second, to: place.path("two"))
        #expect(try place.tree("two") == place.tree("one"))
    }

    @Test(
        "in an export, links in angle brackets name the file of the note, whatever its name is",
        arguments: ["ü.png", "50% off.png", "100% sure.png", "100%ab.png", "a b.png", "a#b.png"])
    func angles(name: String) throws {
        let notes = try place.notes("first")
        let body = "![](<attachments/\(name.replacing("#", with: "%23"))>)"
        for title in ["A", "B"] {
            let note = try notes.add(title: title, body: body)
            try notes.attach(URL(filePath: place.write("\(title)/\(name)", title)), to: note.id)
        }
        _ = try MarkdownExport.write(notes, to: place.path("one"))
        let file = String(decoding: try place.bytes("one/B.md"), as: UTF8.self)
        #expect(file.hasSuffix("\n" + body.replacing(".png", with: " (2).png")), "\(file)")
        let second = try place.notes("second")
        #expect(try NoteImport.run(place.path("one"), into: second).remarks.isEmpty)
        #expect(try second.everything() == notes.everything())
    }

    @Test(
        "a text whose links could not be read again stays as it is",
        arguments: [
            "![[image.png]] ![[image (2).png]]", "![[ image.png ]]", "![](attachments/im%61ge.png)",
            "![](<attachments/image.png>) ![](attachments/image%20(2).png)",
        ])
    func unsafe(body: String) throws {
        let notes = try place.notes("first")
        try add(["A", "B"], body, to: notes)
        _ = try MarkdownExport.write(notes, to: place.path("one"))
        let file = String(decoding: try place.bytes("one/B.md"), as: UTF8.self)
        #expect(file.hasSuffix("\n" + body) && file.contains("\"[[attachments/image (2).png|image.png]]\""), "\(file)")
        let second = try place.notes("second")
        _ = try NoteImport.run(place.path("one"), into: second)
        #expect(try second.everything() == notes.everything())
    }

    @Test("a link to a place in an attachment names its file, too, and comes back")
    func places() throws {
        let notes = try place.notes("first")
        try add(["A", "B"], "![](attachments/image.png#part)", to: notes)
        _ = try MarkdownExport.write(notes, to: place.path("one"))
        let file = String(decoding: try place.bytes("one/B.md"), as: UTF8.self)
        #expect(file.hasSuffix("\n![](attachments/image%20%282%29.png#part)"), "\(file)")
        let second = try place.notes("second")
        _ = try NoteImport.run(place.path("one"), into: second)
        #expect(try second.everything() == notes.everything())
    }

    @Test("an export of an earlier version is read as it is")
    func earlier() throws {
        let id = UUID().uuidString.lowercased()
        let body = "![[image.png]] ![[image (2).png]]"
        try place.write("old/attachments/image (2).png", "B")
        try place.write("old/B.md", "---\nid: \(id)\nattachments:\n  - \"[[attachments/image (2).png|image.png]]\"\n---\n\(body)")
        let notes = try place.notes()
        _ = try NoteImport.run(place.path("old"), into: notes)
        #expect(try notes.titled("B")?.body == body)
    }

    @Test("whatever a text and the names of files are, it is read as it was written", arguments: 0..<UInt64(Soak.count(200)))
    func random(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func any(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }
        let names = ["a.png", "a (2).png", "a (2) (2).png", "b c.png", "\u{E9}.png", "e\u{301}.png", "x#1.png", "a%20b.png", "a%2520b.png"]
        let pieces =
            names + [
                "[[", "![[", "]]", "|", "#", "](", ")", "(", "<", ">", "attachments/", "./", "../", "%20", " ", "\n", "[", "]: ", "src=\"",
                "\\",
            ]
        for _ in 0..<20 {
            var body = any(["", "---\ncover: \"[[a.png]]\"\n---\n"])
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let name = any(names)
                let piece = any([
                    "![[\(name)]]", "[[attachments/\(name)|x]]", "![](attachments/\(name))",
                    "![](attachments/\(MarkdownLinks.encoded(name)))", "![](<attachments/\(name)>)", "<img src=\"../attachments/\(name)\">",
                ])
                body += Bool.random(using: &random) ? piece : any(pieces)
            }
            var note = MarkdownNote(body: body)
            (note.id, note.isPinned) = (UUID(), false)
            let files = names.shuffled(using: &random)
            for (name, file) in zip(names.shuffled(using: &random), files).prefix(Int.random(in: 0...4, using: &random)) {
                let outward = seed.isMultiple(of: 2) ? "" : "../"
                note.attachments.append(MarkdownNote.Attachment(path: "\(outward)attachments/\(file)", name: name))
            }
            note.nameFilesInLinks(withWay: true)
            let read = try MarkdownNote(note.bytes())
            #expect(AttachmentLinks(read.attachments).inNote(read.body).utf8.elementsEqual(body.utf8), "\(body.debugDescription)")
        }
    }

    // MARK: Folders

    @Test("in a folder, links name the file that the note has, and what a person writes is read by the note's names")
    func folder() throws {
        let machine = try FolderMachine(place, "a")
        let ids = try add(["A", "B"], Self.body, to: machine.notes)
        func body() throws -> String? { try machine.notes.note(ids[1])?.body }
        func sync() throws {
            machine.clock.advance(1_000)
            try machine.sync()
            #expect(try machine.sync().isQuiet)
            for id in ids { #expect(try machine.notes.attachments(of: id).map(\.name) == ["image.png"]) }
        }
        try sync()
        #expect(try machine.read("A.md").hasSuffix("\n" + Self.body) && machine.read("B.md").hasSuffix("\n" + Self.inFile))
        try machine.save(machine.read("B.md") + "\nmore", as: "B.md")
        try sync()
        #expect(try body() == Self.body + "\nmore" && machine.read("B.md").hasSuffix(Self.inFile + "\nmore"))
        // Without front matter, or with one that another program has written.
        try machine.save(Self.inFile + "\nbare", as: "B.md")
        try sync()
        #expect(try body() == Self.body + "\nbare" && machine.read("B.md").hasSuffix(Self.inFile + "\nbare"))
        try machine.save(machine.read("B.md").replacing("[[./", with: "[[") + "!", as: "B.md")
        try sync()
        #expect(try body() == Self.body + "\nbare!" && machine.read("B.md").contains("[[./attachments/image (2).png|image.png]]"))
        // A link by the note's own name comes to name the file.
        try machine.save(machine.read("B.md") + " ![[image.png]]", as: "B.md")
        try sync()
        #expect(try body() == Self.body + "\nbare! ![[image.png]]" && machine.read("B.md").hasSuffix("bare! ![[image (2).png]]"))
        // A copy is a note with the same picture.
        try machine.save(machine.read("B.md"), as: "Copy.md")
        machine.clock.advance(1_000)
        try machine.sync()
        let copy = try #require(try machine.notes.list().first { !ids.contains($0.id) })
        #expect(try copy.body == body() && machine.notes.attachments(of: copy.id).map(\.name) == ["image.png"])
        #expect(try machine.read("Copy.md").hasSuffix("bare! ![[image (2).png]]"))
        // A note that is written elsewhere.
        try machine.notes.detach(try #require(try machine.notes.attachments(of: ids[1]).first))
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try body() == Self.body + "\nbare! ![[image.png]]" && machine.read("B.md").hasSuffix("bare! ![[image.png]]"))
    }

    @Test("from a folder in the folder, links say the way to the file, and the note's text stays as it is")
    func inFolders() throws {
        let machine = try FolderMachine(place, "a")
        let body =
            "![](attachments/image.png) ![[image.png]] ![[attachments/image.png]] <img src=\"attachments/image.png\"> `](attachments/image.png)`"
        func inFile(_ up: String) -> String {
            body.replacing("![](", with: "![](" + up).replacing("src=\"", with: "src=\"" + up)
        }
        let id = try #require(try add(["A"], body, to: machine.notes).first)
        func sync() throws {
            machine.clock.advance(1_000)
            try machine.sync()
            #expect(try machine.sync().isQuiet && machine.notes.attachments(of: id).map(\.name) == ["image.png"])
        }
        try sync()
        #expect(try machine.read("A.md").hasSuffix("\n" + body))
        var path = "A.md"
        for (folder, up) in [("work/", "../"), ("work/deep/", "../../"), ("", "")] {
            try machine.move(path, to: "\(folder)A.md")
            path = "\(folder)A.md"
            try sync()
            #expect(try machine.notes.note(id)?.body == body && machine.read(path).hasSuffix("\n" + inFile(up)), "\(path)")
        }
        try machine.move("A.md", to: "work/A.md")
        try sync()
        // What is written in the file, with front matter and without.
        let link = " ![](../attachments/image.png)"
        try machine.save(machine.read("work/A.md") + link, as: "work/A.md")
        try sync()
        #expect(try machine.notes.note(id)?.body == body + " ![](attachments/image.png)")
        try machine.save(inFile("../") + "bare", as: "work/A.md")
        try sync()
        #expect(try machine.notes.note(id)?.body == body + "bare" && machine.read("work/A.md").hasSuffix("\n" + inFile("../") + "bare"))
        // A text that says both could not be read again.
        let both = "![](attachments/image.png) ![](../attachments/image.png)"
        try machine.notes.edit(id) { $0.body = both }
        try sync()
        #expect(try machine.notes.note(id)?.body == both && machine.read("work/A.md").hasSuffix("\n" + both))
    }

    @Test("a file in a folder that links to a file among the attachments is a note with it, wherever another machine has its file")
    func foundInFolders() throws {
        let machine = try FolderMachine(place, "a")
        let text = "![](../attachments/new.png) ![](../attachments/none.png) ![](attachments/own.png)"
        try machine.save("PNG", as: "attachments/new.png")
        try machine.save("PNG", as: "attachments/own.png")
        try machine.save("mine", as: "work/attachments/own.png")
        try machine.save(text, as: "work/New.md")
        machine.clock.advance(1_000)
        try machine.sync()
        let note = try #require(try machine.notes.titled("New"))
        #expect(note.body == text.replacing("../attachments/new", with: "attachments/new"))
        #expect(try machine.notes.attachments(of: note.id).map(\.name) == ["new.png"])
        #expect(try machine.read("work/New.md").hasSuffix("\n" + text) && machine.sync().isQuiet)
    }

    @Test("files of an earlier version are read as they are, and then name files")
    func earlierFolder() throws {
        let machine = try FolderMachine(place, "a")
        let ids = try add(["A", "B"], "![[image.png]]", to: machine.notes)
        try machine.sync()
        // As it was written and known then.
        let old = try machine.read("B.md").replacing("[[./", with: "[[").replacing("![[image (2).png]]", with: "![[image.png]]")
        let bytes = Array(old.utf8)
        let tables = FolderTables(folder: machine.folder.number)
        try machine.notes.store.database.write { db in
            var record = try #require(try tables.record(of: ids[1], db))
            record.take(try FolderContent(bytes, path: "B.md"), hash: FolderPass.hash(bytes), stamp: nil)
            try tables.save(record, db)
        }
        try machine.save(old, as: "B.md")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try machine.notes.note(ids[1])?.body == "![[image.png]]" && machine.read("B.md").hasSuffix("![[image (2).png]]"))
        #expect(try machine.sync().isQuiet)
    }

    @Test(
        "whatever is attached, detached, written and saved in turn, a text is changed by nothing but what was written into it",
        arguments: 0..<UInt64(Soak.count(2)))
    func history(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let machine = try FolderMachine(place, "a", seed: seed)
        let names = ["image.png", "image (2).png", "image (2) (2).png"]
        let ids = try (0..<3).map { try machine.notes.add(title: "Note \($0)").id }
        var bodies = ids.map { _ in "" }
        try machine.sync()
        let files = try (0..<3).map { index in
            let folder = ["", "work/", "work/deep/"][index]
            try machine.move("Note \(index).md", to: "\(folder)Note \(index).md")
            return "\(folder)Note \(index).md"
        }
        machine.clock.advance(1_000)
        try machine.sync()
        for step in 0..<25 {
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let (index, name) = (Int.random(in: 0..<3, using: &random), names.randomElement(using: &random) ?? "")
                let file = files[index]
                let attachments = try machine.notes.attachments(of: ids[index])
                switch Int.random(in: 0..<6, using: &random) {
                case 0 where !attachments.contains { $0.name == name }:
                    let content = "\(Int.random(in: 0..<4, using: &random))"
                    try machine.notes.attach(URL(filePath: place.write("\(content)/\(name)", content)), to: ids[index])
                case 1:
                    if let attachment = attachments.randomElement(using: &random) { try machine.notes.detach(attachment) }
                case 2:
                    // Only what it has, or what is nowhere: anything else is attached.
                    let known = attachments.map(\.name) + ["none.png"]
                    let link = known.randomElement(using: &random) ?? ""
                    let note = try #require(try machine.notes.note(ids[index]))
                    guard note.body == bodies[index] else { continue }
                    bodies[index] += Bool.random(using: &random) ? " ![[\(link)]]" : " ![](attachments/\(MarkdownLinks.encoded(link)))"
                    var edited = note
                    edited.body = bodies[index]
                    _ = try machine.notes.save(edited, base: note)
                default:
                    guard var text = try? machine.read(file), try machine.notes.note(ids[index])?.body == bodies[index] else { continue }
                    if step.isMultiple(of: 3) { text = text.replacing("[[././", with: "[[").replacing("[[./", with: "[[") }
                    if step.isMultiple(of: 5), let end = text.ranges(of: "\n---\n").first { text = String(text[end.upperBound...]) }
                    // The file may not have what was written into the note in this turn.
                    guard try content(of: file, machine).body == bodies[index] else { continue }
                    bodies[index] += " w\(step)"
                    try machine.save(text + " w\(step)", as: file)
                }
            }
            machine.clock.advance(1_000)
            try machine.sync()
            for (index, id) in ids.enumerated() {
                #expect(try machine.notes.note(id)?.body == bodies[index], "seed \(seed), step \(step)")
                #expect(try content(of: files[index], machine).body == bodies[index], "seed \(seed), step \(step)")
            }
            #expect(try machine.sync().isQuiet, "seed \(seed), step \(step)")
        }
    }

    private func content(of file: String, _ machine: FolderMachine) throws -> FolderContent {
        try FolderContent(Array(machine.read(file).utf8), path: file)
    }
}
