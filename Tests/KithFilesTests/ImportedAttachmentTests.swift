import Foundation
import GRDB
import KithNotes
import KithStore
import Testing

@testable import KithFiles

@Suite("An attachment that cannot be had costs a note, or is missed by nobody")
struct ImportedAttachmentTests {
    private let folder: TemporaryFolder
    private let notes: NotesStore

    init() throws {
        folder = try TemporaryFolder()
        notes = try folder.notes()
        let note = try notes.add(title: "With files", body: "text")
        for name in ["one", "two"] { try notes.attach(URL(filePath: folder.write(name, "the bytes of \(name)")), to: note.id) }
    }

    /// The notes as JSON lines, of which each was changed, or left out.
    private func exported(_ name: String, _ change: (String) -> String?) throws -> String {
        _ = try JSONLinesExport.write(notes, to: folder.path("whole.jsonl"))
        let lines = String(decoding: try folder.bytes("whole.jsonl"), as: UTF8.self).split(separator: "\n")
        return try folder.write(name, lines.compactMap { change(String($0)) }.map { $0 + "\n" }.joined())
    }

    private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    @Test("one that is damaged is named, and its note is left out, to be imported whole once it is mended")
    func damaged() throws {
        let file = try exported("a.jsonl") { $0.replacing(base64("the bytes of one"), with: base64("other bytes")) }
        let elsewhere = try folder.notes("elsewhere")
        let report = try NoteImport.run(file, into: elsewhere)
        #expect(report.added == 0 && report.leftOut == 1 && report.remarks.count == 1, "\(report)")
        #expect(report.remarks.first?.words.contains("\u{201C}one\u{201D} cannot be taken") == true)
        #expect(try elsewhere.list().isEmpty)
        let whole = try NoteImport.run(folder.path("whole.jsonl"), into: elsewhere)
        #expect(whole.added == 1 && whole.attachments == 2, "\(whole)")
    }

    @Test("those whose bytes are neither in a file of JSON lines nor here are named, and keep their sizes, in the trash too")
    func away() throws {
        let file = try exported("a.jsonl") { $0.contains("\"piece\"") ? nil : $0 }
        let elsewhere = try folder.notes("elsewhere")
        let report = try NoteImport.run(file, into: elsewhere)
        #expect(report.added == 1 && report.remarks.map(\.isLeftOut) == [false, false], "\(report)")
        #expect(report.remarks.allSatisfy { $0.words.contains("are not in the file") }, "\(report)")
        #expect(try elsewhere.everything() == notes.everything())
        let note = try #require(try elsewhere.titled("With files"))
        try elsewhere.delete([note.id])
        #expect(try elsewhere.everything().flatMap(\.attachments).map(\.sizeBytes) == [16, 16])
    }

    @Test("those whose bytes are here already are not")
    func here() throws {
        let elsewhere = try folder.notes("elsewhere")
        let other = try elsewhere.add(title: "Other")
        for name in ["one", "two"] { try elsewhere.attach(URL(filePath: folder.path(name)), to: other.id) }
        let file = try exported("a.jsonl") { $0.contains("\"piece\"") ? nil : $0 }
        let report = try NoteImport.run(file, into: elsewhere)
        #expect(report.added == 1 && report.remarks.isEmpty, "\(report)")
    }

    @Test("of a note that is exported and imported elsewhere each is there once when the machines meet")
    func metAfterwards() throws {
        try notes.attach(URL(filePath: folder.path("one")), to: notes.list()[0].id)
        _ = try MarkdownExport.write(notes, to: folder.path("out"))
        let elsewhere = try folder.notes("elsewhere")
        #expect(try NoteImport.run(folder.path("out"), into: elsewhere).attachments == 3)
        _ = try elsewhere.store.apply(notes.store.delta(since: elsewhere.store.vector()))
        let names = try elsewhere.everything().flatMap(\.attachments).map(\.name).sorted()
        // That which was attached a second time has no name of its own.
        #expect(names.filter { $0 == "two" } == ["two"] && names.filter { $0.hasPrefix("one") }.count <= 3, "\(names)")
    }

    @Test("names and tags that another device has made wrongly are made to fit, and cost no note", arguments: [true, false])
    func odd(isJSON: Bool) throws {
        try notes.store.database.write { db in
            try db.execute(
                sql: "UPDATE attachment SET name = 'a' || char(1) || char(10) || '.jpg' WHERE name = 'one'; UPDATE note SET tags = ?",
                arguments: [#"["a b","fine","\u0007","c,d"]"#])
        }
        let file = folder.path(isJSON ? "out.jsonl" : "out")
        if isJSON { _ = try JSONLinesExport.write(notes, to: file) } else { _ = try MarkdownExport.write(notes, to: file) }
        let elsewhere = try folder.notes("elsewhere")
        let report = try NoteImport.run(file, into: elsewhere)
        #expect(report.added == 1 && report.leftOut == 0 && !report.remarks.isEmpty, "\(report)")
        let note = try #require(try elsewhere.everything().first)
        #expect(note.attachments.count == 2 && note.attachments.contains { $0.name == "two" }, "\(note.attachments)")
        #expect(note.note.tags.contains("fine") && note.note.tags.contains("a-b") && note.note.tags.contains("c-d"))
    }

    @Test("an id of another program in the front matter keeps no link and no tag from being taken")
    func otherID() throws {
        let id = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
        try folder.write("vault/.obsidian/app.json", "{}")
        try folder.write("vault/pictures/p.png", "picture")
        try folder.write("vault/A.md", "---\nid: \(id)\ntags: [two words]\n---\nSee ![[p.png]] and #inline.")
        let report = try NoteImport.run(folder.path("vault"), into: notes)
        #expect(report.added == 1 && report.attachments == 1, "\(report)")
        let note = try #require(try UUID(uuidString: id).flatMap { try notes.note($0) })
        #expect(Set(note.tags) == ["two-words", "inline"])
        #expect(try NoteImport.run(folder.path("vault"), into: notes).present == 1)
    }
}
