import Foundation
import KithStore
import Testing

@testable import KithNotes

@Suite("Notes that people have put in order stand in another one")
struct HandOrderTests {
    private static func titles(_ store: NotesStore) throws -> [String] {
        var query = NoteQuery()
        query.order = .hand
        let listed = try store.list(query).map(\.title)
        let page = try store.page(query, offset: 0, count: 100).entries.map(\.note)
        #expect(
            page.map(\.title).filter { title in !page.contains { $0.isPinned && $0.title == title } }
                == listed.filter { title in !page.contains { $0.isPinned && $0.title == title } })
        return page.map(\.title)
    }

    @Test func `notes stand as they were put, new ones and pinned ones before the others, and a move is no edit`() throws {
        let store = try NotesStore.inMemory()
        let notes = try ["a", "b", "c", "d", "e"].map { try store.add(title: $0) }
        func id(_ title: String) throws -> UUID { try #require(notes.first { $0.title == title }).id }
        #expect(try Self.titles(store) == ["e", "d", "c", "b", "a"])
        #expect(try store.move([try id("a"), try id("d")], to: .before(try id("c"))) == 2)
        #expect(try Self.titles(store) == ["e", "a", "d", "c", "b"])
        try store.move([try id("b")], to: .first)
        try store.move([try id("e")], to: .last)
        try store.move([try id("b")], to: .after(try id("a")))
        #expect(try Self.titles(store) == ["a", "b", "d", "c", "e"])
        #expect(try store.list().allSatisfy { note in notes.contains { $0.updatedMilliseconds == note.updatedMilliseconds } })
        try store.pin([try id("e"), try id("c")], true)
        #expect(try Self.titles(store) == ["c", "e", "a", "b", "d"])
        try store.move([try id("e")], to: .first)
        try store.move([try id("d")], to: .first)
        #expect(try Self.titles(store) == ["e", "c", "d", "a", "b"])
        #expect(try store.undo()?.title?.hasPrefix("Move \u{201C}d") == true)
        #expect(try Self.titles(store) == ["e", "c", "a", "b", "d"])
        #expect(throws: NotesError.self) { try store.move([notes[0].id], to: .after(UUID())) }
    }
}
