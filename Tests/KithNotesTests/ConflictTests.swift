import Foundation
import KithNotes
import KithStore
import Testing

@Suite("A version of a note gets lost")
struct ConflictTests {
    /// Two machines that changed the title of one note at the same time, and then met.
    private static func disagreement() throws -> (NotesStore, NotesStore, Note) {
        let a = try NotesStore.inMemory(seed: 1)
        let b = try NotesStore.inMemory(seed: 2)
        let note = try a.add(title: "Bread")
        try b.pull(from: a)
        try a.edit(note.id) { $0.title = "Bread, milk" }
        try b.edit(note.id) { $0.title = "Bread, coffee" }
        try a.pull(from: b)
        try b.pull(from: a)
        return (a, b, note)
    }

    @Test func `both versions are kept, and both machines show the same one`() throws {
        let (a, b, note) = try Self.disagreement()
        let conflicts = try a.conflicts()
        #expect(conflicts.map(\.field) == [.title])
        #expect(conflicts.map(\.noteID) == [note.id])
        #expect(Set(conflicts.flatMap { $0.versions.map(\.text) }) == ["Bread, milk", "Bread, coffee"])
        #expect(conflicts.first?.versions.first?.text == (try a.note(note.id)?.title))
        #expect(conflicts.flatMap { $0.versions.map(\.author) }.count { $0 == .own } == 1)
        let theirs = try b.conflicts()
        #expect(theirs.map(\.versions).map { $0.map(\.text) } == conflicts.map(\.versions).map { $0.map(\.text) })
        #expect(theirs.flatMap { $0.versions.map(\.written) } == conflicts.flatMap { $0.versions.map(\.written) })
    }

    @Test(arguments: [0, 1]) func `the version that is chosen stays everywhere, and nothing is left to choose`(version: Int) throws {
        let (a, b, note) = try Self.disagreement()
        let conflict = try #require(try a.conflicts().first)
        let kept = try a.keep(version, of: conflict)
        #expect(kept.title == conflict.versions[version].text)
        try b.pull(from: a)
        for store in [a, b] {
            #expect(try store.conflicts().isEmpty)
            #expect(try store.note(note.id)?.title == kept.title)
        }
    }

    @Test func `a choice between versions that are no longer these is refused`() throws {
        let (a, _, note) = try Self.disagreement()
        let conflict = try #require(try a.conflicts().first)
        try a.edit(note.id) { $0.title = "Nothing" }
        #expect(code { try a.keep(0, of: conflict) } == .changedMeanwhile)
        #expect(code { try a.keep(2, of: conflict) } == .notFound)
        #expect(code { try a.keep(-1, of: conflict) } == .notFound)
        #expect(try a.note(note.id)?.title == "Nothing")
    }

    @Test func `two machines that wrote the same have nothing to choose`() throws {
        let a = try NotesStore.inMemory(seed: 1)
        let b = try NotesStore.inMemory(seed: 2)
        let note = try a.add(title: "Shopping")
        try b.pull(from: a)
        try a.edit(note.id) { $0.title = "Bread" }
        try b.edit(note.id) { $0.title = "Bread" }
        try a.pull(from: b)
        #expect(try a.conflicts(of: try #require(try a.note(note.id))).isEmpty)
    }

    @Test func `the version that is not shown is found by searching and by its title`() throws {
        let (a, b, note) = try Self.disagreement()
        try a.add(title: "Milk")
        for store in [a, b] {
            for title in ["Bread, milk", "Bread, coffee", "bread, MILK"] { #expect(try store.find(title).id == note.id) }
            for words in ["milk bread", "coffee"] {
                #expect(try store.list(NoteQuery(searching: words)).map(\.id) == [note.id])
            }
            #expect(try store.list(NoteQuery(searching: "milk tea")).isEmpty)
        }
        #expect(try a.list(NoteQuery(searching: "milk")).count == 2)
        var query = NoteQuery(searching: "coffee")
        query.tag = "home"
        #expect(try a.list(query).isEmpty)
    }

    @Test func `versions of a color are shown by name`() throws {
        let a = try NotesStore.inMemory(seed: 1)
        let b = try NotesStore.inMemory(seed: 2)
        let note = try a.add(title: "Shopping")
        try b.pull(from: a)
        try a.edit(note.id) { $0.color = .red }
        try b.overwrite(note.id, "color", 77)
        try a.pull(from: b)
        let conflict = try #require(try a.conflicts().first)
        #expect(conflict.field == .color)
        #expect(Set(conflict.versions.map(\.text)) == ["red", "77"])
    }

    @Test func `a note that was deleted there and edited here stays`() throws {
        let a = try NotesStore.inMemory(seed: 1)
        let b = try NotesStore.inMemory(seed: 2)
        let note = try a.add(title: "Shopping")
        try b.pull(from: a)
        try a.delete([note.id])
        try b.edit(note.id) { $0.body = "Bread" }
        try a.pull(from: b)
        try b.pull(from: a)
        #expect(try a.note(note.id)?.body == "Bread")
        #expect(try b.note(note.id)?.body == "Bread")
    }

    /// Two machines that changed the train in the body of one note at the same time, and then met.
    private static func trains() throws -> (NotesStore, NotesStore, Note) {
        let a = try NotesStore.inMemory(seed: 1)
        let b = try NotesStore.inMemory(seed: 2)
        let note = try a.add(title: "Trip", body: "Train: 9:00\nBuy milk")
        try b.pull(from: a)
        try a.edit(note.id) { $0.body = "Train: 10:30\nBuy milk" }
        try b.edit(note.id) { $0.body = "Train: 8:15\nBuy milk" }
        try a.pull(from: b)
        try b.pull(from: a)
        return (a, b, note)
    }

    @Test(arguments: [0, 1, nil])
    func `both versions of a line are kept beside the merged body until one is chosen`(version: Int?) throws {
        let (a, b, note) = try Self.trains()
        let merged = try #require(try a.note(note.id)?.body)
        for store in [a, b] {
            let conflicts = try store.conflicts()
            #expect(conflicts.map(\.field) == [.body])
            #expect(Set(conflicts.flatMap { $0.versions.map(\.text) }) == ["Train: 10:30", "Train: 8:15"])
            #expect(conflicts.first?.lines?.before == "Train: 9:00")
            #expect(conflicts.first?.lines.map { $0.shown + "\nBuy milk" } == merged)
        }
        let conflict = try #require(try b.conflicts().first)
        let kept = try version.map { try b.keep($0, of: conflict) } ?? b.keepMerged(conflict)
        #expect(kept.body == (version.map { conflict.versions[$0].text + "\nBuy milk" } ?? merged))
        #expect(code { try b.keepMerged(conflict) } == .changedMeanwhile)
        try a.pull(from: b)
        for store in [a, b] {
            #expect(try store.conflicts().isEmpty)
            #expect(try store.note(note.id)?.body == kept.body)
        }
    }
}
