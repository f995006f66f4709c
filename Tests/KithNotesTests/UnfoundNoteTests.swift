import Foundation
import KithNotes
import Testing

@Suite("A note cannot be found again")
struct UnfoundNoteTests {
    private static func library() throws -> NotesStore {
        let store = try NotesStore.inMemory()
        try store.add(title: "Einkauf", body: "Brötchen und KAFFEE", color: .yellow, tags: ["zuhause"])
        try store.add(title: "Résumé", body: "100% done_now", color: .green, tags: ["work", "zuhause"])
        try store.add(title: "日本", body: "東京へ行く")
        return store
    }

    @Test(
        arguments: [
            ("kaffee", ["Einkauf"]), ("BROTCHEN", ["Einkauf"]), ("resume", ["Résumé"]), ("RÉSUMÉ", ["Résumé"]),
            ("ZUHAUSE", ["Einkauf", "Résumé"]), ("東京", ["日本"]), ("tee", []), ("100%", ["Résumé"]), ("e_n", ["Résumé"]), ("%", ["Résumé"]),
            ("brötchen kaffee", ["Einkauf"]), ("brötchen tee", []), ("", ["Einkauf", "Résumé", "日本"]),
        ])
    func `searching sees neither case nor accents, and looks at titles, bodies and tags`(text: String, titles: [String]) throws {
        let found = try Self.library().list(NoteQuery(searching: text))
        #expect(found.map(\.title).sorted() == titles.sorted())
    }

    @Test func `a note that was deleted is said to be in the trash, by its title and by its id`() throws {
        let store = try Self.library()
        let note = try store.find("Einkauf")
        try store.delete([note.id])
        for name in ["Einkauf", note.id.uuidString, String(note.id.uuidString.suffix(8))] {
            let error = #expect(throws: NotesError.self) { try store.find(name) }
            #expect(error?.code == .notFound && error?.message.contains("is in the trash") == true, "\(String(describing: error))")
        }
        // A note that is there comes first.
        let other = try store.add(title: "Einkauf")
        #expect(try store.find("Einkauf").id == other.id)
    }

    @Test func `a tag is matched as a whole`() throws {
        let store = try Self.library()
        var query = NoteQuery()
        query.tag = "zuhause"
        #expect(try store.list(query).count == 2)
        query.tag = "zuh"
        #expect(try store.list(query).isEmpty)
        query.tag = "work"
        query.color = .green
        #expect(try store.list(query).map(\.title) == ["Résumé"])
        query.color = .red
        #expect(try store.list(query).isEmpty)
    }

    @Test func `notes come in the order that was asked for`() throws {
        let store = try NotesStore.inMemory()
        let first = try store.add(title: "banana")
        try store.add(title: "Ähre")
        try store.add(title: "Cherry")
        try store.edit(first.id) { $0.body = "ripe" }
        var query = NoteQuery()
        #expect(try store.list(query).map(\.title) == ["banana", "Cherry", "Ähre"])
        query.order = .created
        #expect(try store.list(query).map(\.title) == ["Cherry", "Ähre", "banana"])
        query.order = .title
        #expect(try store.list(query).map(\.title) == ["Ähre", "banana", "Cherry"])
        query.limit = 1
        #expect(try store.list(query).map(\.title) == ["Ähre"])
        query.limit = -1
        #expect(try store.list(query).isEmpty)
    }

    @Test func `a note that arrives from another device is found`() throws {
        let other = try Self.library()
        let store = try NotesStore.inMemory(seed: 2)
        try store.pull(from: other)
        #expect(try store.list(NoteQuery(searching: "kaffee")).map(\.title) == ["Einkauf"])
    }
}
