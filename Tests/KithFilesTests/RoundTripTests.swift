import Foundation
import KithNotes
import KithStore
import KithSync
import Testing

@testable import KithFiles

@Suite("What is exported and imported again is not what it was")
struct RoundTripTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Notes of every kind.
    private func filled() throws -> NotesStore {
        let notes = try folder.notes("first")
        let bodies = [
            "plain", "", "a\r\nb\r\n", "\u{FEFF}mark", "---\naliases: [x]\n---\nown front matter", "---\npinned: true\n---\nno pin",
            "---\npinned: no\n---\n",
            "---\n---\n", "no end", "end\n",
            "e\u{301} \u{E9} 👩‍👩‍👧",
        ]
        for (number, body) in bodies.enumerated() {
            let note = try notes.add(
                title: "Note \(number)", body: body, color: NoteColor(rawValue: Int64(number % 7)), tags: ["t\(number)", "work/plans"])
            try notes.pin([note.id], number.isMultiple(of: 2))
        }
        for title in ["Twice", "Twice", "twice", "a/b", "CON", "", "é", "e\u{301}", String(repeating: "long ", count: 150)] {
            try notes.add(title: title, body: "of \(title.prefix(5))", tags: ["#odd"])
        }
        let withFiles = try notes.add(title: "With files", body: "![](attachments/photo.jpg)")
        try notes.attach(URL(filePath: folder.write("photo.jpg", "a photo")), to: withFiles.id)
        try notes.attach(URL(filePath: folder.write("empty.bin", "")), to: withFiles.id)
        let other = try notes.add(title: "With another photo")
        try notes.attach(URL(filePath: folder.write("2/photo.jpg", "another photo")), to: other.id)
        let gone = try notes.add(title: "Gone", body: "in the trash")
        try notes.attach(URL(filePath: folder.write("lost.txt", String(repeating: "z", count: 500_000))), to: gone.id)
        try notes.delete([gone.id])
        return notes
    }

    @Test func `a file that a note has twice under one name is there twice, and the folder is the same after a round`() throws {
        let first = try folder.notes("first")
        let note = try first.add(title: "Twice")
        for content in ["one", "two", "one"] { try first.attach(URL(filePath: folder.write("p.txt", content)), to: note.id) }
        _ = try MarkdownExport.write(first, to: folder.path("one"))
        let second = try folder.notes("second")
        _ = try NoteImport.run(folder.path("one"), into: second)
        #expect(try second.attachments(of: note.id).map(\.id) == first.attachments(of: note.id).map(\.id))
        _ = try MarkdownExport.write(second, to: folder.path("two"))
        #expect(try folder.tree("two") == folder.tree("one"))
    }

    @Test("as a folder of Markdown")
    func markdown() throws {
        let first = try filled()
        let report = try MarkdownExport.write(first, to: folder.path("one"))
        #expect(report.notes == 23 && report.trashed == 1 && report.attachments == 4 && report.missing.isEmpty, "\(report)")
        let second = try folder.notes("second")
        let imported = try NoteImport.run(folder.path("one"), into: second)
        #expect(imported.added == 23 && imported.addedToTrash == 1 && imported.remarks.isEmpty, "\(imported)")
        #expect(try second.everything() == first.everything())
        _ = try MarkdownExport.write(second, to: folder.path("two"))
        #expect(try folder.tree("two") == folder.tree("one"))
        // The attachments of a note in the trash come back with it.
        let gone = try #require(try second.trash().first)
        try second.restore(gone.id)
        #expect(try second.attachments(of: gone.id).map(\.sizeBytes) == [500_000])
        #expect(try NoteImport.run(folder.path("one"), into: first).present == 23)
    }

    @Test("as JSON lines")
    func lines() throws {
        let first = try filled()
        let report = try JSONLinesExport.write(first, to: folder.path("one.jsonl"))
        #expect(report.notes == 23 && report.trashed == 1 && report.attachments == 4, "\(report)")
        let second = try folder.notes("second")
        let imported = try NoteImport.run(folder.path("one.jsonl"), into: second)
        #expect(imported.added == 23 && imported.remarks.isEmpty, "\(imported)")
        #expect(try second.everything() == first.everything())
        _ = try JSONLinesExport.write(second, to: folder.path("two.jsonl"))
        #expect(try folder.bytes("one.jsonl") == folder.bytes("two.jsonl"))
        #expect(try NoteImport.run(folder.path("one.jsonl"), into: second).present == 23)
    }

    @Test("a file of JSON lines that breaks off or was changed imports nothing")
    func damagedLines() throws {
        let first = try filled()
        _ = try JSONLinesExport.write(first, to: folder.path("whole.jsonl"))
        let bytes = try folder.bytes("whole.jsonl")
        let second = try folder.notes("second")
        for part in [1, bytes.count / 3, bytes.count - 10, bytes.count - 1] where part < bytes.count - 1 {
            let path = try folder.write("part-\(part).jsonl", bytes[..<part])
            #expect(throws: FilesError.self) { try NoteImport.run(path, into: second) }
        }
        var changed = bytes
        changed.insert(contentsOf: Array("nonsense\n".utf8), at: (bytes.firstIndex(of: 10) ?? 0) + 1)
        let path = try folder.write("changed.jsonl", changed)
        #expect { try NoteImport.run(path, into: second) } throws: { ($0 as? FilesError)?.message.contains("line 2") == true }
        #expect(try second.everything().isEmpty)
    }

    @Test("nothing is written over, and nothing is left of an export that fails")
    func failures() throws {
        let notes = try filled()
        try folder.write("there/mine.txt", "mine")
        #expect { try MarkdownExport.write(notes, to: folder.path("there")) } throws: { ($0 as? FilesError)?.code == .cannotCreate }
        #expect { try MarkdownExport.write(notes, to: folder.path("no/such/folder")) } throws: {
            ($0 as? FilesError)?.code == .cannotCreate
        }
        try folder.write("file.jsonl", "mine")
        #expect { try JSONLinesExport.write(notes, to: folder.path("file.jsonl")) } throws: { ($0 as? FilesError)?.code == .cannotCreate }
        #expect(try folder.bytes("file.jsonl") == Array("mine".utf8))
        try FileManager.default.createDirectory(atPath: folder.path("empty"), withIntermediateDirectories: false)
        #expect(try MarkdownExport.write(notes, to: folder.path("empty")).notes == 23)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.hasPrefix(".kith") }
        #expect(left.isEmpty)
    }

    @Test("an attachment whose bytes are not here is named, and everything else is written")
    func missing() throws {
        let first = try filled()
        let second = try folder.notes("second")
        _ = try second.store.apply(first.store.delta(since: second.store.vector()))
        let report = try MarkdownExport.write(second, to: folder.path("out"))
        #expect(report.notes == 23 && report.missing.count == 4 && report.attachments == 0)
        _ = try JSONLinesExport.write(second, to: folder.path("out.jsonl"))
        let third = try folder.notes("third")
        #expect(try NoteImport.run(folder.path("out.jsonl"), into: third).attachments == 4)
    }

    @Test("an attachment that the disk has changed is not written, and is set aside")
    func damagedAttachment() throws {
        let notes = try folder.notes("first")
        let note = try notes.add(title: "Note")
        try notes.attach(URL(filePath: folder.write("photo.jpg", "a photo")), to: note.id)
        let file = try #require(try notes.provenFile(of: notes.attachments(of: note.id)[0])).url
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        try Data("a phoTo".utf8).write(to: file)
        #expect(try MarkdownExport.write(notes, to: folder.path("out")).missing.count == 1)
        #expect(try SiteExport.write(notes, to: folder.path("site")).missing.count == 1)
        #expect(!FileManager.default.fileExists(atPath: folder.path("out/attachments")))
    }
}
