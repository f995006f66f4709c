import Foundation
import KithStore
import TestSupport
import Testing

@testable import KithNotes

@Suite("An undo takes back another thing than what was done last")
struct StepTests {
    private let folder: TemporaryFolder
    private let notes: NotesStore

    init() throws {
        folder = try TemporaryFolder()
        notes = try NotesStore.open(folder.url("notes.sqlite"), options: .deterministic(seed: 1))
        try Data("leaf".utf8).write(to: folder.url("leaf.txt"))
    }

    /// The name of the step that is taken back.
    private func undone() throws -> String? { try notes.undo()?.title }

    @Test func `whatever a person does is a step of its own`() throws {
        let note = try notes.add(title: "Tea", body: "green")
        let other = try notes.add(title: "Milk")
        let version = try #require(try notes.versionedNote(note.id)?.version)

        let attached = try notes.attach(folder.url("leaf.txt"), to: note.id)
        #expect(try undone() == "Attach \u{201C}leaf.txt\u{201D} to \u{201C}Tea\u{201D}")
        #expect(try notes.attachments(of: note.id).isEmpty)
        _ = try notes.redo()
        try notes.detach(attached)
        #expect(try undone() == "Detach \u{201C}leaf.txt\u{201D} from \u{201C}Tea\u{201D}")
        #expect(try notes.attachments(of: note.id).map(\.id) == [attached.id])
        #expect(try notes.edit([note.id, other.id]) { $0.tags.insert("home") } == 2)
        #expect(try undone() == "Edit \u{201C}Tea\u{201D} and 1 more")
        #expect(try notes.list().allSatisfy { Array($0.tags).isEmpty })
        try notes.saveBody("black", of: note.id, base: version)
        #expect(try undone() == "Edit \u{201C}Tea\u{201D}" && notes.note(note.id)?.body == "green")
        try notes.saveBody("black", of: note.id, base: version) { $0.title = "Black tea" }
        #expect(try undone() == "Edit \u{201C}Tea\u{201D}")
        #expect(try notes.note(note.id).map { [$0.title, $0.body] } == ["Tea", "green"])
        let day = try notes.note(ofDay: "2026-11-24")
        #expect(try undone() == "Add \u{201C}2026-11-24\u{201D}" && notes.note(day.id) == nil)
    }

    @Test func `a choice between versions is a step`() throws {
        let there = try NotesStore.inMemory(seed: 2)
        let note = try notes.add(title: "Tea")
        try there.pull(from: notes)
        try notes.edit(note.id) { $0.title = "Green tea" }
        try there.edit(note.id) { $0.title = "Black tea" }
        try notes.pull(from: there)
        let conflict = try #require(try notes.conflicts().first)
        let shown = try #require(try notes.note(note.id)?.title)
        let chosen = try #require(conflict.versions.firstIndex { $0.text != shown })
        try notes.keep(chosen, of: conflict)
        #expect(try notes.note(note.id)?.title != shown)
        #expect(try undone()?.hasPrefix("Choose \u{201C}") == true && notes.note(note.id)?.title == shown)
    }

    @Test func `what a page saves while it is typed, and what an import puts into the trash, is no step`() throws {
        let note = try notes.add(title: "Tea", body: "green")
        let version = try #require(try notes.versionedNote(note.id)?.version)
        _ = try notes.saveVersioned("black", of: note.id, base: version)
        let id = UUID()
        let gone = WholeNote(Note(id: id, title: "Gone", createdMilliseconds: 1, updatedMilliseconds: 1), isTrashed: true)
        #expect(try notes.insert([gone]) == [.added])
        try notes.edit(note.id, isStep: false) { $0.title = "Tea and milk" }
        #expect(try undone() == "Add \u{201C}Tea\u{201D}")
        #expect(try notes.trash().map(\.note.title).contains("Gone"))
    }
}
