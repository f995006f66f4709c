import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A REPLACE goes unseen, or is seen by the app")
struct ReplaceTests {
    /// What the app has set does not matter.
    private static func store(_ isRecursive: Bool, _ more: String = "") throws -> TestStore {
        let notes = try TestStore(sql: TestStore.noteSQL + more)
        try notes.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA recursive_triggers = \(isRecursive ? "ON" : "OFF")") }
        return notes
    }

    @Test func `a trigger of the app that writes its own row, as updated_at does, works`() throws {
        let sql = """
            CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, updated TEXT);
            CREATE TRIGGER touch AFTER UPDATE ON note BEGIN UPDATE note SET updated = 'now' || new.title WHERE id = new.id; END
            """
        let (first, second) = (
            try TestStore(sql: sql, tables: [TrackedTable("note")]), try TestStore(sql: sql, tables: [TrackedTable("note")])
        )
        try first.execute("INSERT INTO note VALUES (?, 'a', NULL)", [key(1)])
        try first.execute("UPDATE note SET title = 'b'")
        #expect(try first.row(rowID(1))?["updated"] == "nowb")
        #expect(try first.state(rowID(1))?.sequences("updated") == [2])
        try second.receive(from: first)
        #expect(try second.row(rowID(1))?["updated"] == "nowb")
        for store in [first, second] { try store.expectSound() }
    }

    @Test(arguments: [true, false])
    func `delete triggers of the app fire at a REPLACE where SQLite fires them, and nowhere else`(isRecursive: Bool) throws {
        let notes = try Self.store(
            isRecursive, "; CREATE TABLE log (line); CREATE TRIGGER gone AFTER DELETE ON note BEGIN INSERT INTO log VALUES (old.title); END"
        )
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        try notes.execute("REPLACE INTO note (id, title) VALUES (?, 'b')", [key(1)])
        let log = try notes.database.read { try String.fetchAll($0, sql: "SELECT line FROM log") }
        #expect(log == (isRecursive ? ["a"] : []))
        #expect(try notes.state(rowID(1))?.sequences("title") == [2])
        #expect(try notes.state(rowID(1))?.isDeleted == false)
        try notes.expectSound()
    }

    @Test(arguments: [true, false])
    func `a row that is replaced because another one takes its rowid is deleted`(isRecursive: Bool) throws {
        let notes = try Self.store(isRecursive)
        try notes.execute("INSERT INTO note (rowid, id, title) VALUES (5, ?, 'a'), (6, ?, 'b'), (7, ?, 'c')", [key(1), key(2), key(3)])
        try notes.execute("REPLACE INTO note (rowid, id, title) VALUES (5, ?, 'd')", [key(4)])
        #expect(try notes.state(rowID(1))?.isDeleted == true)
        try notes.expectSound()
        // Two rows at once: one of the same id, and one at the rowid.
        try notes.execute("REPLACE INTO note (rowid, id, title) VALUES (6, ?, 'e')", [key(4)])
        #expect(try notes.state(rowID(2))?.isDeleted == true)
        #expect(try notes.state(rowID(4))?.isDeleted == false)
        #expect(try notes.state(rowID(4))?.sequences("title") == [3])
        try notes.expectSound()
        try notes.execute("UPDATE OR REPLACE note SET rowid = 7, title = 'f' WHERE id = ?", [key(4)])
        #expect(try notes.state(rowID(3))?.isDeleted == true)
        #expect(try notes.row(rowID(4))?["title"] == "f")
        #expect(try notes.state(rowID(4))?.sequences("title") == [4])
        try notes.expectSound()
    }

    @Test func `what IGNORE, an UPSERT or a failure passes over is no REPLACE`() throws {
        let notes = try Self.store(false)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'a'), (?, 'b')", [key(1), key(2)])
        try notes.database.write { db in
            try db.execute(sql: "INSERT OR IGNORE INTO note (id, title) VALUES (?, 'x')", arguments: [key(1)])
            try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [key(1)])
            try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, 'c')", arguments: [key(1)])
        }
        #expect(try notes.state(rowID(1))?.sequences("title") == [2])
        #expect(try notes.state(rowID(1))?.sequences("color") == [2])
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'y') ON CONFLICT DO UPDATE SET title = excluded.title", [key(2)])
        #expect(throws: DatabaseError.self) { try notes.execute("INSERT INTO note (id, title) VALUES (?, 'z')", [key(2)]) }
        try notes.execute("DELETE FROM note WHERE id = ?", [key(2)])
        #expect(try notes.state(rowID(2))?.isDeleted == true)
        try notes.expectSound()
    }

    /// Triggers that write the very row that is being replaced, in the midst of it.
    private static let bodies = [
        "UPDATE note SET title = 'meddled', views = views + 1 WHERE id = new.id",
        "UPDATE note SET rowid = rowid + 1000 WHERE id = new.id",
        "DELETE FROM note WHERE id = new.id",
        "INSERT OR REPLACE INTO note (id, title) VALUES (new.id, 'nested')",
        "INSERT OR IGNORE INTO note (id, title) VALUES (new.id, 'nested')",
        "DELETE FROM note WHERE id = new.id; INSERT INTO note (id, title) VALUES (new.id, 'nested')",
        "INSERT INTO note (id, title) VALUES (randomblob(16), 'other')",
        "INSERT OR REPLACE INTO note (rowid, id, title) VALUES (1, x'0123456789abcdef0123456789abcdef', 'elsewhere')",
    ]

    @Test(arguments: bodies, [true, false])
    func `a trigger of the app may write the row while it is being replaced`(body: String, isRecursive: Bool) throws {
        let trigger = "; CREATE TRIGGER meddle BEFORE INSERT ON note WHEN new.color = 9 BEGIN \(body); END"
        let (notes, peer) = (try Self.store(isRecursive, trigger), try TestStore())
        try notes.execute("INSERT INTO note (id, title, color, views) VALUES (?, 'a', 1, 3), (?, 'b', 1, 4)", [key(1), key(2)])
        for (index, sql) in [
            "INSERT OR REPLACE INTO note (id, title, color, views) VALUES (:id, 'new', 9, 8)",
            "INSERT OR REPLACE INTO note (rowid, id, title, color) VALUES (1, :id, 'new', 9)",
            "INSERT OR IGNORE INTO note (id, title, color) VALUES (:id, 'new', 9)",
            "INSERT INTO note (id, title, color) VALUES (:id, 'new', 9) ON CONFLICT (id) DO UPDATE SET title = 'upserted'",
            "DELETE FROM note WHERE id = :id",
            "INSERT INTO note (id, title, color) VALUES (:id, 'again', 1)",
        ].enumerated() {
            for number: UInt64 in [2, 1, 3] {
                try? notes.execute(sql, ["id": key(number)])
                try notes.expectSound()
                try peer.receive(from: notes)
                let both = try [notes, peer].map { store in
                    try store.database.read { try Row.fetchAll($0, sql: "SELECT * FROM note ORDER BY id").map(\.description) }
                }
                #expect(both[0] == both[1], "\(index) \(number)")
            }
        }
    }

    @Test(arguments: [true, false]) func `a REPLACE of a parent takes its children along, as SQLite does`(isRecursive: Bool) throws {
        let sql = """
            CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT);
            CREATE TABLE comment (id BLOB PRIMARY KEY NOT NULL, note BLOB REFERENCES note (id) ON DELETE CASCADE, body TEXT)
            """
        let tables = [TrackedTable("note"), TrackedTable("comment")]
        let (first, second) = (try TestStore(sql: sql, tables: tables), try TestStore(sql: sql, tables: tables))
        try first.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA recursive_triggers = \(isRecursive ? "ON" : "OFF")") }
        try first.execute("INSERT INTO note VALUES (?, 'a')", [key(1)])
        try first.execute("INSERT INTO comment VALUES (?, ?, 'x')", [key(2), key(1)])
        try first.execute("REPLACE INTO note VALUES (?, 'b')", [key(1)])
        try second.receive(from: first)
        for store in [first, second] {
            #expect(try store.row(rowID(1))?["title"] == "b")
            #expect(try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM comment") } == 0)
            try store.expectSound()
        }
    }

    @Test(arguments: [true, false])
    func `a row whose replacement takes along the row that was moved to its place is deleted for all`(isRecursive: Bool) throws {
        let sql = "CREATE TABLE node (id BLOB PRIMARY KEY NOT NULL, title TEXT, up BLOB REFERENCES node ON DELETE CASCADE)"
        let (here, there) = (
            try TestStore(sql: sql, tables: [TrackedTable("node")]), try TestStore(sql: sql, tables: [TrackedTable("node")])
        )
        try here.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA recursive_triggers = \(isRecursive ? "ON" : "OFF")") }
        try here.execute("INSERT INTO node (rowid, id, title) VALUES (1, ?, 'moved'), (2, ?, 'in the way')", [key(1), key(2)])
        try here.execute("UPDATE node SET up = ? WHERE id = ?", [key(2), key(1)])
        try there.receive(from: here)
        try here.execute("UPDATE OR REPLACE node SET rowid = 2 WHERE id = ?", [key(1)])
        func count(_ store: TestStore) throws -> Int? {
            try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM node") }
        }
        #expect(try count(here) == 0)
        try there.receive(from: here)
        #expect(try count(there) == 0)
        // What SQLite numbers as the row that is gone.
        try here.execute("INSERT INTO node (rowid, id, title) VALUES (2, ?, 'next')", [key(3)])
        try there.receive(from: here)
        #expect(try count(there) == 1)
        for store in [here, there] { try store.expectSound() }
    }

    @Test func `a row that a trigger of the app deletes before it is moved leaves alone what stood in its way`() throws {
        let notes = try Self.store(
            false, "; CREATE TRIGGER drop_it BEFORE UPDATE OF title ON note BEGIN DELETE FROM note WHERE id = old.id; END")
        try notes.execute("INSERT INTO note (rowid, id, title) VALUES (1, ?, 'a'), (2, ?, 'b')", [key(1), key(2)])
        try notes.execute("UPDATE OR REPLACE note SET rowid = 2, title = 'c' WHERE id = ?", [key(1)])
        #expect(try notes.state(rowID(1))?.isDeleted == true)
        #expect(try notes.state(rowID(2))?.isDeleted == false)
        try notes.expectSound()
    }
}
