import Foundation
import KithNotes
import TestSupport
import Testing

@Suite("A reader misses what changed")
struct MissedNewsTests {
    @Test func `a list tells of every change, until it shows the last one`() async throws {
        let store = try NotesStore.inMemory()
        try store.add(title: "One")
        var lists = store.observe().makeAsyncIterator()
        #expect(try await lists.next()?.map(\.title) == ["One"])
        let two = try store.add(title: "Two")
        #expect(try await lists.next()?.map(\.title) == ["Two", "One"])
        try store.delete([two.id])
        #expect(try await lists.next()?.map(\.title) == ["One"])
    }

    @Test func `a list tells of what another connection to the file commits`() async throws {
        let folder = try TemporaryFolder()
        let reader = try NotesStore.open(folder.url("notes.sqlite"))
        let writer = try NotesStore.open(folder.url("notes.sqlite"))
        var lists = reader.observe().makeAsyncIterator()
        #expect(try await lists.next()?.isEmpty == true)
        try writer.add(title: "From elsewhere")
        #expect(try await lists.next()?.map(\.title) == ["From elsewhere"])
    }

    @Test func `a list tells of what arrives from another device`() async throws {
        let other = try NotesStore.inMemory(seed: 1)
        let store = try NotesStore.inMemory(seed: 2)
        var lists = store.observe().makeAsyncIterator()
        #expect(try await lists.next()?.isEmpty == true)
        try other.add(title: "From afar")
        try store.pull(from: other)
        #expect(try await lists.next()?.map(\.title) == ["From afar"])
    }

    @Test func `a list that stays the same says nothing`() async throws {
        let store = try NotesStore.inMemory()
        var query = NoteQuery()
        query.tag = "home"
        var lists = store.observe(query).makeAsyncIterator()
        #expect(try await lists.next()?.isEmpty == true)
        try store.add(title: "Elsewhere")
        try store.add(title: "Home", tags: ["home"])
        #expect(try await lists.next()?.map(\.title) == ["Home"])
    }

    @Test func `a reader whose task is cancelled gets an end`() async throws {
        let store = try NotesStore.inMemory()
        let reader = Task {
            var count = 0
            for try await _ in store.observe() { count += 1 }
            return count
        }
        reader.cancel()
        #expect(try await reader.value <= 1)
    }
}
