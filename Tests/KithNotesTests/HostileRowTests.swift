import Foundation
import GRDB
import KithNotes
import Testing

@Suite("A row that another program wrote brings the notes down")
struct HostileRowTests {
    private static let values: [(column: String, value: DatabaseValue)] = [
        ("title", Data([0xFF, 0xFE]).databaseValue), ("title", 5.databaseValue), ("title", "two\nlines\u{1B}[2J".databaseValue),
        ("body", "\u{1B}]0;x\u{7}\u{0}".databaseValue), ("body", 1.5.databaseValue),
        ("color", "purple".databaseValue), ("color", Int64.max.databaseValue), ("color", Int64.min.databaseValue),
        ("created", "yesterday".databaseValue), ("created", Int64.min.databaseValue),
        ("updated", Int64.max.databaseValue), ("updated", Double.infinity.databaseValue),
    ]

    @Test(arguments: values)
    func `whatever a column holds, the note can be listed, found, searched, edited and deleted`(column: String, value: DatabaseValue) throws
    {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Shopping")
        try store.overwrite(note.id, column, value)

        #expect(try store.list().map(\.id) == [note.id])
        #expect(try store.find(note.id.uuidString).id == note.id)
        for order in NoteQuery.Order.allCases {
            var query = NoteQuery(searching: "x")
            query.order = order
            _ = try store.list(query)
        }
        #expect(
            try store.edit(note.id) {
                $0.title = "Mended"; $0.body = ""
            }.title == "Mended")
        try store.delete([note.id])
        #expect(try store.list().isEmpty)
    }

    @Test(arguments: ["", "{}", "[1,2]", "[\"a\"", "null", "[[\"a\"]]", String(repeating: "[", count: 5_000)])
    func `tags that are not an array of strings count as none`(json: String) {
        #expect(throws: Never.self) {
            let store = try NotesStore.inMemory()
            let note = try store.add(title: "Shopping")
            // The store may refuse what is not JSON; what it takes must not hurt.
            try? store.overwrite(note.id, "tags", json)
            #expect(try store.list().first?.tags == [])
            var query = NoteQuery()
            query.tag = "a"
            #expect(try store.list(query).isEmpty)
        }
    }

    @Test func `a color that only a newer version knows survives an edit of the rest`() throws {
        let store = try NotesStore.inMemory()
        let note = try store.add(title: "Shopping")
        try store.overwrite(note.id, "color", 77)
        let edited = try store.edit(note.id) { $0.title = "Groceries" }
        #expect(edited.color == NoteColor(rawValue: 77))
        #expect(edited.color.name == "77")
    }
}
