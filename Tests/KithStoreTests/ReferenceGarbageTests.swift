import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("Garbage takes what a reference needs, or stays for good because of one")
struct ReferenceGarbageTests {
    private static func count(_ table: String, _ store: TestStore) throws -> Int {
        try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") } ?? -1
    }

    @Test func `what a waiting row needs, however far, is kept until the row it waits for is back`() throws {
        func open() throws -> TestStore {
            try TestStore(
                sql: """
                    CREATE TABLE shelf (id BLOB PRIMARY KEY NOT NULL, name TEXT);
                    CREATE TABLE box (id BLOB PRIMARY KEY NOT NULL, name TEXT, shelf BLOB REFERENCES shelf (id));
                    CREATE TABLE trip (id BLOB PRIMARY KEY NOT NULL, name TEXT);
                    CREATE TABLE loan (
                        id BLOB PRIMARY KEY NOT NULL, box BLOB REFERENCES box (id), trip BLOB REFERENCES trip (id) ON DELETE CASCADE);
                    """, tables: ["shelf", "box", "trip", "loan"].map { TrackedTable($0) })
        }
        let (author, absent, reader) = (try open(), try open(), try open())
        try author.execute("INSERT INTO shelf VALUES (?, 's')", [key(1)])
        try author.execute("INSERT INTO box VALUES (?, 'b', ?)", [key(2), key(1)])
        try author.execute("INSERT INTO trip VALUES (?, 't')", [key(3)])
        try absent.receive(from: author)
        try absent.execute("INSERT INTO loan VALUES (?, ?, ?)", [key(4), key(2), key(3)])
        for table in ["box", "shelf", "trip"] { try author.execute("DELETE FROM \(table)") }
        for store in [author, absent] { try reader.receive(from: store) }
        // The trip is gone, the loan with it, and nothing holds the box.
        #expect(try Self.count("loan", reader) == 0)
        try reader.store.emptyTrash()
        #expect(try reader.store.collectGarbage(acknowledged: []) == 0)
        try absent.execute("UPDATE trip SET name = 'later'")
        try absent.receive(from: author)
        try reader.receive(from: absent)
        for store in [absent, reader] {
            for table in ["trip", "loan", "box", "shelf"] { #expect(try Self.count(table, store) == 1, "\(table)") }
        }
    }

    @Test func `a deleted row that refers to itself, and to what nobody has, is collected`() throws {
        func open() throws -> TestStore {
            try TestStore(
                sql: """
                    CREATE TABLE node (
                        id BLOB PRIMARY KEY NOT NULL, base BLOB REFERENCES node (id),
                        owner BLOB REFERENCES node (id) ON DELETE CASCADE);
                    """, tables: [TrackedTable("node")])
        }
        let (author, reader) = (try open(), try open())
        try author.database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.execute(sql: "INSERT INTO node VALUES (?, ?, ?)", arguments: [key(1), key(1), key(9)])
            try db.execute(sql: "DELETE FROM node")
        }
        try reader.receive(from: author)
        try reader.store.emptyTrash()
        #expect(try reader.store.collectGarbage(acknowledged: []) == 1)
        let waiting = try reader.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kith_waiting") }
        #expect(waiting == 0)
    }

    @Test func `a row that is inserted here shows at once where it stands in for one that is missing`() throws {
        func open() throws -> TestStore {
            try TestStore(
                sql: """
                    CREATE TABLE folder (id BLOB PRIMARY KEY NOT NULL, name TEXT);
                    CREATE TABLE note (
                        id BLOB PRIMARY KEY NOT NULL,
                        folder BLOB DEFAULT x'\(rowID(1))' REFERENCES folder (id) ON DELETE SET DEFAULT);
                    """, tables: [TrackedTable("folder"), TrackedTable("note")])
        }
        let (author, reader) = (try open(), try open())
        for id in 1...2 { try author.execute("INSERT INTO folder VALUES (?, 'f')", [key(UInt64(id))]) }
        try reader.receive(from: author)
        try reader.execute("INSERT INTO note VALUES (?, ?)", [key(3), key(2)])
        try author.execute("DELETE FROM folder")
        try reader.receive(from: author)
        let shown = { try reader.database.read { try Row.fetchOne($0, sql: "SELECT folder FROM note") }?["folder"] as Data? }
        #expect(try shown() == nil)
        try reader.execute("INSERT INTO folder VALUES (?, 'inbox')", [key(4)])
        #expect(try shown() == nil, "another folder")
        try reader.execute("INSERT INTO folder VALUES (?, 'inbox')", [key(1)])
        #expect(try shown() == key(1))
    }

    @Test(arguments: ["", "DEFERRABLE INITIALLY DEFERRED"])
    func `rows of this machine alone that refer to a row keep nobody from deleting it`(deferred: String) throws {
        let sql = TestStore.noteSQL + "; CREATE TABLE draft (note BLOB REFERENCES note (id) \(deferred))"
        let (author, reader) = (try TestStore(sql: sql), try TestStore(sql: sql))
        for id in 1...40 { try author.execute("INSERT INTO note (id, title) VALUES (?, 't')", [key(UInt64(id))]) }
        try reader.receive(from: author)
        try reader.execute("INSERT INTO draft VALUES (?)", [key(7)])
        try author.execute("DELETE FROM note")
        try reader.receive(from: author)
        #expect(try Self.count("note", reader) == 0)
        #expect(try Self.count("draft", reader) == 1, "whose row it is knows what to do")
        try reader.expectSound()
        #expect(try author.store.digest() == reader.store.digest())
    }
}
