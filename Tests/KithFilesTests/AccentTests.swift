import Foundation
import KithNotes
import KithStore
import Testing

@testable import KithFiles

@Suite("A file is not found, because its name has its accents in another form than the link")
struct AccentTests {
    private static let forms = [("e\u{301}", "\u{E9}"), ("\u{E9}", "e\u{301}")]

    private let folder: TemporaryFolder
    private let notes: NotesStore

    init() throws {
        folder = try TemporaryFolder()
        notes = try folder.notes()
    }

    private func text(_ title: String, in notes: NotesStore) throws -> String? {
        let note = try #require(try notes.titled(title))
        let file = try #require(try notes.attachments(of: note.id).first)
        return try notes.provenFile(of: file).map { try String(contentsOf: $0.url, encoding: .utf8) }
    }

    @Test("resources of Joplin and pictures of Keep come with their notes", arguments: forms)
    func others(here: String, there: String) throws {
        try folder.write("joplin/_resources/\(here).png", "resource")
        try folder.write("joplin/Joplin.md", "![](_resources/\(there).png)")
        try folder.write("Keep/\(here).png", "picture")
        let keep = #"{"title":"Keep","userEditedTimestampUsec":1,"attachments":[{"filePath":"\#(there).png"}]}"#
        try folder.write("Keep/note.json", keep)
        for (place, title, bytes) in [("joplin", "Joplin", "resource"), ("Keep", "Keep", "picture")] {
            let report = try NoteImport.run(folder.path(place), into: notes)
            #expect(report.added == 1 && report.attachments == 1 && report.remarks.isEmpty, "\(report)")
            #expect(try text(title, in: notes) == bytes)
        }
    }

    @Test("attachments of an export that went through another file system come back")
    func own() throws {
        let note = try notes.add(title: "Own", body: "![[\u{E9}.png]]")
        try notes.attach(URL(filePath: folder.write("\u{E9}.png", "bytes")), to: note.id)
        _ = try MarkdownExport.write(notes, to: folder.path("export"))
        #expect(rename(folder.path("export/attachments/\u{E9}.png"), folder.path("export/attachments/e\u{301}.png")) == 0)
        let other = try folder.notes("other")
        let report = try NoteImport.run(folder.path("export"), into: other)
        #expect(report.added == 1 && report.attachments == 1 && report.remarks.isEmpty, "\(report)")
        #expect(try text("Own", in: other) == "bytes" && other.everything() == notes.everything())
    }

    @Test("of two files of which the names differ in the form alone, one can be imported by itself", arguments: forms)
    func alone(here: String, there: String) throws {
        for name in [here, there] {
            try folder.write("vault/\(name).md", name)
            try folder.write("Keep/\(name).json", #"{"textContent":"\#(name)","userEditedTimestampUsec":1}"#)
        }
        for file in ["vault/\(here).md", "Keep/\(here).json"] {
            let report = try NoteImport.run(folder.path(file), into: notes)
            #expect(report.added == 1, "\(report)")
        }
        #expect(try notes.list().map { Array($0.body.utf8) } == [Array(here.utf8), Array(here.utf8)])
    }

    @Test("a folder that comes from another system, too, is imported once, also if an earlier version did it", arguments: forms)
    func twice(here: String, there: String) throws {
        for (place, name) in [("one", here), ("two", there)] { try folder.write("\(place)/caf\(name)/\(name).md", "text") }
        for (place, added) in [("one", 1), ("two", 0)] {
            let report = try NoteImport.run(folder.path(place), into: notes)
            #expect(report.added == added && report.present == 1 - added, "\(report)")
        }
        let other = try folder.notes("other")
        let id = UUID.derived(from: ["kith import 1", "caf\(here)/\(here).md", here, "text"], milliseconds: nil)
        _ = try other.add(once: id, title: here, body: "text")
        for place in ["one", "two"] {
            let report = try NoteImport.run(folder.path(place), into: other)
            #expect(report.added == 0 && report.present == 1, "\(report)")
        }
    }
}
