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

    @Test func `a hand moves several notes together in the order in which they stand, by steps, and never past the pinned ones`() throws {
        let store = try NotesStore.inMemory()
        let notes = try ["a", "b", "c", "d", "e"].map { try store.add(title: $0) }
        func ids(_ titles: String) throws -> [UUID] {
            try titles.map { title in try #require(notes.first { $0.title == String(title) }).id }
        }
        func shift(_ titles: String, _ shift: NoteShift) throws -> String {
            let moved = try store.shift(try ids(titles), shift)
            let listed = try Self.titles(store)
            #expect(moved.count == titles.count && moved.total == 5)
            #expect(titles.contains(listed[moved.place]) && !listed[..<moved.place].contains { titles.contains($0) }, "\(titles) \(moved)")
            return listed.joined()
        }
        #expect(try Self.titles(store).joined() == "edcba")
        #expect(try shift("bd", .to(.first)) == "dbeca")
        #expect(try shift("da", .to(.before(try ids("e")[0]))) == "bdaec")
        #expect(try shift("c", .up) == "bdace")
        #expect(try shift("bd", .down) == "abdce")
        // What is apart comes together, before what stood before the first of it.
        #expect(try shift("be", .up) == "beadc")
        #expect(try shift("be", .up) == "beadc")
        #expect(try shift("c", .down) == "beadc")
        #expect(try shift("ad", .to(.after(try ids("a")[0]))) == "beadc")
        // One move is one step.
        #expect(try shift("adc", .to(.first)) == "adcbe")
        _ = try store.undo()
        #expect(try Self.titles(store).joined() == "beadc")
        try store.pin(try ids("ac"), true)
        #expect(try Self.titles(store).joined() == "acbed")
        #expect(try shift("a", .to(.after(try ids("e")[0]))) == "cabed")
        #expect(try shift("d", .to(.before(try ids("c")[0]))) == "cadbe")
        #expect(try shift("d", .up) == "cadbe")
        #expect(try shift("c", .down) == "acdbe")
        func code(_ work: () throws -> Void) -> NotesError.Code? {
            do { try work() } catch { return (error as? NotesError)?.code }
            return nil
        }
        #expect(code { _ = try store.shift(try ids("ab"), .up) } == .valueRejected)
        #expect(code { _ = try store.shift([UUID()], .up) } == .notFound)
        #expect(code { _ = try store.shift([], .to(.first)) } == .notFound)
        #expect(code { _ = try store.shift(try ids("b"), .to(.before(UUID()))) } == .notFound)
        #expect(try store.shift(try ids("b") + [UUID()] + ids("b"), .to(.last)).count == 1)
        #expect(try Self.titles(store).joined() == "acdeb")
    }
}
