import Foundation
import GRDB
import KithNotes
import Testing

@Suite("A deleted note is shown wrongly in the trash")
struct TrashedNoteTests {
    @Test func `each machine tells its own deletions from those of others`() throws {
        let first = try NotesStore.inMemory()
        let second = try NotesStore.inMemory(seed: 2)
        let note = try first.add(title: "One", body: "text", color: .blue, tags: ["a"])
        try second.pull(from: first)
        try first.delete([note.id])
        try second.pull(from: first)
        #expect(try first.trash().map(\.isDeletedHere) == [true])
        #expect(try second.trash().map(\.isDeletedHere) == [false])
        for store in [first, second] { #expect(try store.trash().map(\.note) == [note]) }
        #expect(try second.restore(note.id) == note)
        try first.pull(from: second)
        #expect(try first.list() == [note])
        #expect(code { try first.restore(note.id) } == .notFound)
    }

    @Test func `a note that another program filled with anything can be listed and restored`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "One")
        try store.overwrite(note.id, "body", "\u{1B}[2J\u{0}")
        try store.overwrite(note.id, "created", 1.5)
        try store.delete([note.id])
        #expect(try store.trash().map(\.note.title) == ["One"])
        #expect(try store.findInTrash(["One", note.shortID]).map(\.id) == [note.id])
        try store.restore(note.id)
        #expect(try store.list().count == 1)
    }
}
