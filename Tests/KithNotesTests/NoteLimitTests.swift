import Foundation
import GRDB
import Kith
import Testing

@testable import KithNotes

@Suite("A note that cannot be kept is taken")
struct NoteLimitTests {
    private static func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }

    @Test func `titles, bodies and tags of the largest size are kept whole`() throws {
        let store = try NotesStore.inMemory()
        let tags = NoteTags((0..<NoteLimits.tagsMax).map { "\($0)-" + Self.text(NoteLimits.tagBytesMax - 3) })
        let note = try store.add(
            title: Self.text(NoteLimits.titleBytesMax), body: Self.text(NoteLimits.bodyBytesMax), tags: tags)
        #expect(try store.note(note.id) == note)
        #expect(note.tags.count == NoteLimits.tagsMax)
    }

    @Test func `one byte, one tag or one character past that is refused, and nothing is written`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Shopping")
        let attempts: [(inout Note) -> Void] = [
            { $0.title = Self.text(NoteLimits.titleBytesMax + 1) },
            { $0.body = Self.text(NoteLimits.bodyBytesMax + 1) },
            { $0.tags = [Self.text(NoteLimits.tagBytesMax + 1)] },
            { $0.tags = NoteTags((0...NoteLimits.tagsMax).map(String.init)) },
            { $0.title = "two\nlines" },
            { $0.title = "escape\u{1B}[2J" },
            { $0.title = "nul\u{0}" },
            { $0.body = "nul\u{0}" },
            { $0.tags = [""] },
            { $0.tags = ["two words"] },
            { $0.tags = ["a,b"] },
            { $0.title = "" },
        ]
        for (index, attempt) in attempts.enumerated() {
            #expect(code { try store.edit(note.id, attempt) } == .valueRejected, "attempt \(index)")
        }
        #expect(code { try store.add(title: "", body: "") } == .valueRejected)
        #expect(try store.list() == [note])
    }

    @Test func `what stands behind a NUL of another device is shown, found, and stays when the note is changed`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Log", body: "one")
        try store.store.database.write {
            try $0.execute(sql: "UPDATE note SET title = 'Lo' || char(0) || 'gs', body = 'one' || char(0) || 'two'")
        }
        let all: [Note?] = [try store.note(note.id), try store.list().first, try store.find(note.shortID)]
        for shown in all {
            #expect(shown?.title == "Lo\u{FFFD}gs" && shown?.body == "one\u{FFFD}two")
        }
        var walked: [String] = []
        try store.forEachNote { walked.append($0.note.body) }
        #expect(walked == ["one\u{FFFD}two"])
        #expect(try store.search(SearchText("two"), offset: 0, count: 9).entries.map(\.note.title) == ["Lo\u{FFFD}gs"])
        try store.edit(note.id) { $0.body += " three" }
        #expect(try store.note(note.id)?.body == "one\u{FFFD}two three")
        try store.delete([note.id])
        #expect(try store.trash().first?.note.body == "one\u{FFFD}two three")
    }

    @Test func `what machines have made too long together can be changed, and does not grow`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Log")
        let (long, tags) = (Self.text(NoteLimits.bodyBytesMax + 1_000), (0..<NoteLimits.tagsMax + 3).map { "t\($0)" })
        try store.store.database.write { db in
            try db.execute(
                sql: "UPDATE note SET body = ?, tags = ?, title = ?",
                arguments: [long, try NoteTags(tags).json(), Self.text(NoteLimits.titleBytesMax + 9)])
        }
        try store.edit(note.id) { $0.color = .red }
        try store.edit(note.id) { $0.tags = NoteTags(tags.dropLast()) }
        #expect(code { try store.edit(note.id) { $0.tags = NoteTags(tags + ["more"]) } } == .valueRejected)
        #expect(code { try store.edit(note.id) { $0.body += "more" } } == .valueRejected)
        let shorter = String(long.dropLast(10))
        try store.edit(note.id) { $0.body = shorter }
        #expect(code { try store.edit(note.id) { $0.title += "x" } } == .valueRejected)
        try store.edit(note.id) { $0.title = "Long log" }
        let kept = try #require(try store.note(note.id))
        #expect(kept.body == shorter && kept.color == .red && kept.title == "Long log" && kept.tags.count == tags.count - 1)
        // A store that gets it whole, as an import does, takes it.
        let other = try NotesStore.inMemory()
        #expect(try other.insert([WholeNote(kept)]) == [.added])
        #expect(try other.note(note.id) == kept)
    }

    @Test func `a tag that another device has made and nobody may make keeps no note from being changed`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Honest", tags: ["home"])
        try store.overwrite(note.id, "tags", "[\"home\",\"\(Self.text(200))\",\"a b\"]")
        try store.edit(note.id) { $0.body = "more" }
        #expect(try store.note(note.id)?.body == "more" && store.note(note.id)?.tags.count == 3)
        #expect(code { try store.edit(note.id) { $0.tags = ["home", "c d"] } } == .valueRejected)
    }

    @Test func `history passes over what a member has made of an attachment`() throws {
        let store = try NotesStore.inMemory()
        for (name, note) in [("x'FFFE'", "zeroblob(16)"), ("'a'", "5")] {
            try store.store.database.write { db in
                try db.execute(
                    sql: "INSERT INTO attachment (id, note, name, size, file) VALUES (randomblob(16), \(note), \(name), 1, NULL)")
            }
        }
        #expect(throws: Never.self) { try store.changes(since: .distantPast) }
    }

    @Test func `a note of a body alone, or of a title alone, is a note`() throws {
        let store = try NotesStore.inMemory()
        #expect(try store.add(title: "", body: "x").title.isEmpty)
        #expect(try store.add(title: "x").body.isEmpty)
    }

    @Test func `colors have names, in any case, and numbers`() {
        #expect(NoteColor(named: "Yellow") == .yellow)
        #expect(NoteColor(named: "4") == .red)
        #expect(NoteColor(named: "5") == nil)
        #expect(NoteColor(named: "purple") == nil)
        #expect(NoteColor(named: "") == nil)
    }
}
