import Foundation
import GRDB
import KithStore
import TestSupport
import Testing

/// Risk: a trigger of an attached file calls functions that note the write in another file.
@Suite struct AttachedDatabaseTests {
    private static func attach(_ uri: String, to store: TestStore) throws {
        try store.database.writeWithoutTransaction { try $0.execute(sql: "ATTACH ? AS other", arguments: [uri]) }
    }

    private static let writes = [
        "INSERT INTO other.note (id, title) VALUES (x'00000000000000000000000000000009', 'new')", "UPDATE other.note SET title = 'changed'",
        "REPLACE INTO other.note (id, title) SELECT id, 'replaced' FROM other.note", "DELETE FROM other.note",
        "UPDATE other.note SET rowid = rowid + 7",
    ]

    @Test(arguments: [Backend.queue, .pool])
    func `another database of Kith can be read, and a write to it is refused`(backend: Backend) throws {
        let (home, other) = (try TestStore(backend), try TestStore(.queue))
        try home.execute("INSERT INTO note (id, title) VALUES (?, 'home')", [key(1)])
        try other.execute("INSERT INTO note (id, title) VALUES (?, 'away')", [key(2)])
        try Self.attach(other.path, to: home)
        let before = try other.store.vector()
        for sql in Self.writes {
            let error = #expect(throws: DatabaseError.self) { try home.execute(sql) }
            #expect(error?.message?.contains("another database of Kith") == true, "\(sql): \(error?.message ?? "")")
        }
        try home.execute("INSERT INTO note (id, title) SELECT id, title FROM other.note")
        try home.execute("UPDATE note SET title = title || '!'")
        try home.execute("CREATE TABLE other.plain (x); INSERT INTO other.plain VALUES (1)")
        try home.database.writeWithoutTransaction { try $0.execute(sql: "DETACH other") }
        #expect(try home.database.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY id") } == ["home!", "away!"])
        #expect(try other.database.read { try String.fetchAll($0, sql: "SELECT title FROM note") } == ["away"])
        #expect(try other.store.vector() == before)
        for store in [home, other] { #expect(try store.store.verify().problems == []) }
    }

    @Test func `while a copy is attached nothing is written, unless it cannot be written at all`() throws {
        let home = try TestStore(.queue)
        try home.execute("INSERT INTO note (id, title) VALUES (?, 'home')", [key(1)])
        let copy = home.folder.file("copy.sqlite")
        try home.execute("DELETE FROM note WHERE id = ?", [key(7)])
        try home.database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy]) }
        try home.execute("DELETE FROM note")
        try Self.attach(copy, to: home)
        let vector = try home.store.vector()
        for sql in Self.writes.flatMap({ [$0, $0.replacing("other.", with: "main.")] }) {
            let error = try home.database.write { db -> DatabaseError? in
                do { try db.execute(sql: sql) } catch let error as DatabaseError { return error }
                return nil
            }
            let hasRows = try home.database.read { try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT * FROM main.note)") } == true
            guard sql.contains("other.") || sql.contains("VALUES") || hasRows else { continue }
            #expect(error?.message?.contains("is a copy of this one") == true, "\(sql): \(error?.message ?? "none")")
        }
        #expect(try home.store.vector() == vector)
        try home.database.writeWithoutTransaction { try $0.execute(sql: "DETACH other") }
        try Self.attach("file:\(copy)?mode=ro", to: home)
        try home.execute("INSERT INTO note SELECT * FROM other.note")
        #expect(try home.database.read { try String.fetchAll($0, sql: "SELECT title FROM note") } == ["home"])
        #expect(try home.store.verify().problems == [])
    }
}
