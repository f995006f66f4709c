import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("The app's own rules act twice on one change")
struct AppliedTriggerTests {
    @Test
    func `what a trigger writes to tracked tables happens once, where the change was made; its other effects happen everywhere`() throws {
        let sql =
            TestStore.noteSQL + """
                ; CREATE TABLE log (line TEXT);
                CREATE TRIGGER count_edits AFTER UPDATE OF title ON note BEGIN
                    UPDATE note SET views = views + 1 WHERE id = new.id;
                    INSERT INTO note (id, title) VALUES (randomblob(16), 'copy');
                    DELETE FROM note WHERE title = 'doomed';
                    INSERT INTO log VALUES (new.title || kith_is_applying());
                END
                """
        let (first, second) = (try TestStore(sql: sql), try TestStore(sql: sql))
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'a'), (?, 'doomed')", [key(1), key(2)])
        try second.receive(from: first)
        try first.execute("UPDATE note SET title = 'b' WHERE id = ?", [key(1)])
        try second.receive(from: first)
        for store in [first, second] {
            #expect(try store.row(rowID(1))?["views"] == 1)
            #expect(try store.row(rowID(2)) == nil)
            #expect(try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 2)
            try store.expectSound()
        }
        #expect(try second.sequence() == 0)
        #expect(try first.database.read { try String.fetchAll($0, sql: "SELECT line FROM log") } == ["b0"])
        #expect(try second.database.read { try String.fetchAll($0, sql: "SELECT line FROM log") } == ["b1"])
        #expect(try first.store.delta(since: VersionVector()).rows == second.store.delta(since: VersionVector()).rows)
    }

    private static let families = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT);
        CREATE TABLE comment (id BLOB PRIMARY KEY NOT NULL, note BLOB REFERENCES note (id) ON DELETE CASCADE)
        """

    @Test func `a child that arrives before its parent, and a parent deleted with its children, are applied as they come`() throws {
        let tables = [TrackedTable("note"), TrackedTable("comment")]
        let (first, second) = (try TestStore(sql: Self.families, tables: tables), try TestStore(.pool, sql: Self.families, tables: tables))
        try first.database.write { db in
            try db.execute(sql: "INSERT INTO note VALUES (?, 'parent')", arguments: [key(1)])
            try db.execute(sql: "INSERT INTO comment VALUES (?, ?)", arguments: [key(2), key(1)])
        }
        try second.receive(from: first)
        #expect(try second.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM comment") } == 1)
        try first.execute("DELETE FROM note")
        try second.receive(from: first)
        for store in [first, second] {
            #expect(try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM comment") } == 0)
            try store.expectSound()
        }
        // The app's own writes still obey.
        #expect(throws: DatabaseError.self) { try second.execute("INSERT INTO comment VALUES (?, ?)", [key(3), key(9)]) }
    }
}
