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

    @Test func `a note that two machines bring back at once is one note, whose text may stand in it twice, the same everywhere`() throws {
        let stores = try [1, 2, 3].map { try NotesStore.inMemory(seed: $0) }
        func exchange() throws {
            for one in stores { for other in stores where one !== other { try one.pull(from: other) } }
        }
        let note = try stores[0].add(title: "One", body: "text", tags: ["a"])
        try exchange()
        try stores[0].delete([note.id])
        try exchange()
        for store in stores.prefix(2) { #expect(try store.restore(note.id).body == "text") }
        // What one of them writes into it before they meet stays, too.
        try stores[1].edit(note.id) { $0.body += " and more" }
        try exchange()
        let bodies = try stores.map { try $0.list().map(\.body) }
        // Each machine has begun the text anew, and neither knew of the other: docs/text.md, "Restarts".
        #expect(["texttext and more", "text and moretext"].contains(bodies[0].first), "\(bodies[0])")
        #expect(bodies[0].count == 1 && bodies[1] == bodies[0] && bodies[2] == bodies[0])
        // Everything else is one; whoever deletes the one text deletes it for all.
        #expect(try stores[2].list().map(\.tags) == [["a"]])
        try stores[2].edit(note.id) { $0.body = "text and more" }
        try exchange()
        for store in stores { #expect(try store.list().map(\.body) == ["text and more"]) }
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
