import Foundation
import GRDB
import KithNotes
import KithStore
import TestSupport
import Testing

@Suite("Edits get lost")
struct LostEditTests {
    @Test func `an edit writes only what it changes, so that edits of different fields on two machines both stay`() throws {
        let a = try NotesStore.inMemory(seed: 1)
        let b = try NotesStore.inMemory(seed: 2)
        let note = try a.add(title: "Shopping", body: "Bread")
        try b.pull(from: a)

        try a.edit(note.id) { $0.title = "Groceries" }
        try b.edit(note.id) { $0.body = "Bread, coffee" }
        try b.edit(note.id) { $0.tags.insert("home") }
        try a.pull(from: b)
        try b.pull(from: a)

        for store in [a, b] {
            let merged = try #require(try store.note(note.id))
            #expect(merged.title == "Groceries")
            #expect(merged.body == "Bread, coffee")
            #expect(merged.tags == ["home"])
            #expect(try store.conflicts().isEmpty)
        }
    }

    @Test func `tags that two machines add and remove merge one by one`() throws {
        let a = try NotesStore.inMemory(seed: 1)
        let b = try NotesStore.inMemory(seed: 2)
        let note = try a.add(title: "Shopping", tags: ["food", "todo"])
        try b.pull(from: a)

        try a.edit(note.id) { $0.tags.remove("todo") }
        try b.edit(note.id) { $0.tags.insert("home") }
        try a.pull(from: b)
        try b.pull(from: a)

        #expect(try a.note(note.id)?.tags == ["food", "home"])
        #expect(try b.note(note.id)?.tags == ["food", "home"])
    }

    @Test func `an edit that changes nothing writes nothing`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Shopping")
        let vector = try store.store.vector()
        let same = try store.edit(note.id) { $0.title = "Shopping" }
        #expect(same == note)
        #expect(try store.store.vector() == vector)
    }

    @Test func `an edit sets the time of change, and leaves that of the addition`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Shopping")
        let edited = try store.edit(note.id) { $0.color = .green }
        #expect(edited.createdMilliseconds == note.createdMilliseconds)
        #expect(edited.updatedMilliseconds > note.updatedMilliseconds)
    }

    @Test func `two connections to one file write in turns and both see everything`() async throws {
        let folder = try TemporaryFolder()
        let first = try NotesStore.open(folder.url("notes.sqlite"))
        let second = try NotesStore.open(folder.url("notes.sqlite"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (store, name) in [(first, "first"), (second, "second")] {
                group.addTask {
                    for number in 1...50 { try store.add(title: "\(name) \(number)") }
                }
            }
            try await group.waitForAll()
        }
        let titles = Set(try first.list().map(\.title))
        #expect(titles.count == 100)
        #expect(Set(try second.list().map(\.title)) == titles)
        #expect(try first.store.verify().isSound)
        try first.close()
        try second.close()
    }

    // MARK: Editing for a while

    @Test func `what others change in other fields during an edit stays`() throws {
        let store = try NotesStore.inMemory()
        let base = try store.add(title: "Shopping", body: "Bread")
        try store.edit(base.id) { $0.tags.insert("home") }
        var edited = base
        edited.body = "Bread, coffee"
        let saved = try store.save(edited, base: base)
        #expect(saved.body == "Bread, coffee")
        #expect(saved.tags == ["home"])
    }

    @Test func `what others change in the same field during an edit is not overwritten`() throws {
        let store = try NotesStore.inMemory()
        let base = try store.add(title: "Shopping", body: "Bread")
        try store.edit(base.id) { $0.title = "Shopping list" }
        var edited = base
        edited.body = "Bread, coffee"
        edited.title = "Groceries"
        #expect(code { try store.save(edited, base: base) } == .changedMeanwhile)
        #expect(try store.note(base.id)?.body == "Bread")
        #expect(try store.note(base.id)?.title == "Shopping list")
    }

    @Test func `a body that was open while others wrote in it keeps what they wrote, by the text or by its version`() throws {
        let a = try NotesStore.inMemory(seed: 1)
        let b = try NotesStore.inMemory(seed: 2)
        let base = try a.add(title: "Shopping", body: "Bread\nCoffee\n")
        let version = try a.bodyVersion(of: base.id)
        try b.pull(from: a)
        try b.edit(base.id) { $0.body += "Milk\n" }
        try b.edit(base.id) { $0.body = "Eggs\n" + $0.body }
        try a.pull(from: b)
        var edited = base
        edited.body = "Bread\nGreen coffee\n"
        #expect(try a.save(edited, base: base).body == "Eggs\nBread\nGreen coffee\nMilk\n")
        #expect(try a.saveBody("Bread!\nCoffee\n", of: base.id, base: version).body == "Eggs\nBread!\nGreen coffee\nMilk\n")
        try b.pull(from: a)
        #expect(try b.note(base.id)?.body == a.note(base.id)?.body)
        let history = try b.history(of: base.id)
        #expect(history.map(\.isOwn) == [false, false, true, true, false])
        #expect(try b.body(of: base.id, at: try #require(history.last).id) == "Bread\nCoffee\n")
        #expect(try b.version(history[1].shortID, of: base.id) == history[1].id)
        #expect(code { _ = try b.version("nonsense", of: base.id) } == .notFound)
        #expect(try a.store.verify().isSound)
    }

    @Test func `what was typed into a note before it was deleted and restored stands where it was typed`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Shopping", body: "Bread")
        let base = try store.bodyVersion(of: note.id)
        try store.delete([note.id])
        try store.restore([note.id])
        #expect(try store.saveBody("Bread, coffee", of: note.id, base: base).body == "Bread, coffee")
        #expect(try store.saveBody("Bread, coffee", of: note.id, base: base).body == "Bread, coffee")
    }

    @Test func `notes that were made when bodies were registers open with their bodies, on both machines once`() throws {
        let folder = try TemporaryFolder()
        let file = folder.url("notes.sqlite")
        let database = try DatabaseQueue(path: file.path)
        try NotesSchema.migrator.migrate(database)
        let old = try SyncedDatabase(database, tables: [TrackedTable("note", sets: ["tags"])])
        let id = UUID()
        try database.write { db in
            try db.execute(
                sql: "INSERT INTO note (id, title, body) VALUES (?, 'Old', 'Written before')",
                arguments: [withUnsafeBytes(of: id.uuid) { Data($0) }])
        }
        old.close()
        try database.close()
        let notes = try NotesStore.open(file)
        #expect(try notes.note(id)?.body == "Written before")
        let other = try NotesStore.inMemory(seed: 2)
        try other.pull(from: notes)
        try other.edit(id) { $0.body += ", and after" }
        try notes.edit(id) { $0.body = "Long ago: " + $0.body }
        try notes.pull(from: other)
        #expect(try notes.note(id)?.body == "Long ago: Written before, and after")
        #expect(try notes.store.verify().isSound)
        try notes.close()
    }

    @Test func `an edit that came to the same as that of others is fine`() throws {
        let store = try NotesStore.inMemory()
        let base = try store.add(title: "Shopping", body: "Bread")
        try store.edit(base.id) { $0.body = "Coffee" }
        var edited = base
        edited.body = "Coffee"
        #expect(try store.save(edited, base: base).body == "Coffee")
    }

    @Test func `an edit of a note that was deleted meanwhile says so`() throws {
        let store = try NotesStore.inMemory()
        let base = try store.add(title: "Shopping")
        try store.delete([base.id])
        var edited = base
        edited.title = "Groceries"
        #expect(code { try store.save(edited, base: base) } == .notFound)
        #expect(code { try store.edit(base.id) { $0.title = "x" } } == .notFound)
    }

    @Test func `two spellings of one accent are two texts, and the change from one to the other is written`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "caf\u{E9}", tags: ["caf\u{E9}", "cafe\u{301}"])
        #expect(note.tags.count == 2)
        let edited = try store.edit(note.id) { $0.title = "cafe\u{301}" }
        #expect(Array(edited.title.utf8) == Array("cafe\u{301}".utf8))
    }
}
