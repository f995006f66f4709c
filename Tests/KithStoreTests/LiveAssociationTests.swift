import Foundation
import GRDB
import KithStore
import TestSupport
import Testing

@Suite("A live list ends the process, or stays as it was, where its rows have others of an association with them", .timeLimit(.minutes(10)))
struct LiveAssociationTests {
    private struct Shelf: Codable, Identifiable, Hashable, Sendable, FetchableRecord, PersistableRecord {
        static let books = hasMany(Book.self)
        static let parts = hasMany(Shelf.self, key: "parts", using: ForeignKey(["within"]))
        var id: UUID
        var name: String
        var within: UUID?
    }

    private struct Book: Codable, Identifiable, Hashable, Sendable, FetchableRecord, PersistableRecord {
        static let shelf = belongsTo(Shelf.self)
        var id: UUID
        var title: String
        var shelfId: UUID
    }

    private struct FullShelf: Codable, Identifiable, Sendable, FetchableRecord, EncodableRecord {
        var shelf: Shelf
        var books: [Book]
        var id: UUID { shelf.id }
    }

    private struct BuiltShelf: Codable, Identifiable, Sendable, FetchableRecord, EncodableRecord {
        var shelf: Shelf
        var parts: [Shelf]
        var id: UUID { shelf.id }
    }

    private struct PlacedBook: Codable, Identifiable, Sendable, FetchableRecord, EncodableRecord {
        var book: Book
        var shelf: Shelf
        var id: UUID { book.id }
    }

    private let here: TestStore
    private let shelf = Shelf(id: UUID(), name: "Low", within: nil)

    init() throws {
        let sql = """
            CREATE TABLE shelf (id BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '', within BLOB REFERENCES shelf (id));
            CREATE TABLE book (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', shelfId BLOB REFERENCES shelf (id));
            """
        here = try TestStore(sql: sql, tables: [TrackedTable("shelf"), TrackedTable("book")])
        try here.database.write { [shelf] db in try shelf.insert(db) }
    }

    @Test func `rows with all those that refer to them follow these`() async throws {
        var changes = here.store.live(Shelf.including(all: Shelf.books).asRequest(of: FullShelf.self)).makeAsyncIterator()
        #expect(try await changes.next()?.rows.first?.books.isEmpty == true)
        let book = Book(id: UUID(), title: "Sea", shelfId: shelf.id)
        try await here.database.write { try book.insert($0) }
        #expect(try await changes.next()?.rows.first?.books == [book])
        try await here.database.write { try $0.execute(sql: "UPDATE book SET title = 'Land'") }
        #expect(try await changes.next()?.rows.first?.books.map(\.title) == ["Land"])
    }

    @Test func `rows with others of the same table follow these, from an empty table on`() async throws {
        try await here.database.write { _ = try Shelf.deleteAll($0) }
        let request = Shelf.filter(Column("within") == nil).including(all: Shelf.parts).asRequest(of: BuiltShelf.self)
        var changes = here.store.live(request).makeAsyncIterator()
        #expect(try await changes.next()?.rows.isEmpty == true)
        try await here.database.write { [shelf] db in try shelf.insert(db) }
        #expect(try await changes.next()?.rows.first?.parts.isEmpty == true)
        let part = Shelf(id: UUID(), name: "Part", within: shelf.id)
        try await here.database.write { try part.insert($0) }
        #expect(try await changes.next()?.rows.first?.parts == [part])
    }

    @Test func `rows with the one that they refer to follow that one`() async throws {
        try await here.database.write { [shelf] db in try Book(id: UUID(), title: "Sea", shelfId: shelf.id).insert(db) }
        var changes = here.store.live(Book.including(required: Book.shelf).asRequest(of: PlacedBook.self)).makeAsyncIterator()
        #expect(try await changes.next()?.rows.first?.shelf.name == "Low")
        try await here.database.write { try $0.execute(sql: "UPDATE shelf SET name = 'High'") }
        #expect(try await changes.next()?.rows.first?.shelf.name == "High")
    }
}
