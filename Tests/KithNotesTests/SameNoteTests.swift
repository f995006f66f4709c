import Foundation
import KithNotes
import KithStore
import Testing

@Suite("Two machines make the same note, or tick the same box, and one of them loses by it")
struct SameNoteTests {
    @Test func `two machines that open the day apart have one note, with both texts`() throws {
        let a = try NotesStore.inMemory(seed: 1)
        let b = try NotesStore.inMemory(seed: 2)
        let first = try a.note(ofDay: "2026-11-24")
        let second = try b.note(ofDay: "2026-11-24")
        #expect(first.id == second.id)
        try a.edit(first.id) { $0.body += "Bread\n" }
        try b.edit(second.id) { $0.body += "Milk\n" }
        try a.pull(from: b)
        try b.pull(from: a)
        for store in [a, b] {
            #expect(try store.list().map(\.title) == ["2026-11-24"])
            #expect(try store.note(ofDay: "2026-11-24").id == first.id)
            #expect(try store.note(first.id)?.body.split(separator: "\n").sorted() == ["Bread", "Milk"])
            #expect(try store.conflicts().isEmpty && store.store.verify().isSound)
        }
        #expect(try a.note(first.id) == b.note(first.id))
        // Who opens the day again adds to what is there.
        try b.edit(first.id) { $0.body += "Eggs\n" }
        try a.pull(from: b)
        #expect(try a.note(ofDay: "2026-11-24").body.hasSuffix("Eggs\n"))
    }

    @Test func `two machines that import one file before they meet have each note once`() throws {
        let stores = try [1, 2].map { try NotesStore.inMemory(seed: $0) }
        let written = try stores[0].add(title: "Plan", body: "line one\n", tags: ["home"])
        let foreign = Note(
            id: UUID(), title: "Recipe", body: "Flour\n", tags: ["b", "a"], createdMilliseconds: 1_000, updatedMilliseconds: 2_000,
            isPinned: true)
        for store in stores {
            let outcomes = try store.insert([WholeNote(foreign), WholeNote(written)])
            #expect(outcomes.first == .added)
        }
        try stores[1].edit(foreign.id) { $0.body += "Milk\n" }
        try stores[0].pull(from: stores[1])
        try stores[1].pull(from: stores[0])
        for store in stores {
            #expect(try store.note(written.id)?.body == "line one\n")
            #expect(try store.note(foreign.id)?.body == "Flour\nMilk\n")
            #expect(try store.note(foreign.id)?.isPinned == true && store.conflicts().isEmpty && store.store.verify().isSound)
        }
    }

    @Test func `two machines that tick one box have it ticked, and the boxes beside it as they were`() throws {
        let a = try NotesStore.inMemory(seed: 1)
        let b = try NotesStore.inMemory(seed: 2)
        let note = try a.add(title: "List", body: "- [ ] Bread\n- [ ] Milk\n- [ ] Eggs\n")
        try b.pull(from: a)
        for store in [a, b] {
            let version = try store.bodyVersion(of: note.id)
            try store.saveBody("- [ ] Bread\n- [x] Milk\n- [ ] Eggs\n", of: note.id, base: version)
        }
        try b.saveBody("- [x] Bread\n- [x] Milk\n- [ ] Eggs\n", of: note.id, base: b.bodyVersion(of: note.id))
        try a.pull(from: b)
        try b.pull(from: a)
        // Both have typed into the box, which the page shows as one tick.
        for store in [a, b] { #expect(try store.note(note.id)?.body == "- [x] Bread\n- [xx] Milk\n- [ ] Eggs\n") }
    }
}
