import Foundation
import KithNotes
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
}
