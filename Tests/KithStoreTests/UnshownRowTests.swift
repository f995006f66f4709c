import Foundation
import GRDB
import KithStore
import KithSync
import Testing

@Suite("Rows that are kept and not shown cannot be found, or nothing says why they are not shown")
struct UnshownRowTests {
    private static let old = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT CHECK (title <> 'bad'))"
    private static let new = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT);
        CREATE TABLE label (id BLOB PRIMARY KEY NOT NULL, name TEXT)
        """

    @Test func `rows of unknown tables and refused rows are listed with their reasons`() throws {
        let newer = try TestStore(sql: Self.new, tables: [TrackedTable("note"), TrackedTable("label")])
        let older = try TestStore(sql: Self.old, tables: [TrackedTable("note")])
        try newer.execute("INSERT INTO note VALUES (?, 'bad'), (?, 'good')", [key(1), key(2)])
        try newer.execute("INSERT INTO label VALUES (?, 'red')", [key(3)])
        try newer.execute("INSERT INTO note VALUES (?, 'gone')", [key(4)])
        try newer.execute("DELETE FROM note WHERE id = ?", [key(4)])
        try older.receive(from: newer)
        let found = try older.store.unshownRows()
        #expect(found.map(\.table) == ["label", "note"])
        #expect(found.map(\.id) == [rowID(3), rowID(1)])
        #expect(found.first?.reason == .unknownTable)
        guard case .refused(let message)? = found.last?.reason else {
            Issue.record("\(found)")
            return
        }
        #expect(message.contains("CHECK") && found.allSatisfy { $0.since != nil })
        #expect(found.last?.uuid == UUID(rowID(1)))
        #expect(try older.database.read { try older.store.unshownRows($0) } == found)
        #expect(try older.database.write { try older.store.unshownRows($0, max: 1) } == Array(found.prefix(1)))
        #expect(try older.store.unshownRows(max: -1).isEmpty)
        #expect(try newer.store.unshownRows().isEmpty)
        try older.expectSound()
    }

    @Test func `rows that wait for others say which column they wait for`() throws {
        let sql = """
            CREATE TABLE list (id BLOB PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE item (
                id BLOB PRIMARY KEY NOT NULL, list BLOB REFERENCES list ON DELETE CASCADE,
                other BLOB REFERENCES list ON DELETE SET NULL, title TEXT)
            """
        let tables = [TrackedTable("list"), TrackedTable("item")]
        let (first, second) = (try TestStore(sql: sql, tables: tables), try TestStore(sql: sql, tables: tables))
        try first.execute("INSERT INTO list VALUES (?, 'a'), (?, 'b')", [key(1), key(2)])
        try second.receive(from: first)
        // One deletes the lists while the other one fills them.
        try first.execute("DELETE FROM list")
        try second.execute("INSERT INTO item (id, list, title) VALUES (?, ?, 'x')", [key(10), key(1)])
        try second.execute("INSERT INTO item (id, other, title) VALUES (?, ?, 'y')", [key(11), key(2)])
        try first.receive(from: second)
        let found = try first.store.unshownRows()
        #expect(found.map(\.id) == [rowID(10), rowID(11)])
        #expect(found.map(\.reason) == [.waiting(columns: ["list"]), .substituted(columns: ["other"])])
        try first.expectSound()
    }

    @Test func `ids and times are those of the app`() throws {
        for _ in 0..<100 {
            let uuid = UUID()
            #expect(RowID(uuid).uuid == uuid)
            #expect(withUnsafeBytes(of: uuid.uuid) { Array($0) } == RowID(uuid).bytes)
        }
        let store = try TestStore(sql: Self.old, tables: [TrackedTable("note")])
        let id = UUID()
        try store.execute("INSERT INTO note VALUES (?, 'a')", [id])
        try store.execute("DELETE FROM note")
        let row = try #require(try store.store.trash().first)
        #expect(row.uuid == id && Int64(row.deleted.timeIntervalSince1970 * 1_000) == row.deletedMilliseconds)
        #expect(SyncedDatabase.trashTime == .seconds(30 * 24 * 3_600))
        try store.store.restore(table: "note", id: id)
        #expect(try store.store.conflicts(table: "note", id: id).isEmpty)
        let authors = try store.store.authors()
        let (alternatives, conflicts, inside) = try store.database.write { db in
            (
                try store.store.alternatives(db, table: "note", id: id), try store.store.conflicts(db, table: "note", id: id),
                try store.store.authors(db)
            )
        }
        #expect(alternatives.isEmpty && conflicts.isEmpty && inside == authors)
    }
}
