import Foundation
import KithNotes
import Testing

@testable import KithFiles

@Suite("Front matter of another program is taken for Kith's own, and lost")
struct ForeignFrontMatterTests {
    private static let foreign = "---\nattachments:\n  - \"[[scan.pdf]]\"\ndeleted: 2021-05-06\n---\nInvoice\n"

    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
    }

    private func lines(_ text: String) -> Set<Substring> { Set(text.split(separator: "\n")) }

    @Test func `a folder in step keeps lists of files elsewhere, and a time of deletion`() throws {
        let machine = try FolderMachine(place, "a")
        try machine.save(Self.foreign, as: "I.md")
        try machine.save("S", as: "scan.pdf")
        machine.clock.advance(1_000)
        try machine.sync()
        let note = try #require(try machine.notes.titled("I"))
        #expect(note.body == Self.foreign)
        try machine.notes.edit(note.id) { $0.tags.insert("bill") }
        machine.clock.advance(1_000)
        try machine.sync()
        let written = try machine.read("I.md")
        #expect(lines(written).isSuperset(of: lines(Self.foreign)) && written.contains("tags: [bill]"), "\(written)")
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
    }

    /// A folder with a note that has a picture, in step.
    private func withPicture() throws -> (FolderMachine, Note) {
        let machine = try FolderMachine(place, "a")
        try machine.save("PNG", as: "attachments/p.png")
        try machine.save("![](attachments/p.png)", as: "Note.md")
        machine.clock.advance(1_000)
        try machine.sync()
        return (machine, try #require(try machine.notes.titled("Note")))
    }

    @Test func `what is written beside Kith's own list stays, and Kith's own files stay attached`() throws {
        let (machine, note) = try withPicture()
        let own = "  - \"[[attachments/p.png|p.png]]\"\n"
        let text = try machine.read("Note.md")
        #expect(text.contains(own))
        try machine.save(text.replacingOccurrences(of: own, with: own + "  - \"[[scan.pdf]]\"\n"), as: "Note.md")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try machine.notes.attachments(of: note.id).map(\.name) == ["p.png"])
        try machine.notes.edit(note.id) { $0.tags.insert("bill") }
        machine.clock.advance(1_000)
        try machine.sync()
        let written = try machine.read("Note.md")
        #expect(written.contains("\"[[scan.pdf]]\"") && written.contains(own) && written.contains("tags: [bill]"), "\(written)")
        #expect(try machine.notes.attachments(of: note.id).map(\.name) == ["p.png"])
        #expect(try machine.sync().isQuiet)
    }

    /// Lists in which elements of Kith and of a user are mixed, and what stays of each in the note's text.
    private static let mixed: [(list: String, left: String)] =
        [
            ("\n  # mine\n  - \"[[scan.pdf]]\" # the bill\n\(own)  # end\n", "\n  # mine\n  - \"[[scan.pdf]]\" # the bill\n  # end\n"),
            ("\n  # all are Kith's\n\(own)", "\n  # all are Kith's\n"),
            (
                "\n\(own)  - |\n    two\n    lines\n  - \"two more\n    lines\"\n",
                "\n  - |\n    two\n    lines\n  - \"two more\n    lines\"\n"
            ),
            ("\n\(own)  - {file: scan.pdf, pages: 2}\n", "\n  - {file: scan.pdf, pages: 2}\n"),
            ("\n- '[[attachments/p.png|p.png]]'\n- \"[[scan.pdf]]\"\n", "\n- \"[[scan.pdf]]\"\n"),
        ]
        + [
            " [\"[[scan.pdf]]\", \"[[attachments/p.png|p.png]]\"] # both\n", " [\"[[attachments/p.png|p.png]]\"] # Kith's\n",
            "\n  - &own \"[[attachments/p.png|p.png]]\"\n  - \"[[scan.pdf]]\"\ncover: *own\n",
            "\n  - \"[[attachments/p.png|p.png]]\" # dear to me\n  - \"[[scan.pdf]]\"\n",
            "\n  - \"[[attachments/\\\n    p.png|p.png]]\"\n  - \"[[scan.pdf]]\"\n",
            "\n  - |\n    text\n  \(own)  - \"[[attachments/p.png|p.png]]\" #\n",
        ].map { ($0, $0) }

    private static let own = "  - \"[[attachments/p.png|p.png]]\"\n"

    @Test(arguments: mixed) func `of a list with elements of Kith and others, nothing of the others is lost`(_ list: String, _ left: String)
        throws
    {
        let (machine, note) = try withPicture()
        try machine.save(machine.read("Note.md").replacing("attachments:\n\(Self.own)", with: "attachments:\(list)"), as: "Note.md")
        machine.clock.advance(1_000)
        try machine.sync()
        try machine.notes.edit(note.id) { $0.tags.insert("bill") }
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try machine.notes.note(note.id)?.body == "---\nattachments:\(left)---\n![](attachments/p.png)")
        let written = try machine.read("Note.md")
        #expect(written.contains("tags: [bill]") && written.contains("attachments:\(left)"), "\(written)")
        #expect(try machine.notes.attachments(of: note.id).map(\.name) == ["p.png"])
        #expect(try machine.contents() == machine.noteContents())
        #expect(try machine.sync().isQuiet)
        _ = try MarkdownExport.write(machine.notes, to: place.path("out"))
        let elsewhere = try place.notes("elsewhere")
        #expect(try NoteImport.run(place.path("out"), into: elsewhere).remarks.isEmpty)
        #expect(try elsewhere.everything() == machine.notes.everything())
    }

    @Test func `of a file in a folder, what lies beside it is not taken for Kith's own`() throws {
        let machine = try FolderMachine(place, "a")
        let text = "---\nattachments:\n  - \"[[attachments/scan.pdf]]\"\n---\nInvoice\n"
        try machine.save(text, as: "work/I.md")
        try machine.save("S", as: "work/attachments/scan.pdf")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try lines(machine.read("work/I.md")).isSuperset(of: lines(text)))
        #expect(try machine.sync().isQuiet)
    }

    @Test func `an import attaches what such a list and the text name, and puts nothing into the trash`() throws {
        let notes = try place.notes()
        try place.write("vault/.obsidian/app.json", "{}")
        try place.write("vault/I.md", Self.foreign + "![[p.png]]")
        try place.write("vault/J.md", "---\nattachments:\n  - \"[[attachments/scan.pdf]]\"\n---\n![[p.png]] ![[scan.pdf]]")
        for name in ["pictures/p.png", "attachments/scan.pdf"] { try place.write("vault/\(name)", name) }
        let report = try NoteImport.run(place.path("vault"), into: notes)
        #expect(report.added == 2 && report.addedToTrash == 0 && report.attachments == 4 && report.remarks.isEmpty, "\(report)")
        let note = try #require(try notes.titled("I"))
        #expect(note.body == Self.foreign + "![[p.png]]")
        for name in ["I", "J"] {
            let note = try #require(try notes.titled(name))
            #expect(try notes.attachments(of: note.id).map(\.name) == ["p.png", "scan.pdf"])
        }
        #expect(try NoteImport.run(place.path("vault"), into: notes).present == 2)
        // What Kith has written is read as before.
        try notes.delete([note.id])
        _ = try MarkdownExport.write(notes, to: place.path("out"))
        let elsewhere = try place.notes("elsewhere")
        #expect(try NoteImport.run(place.path("out"), into: elsewhere).addedToTrash == 1)
        #expect(try elsewhere.everything() == notes.everything())
    }

    @Test(arguments: ["", " ", " ~", " null", " Null # none"])
    func `an empty title is none`(value: String) throws {
        let notes = try place.notes()
        let text = "---\ntitle:\(value)\n---\nx\n"
        try place.write("vault/Call with Anna.md", text)
        #expect(try NoteImport.run(place.path("vault"), into: notes).added == 1)
        #expect(try notes.list().map(\.title) == ["Call with Anna"])
        let machine = try FolderMachine(place, "a")
        try machine.save(text, as: "Call with Anna.md")
        machine.clock.advance(1_000)
        try machine.sync()
        #expect(try machine.notes.list().map(\.title) == ["Call with Anna"])
        #expect(try machine.read("Call with Anna.md").contains("title:\(value)\n"))
        #expect(try machine.sync().isQuiet)
    }

    @Test func `a title in quotation marks is one, though empty or null`() throws {
        for (value, title) in [("\"\"", ""), ("\"null\"", "null"), ("'~'", "~")] {
            #expect(try MarkdownNote(Array("---\ntitle: \(value)\n---\nx".utf8)).title == title)
        }
    }

    @Test func `notes that an earlier version imported from such files are known again`() throws {
        let notes = try place.notes()
        try place.write("vault/I.md", Self.foreign)
        try place.write("vault/T.md", "---\ntitle:\n---\nx\n")
        for (origin, title, body) in [("I.md", "I", "Invoice\n"), ("T.md", "", "x\n")] {
            let id = UUID.derived(from: ["kith import 1", origin, title, body], milliseconds: nil)
            let note = Note(id: id, title: title, body: body, createdMilliseconds: 1, updatedMilliseconds: 1)
            #expect(try notes.insert([WholeNote(note)]) == [.added])
        }
        let report = try NoteImport.run(place.path("vault"), into: notes)
        #expect(report.added == 0 && report.present == 2, "\(report)")
    }

    @Test func `a new file's own time of change counts, and so it does for what has no other`() throws {
        let machine = try FolderMachine(place, "a")
        try machine.save("---\nupdated: 2016-07-08T09:10:11Z\n---\nx\n", as: "D.md")
        try machine.save("---\ncreated: 2015-01-01T00:00:00Z\nupdated: 9000-01-01T00:00:00Z\n---\ny\n", as: "E.md")
        let now = machine.clock.milliseconds
        machine.clock.advance(1_000)
        try machine.sync()
        let (old, new) = (try #require(try machine.notes.titled("D")), try #require(try machine.notes.titled("E")))
        let time = try #require(TimeText.milliseconds("2016-07-08T09:10:11Z"))
        #expect(old.updatedMilliseconds == time && old.createdMilliseconds == time)
        #expect(try machine.read("D.md").contains("updated: 2016-07-08T09:10:11.000Z"))
        #expect(new.updatedMilliseconds >= now && new.updatedMilliseconds <= machine.clock.milliseconds)
        #expect(new.createdMilliseconds == TimeText.milliseconds("2015-01-01T00:00:00Z"))
    }
}
