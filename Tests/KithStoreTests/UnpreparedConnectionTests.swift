import Foundation
import GRDB
import KithCausality
import KithStore
import Testing

@Suite("Another connection writes behind Kith's back")
struct UnpreparedConnectionTests {
    @Test(
        arguments: [
            "INSERT INTO note (id) VALUES (randomblob(16))", "UPDATE note SET title = 'x'", "DELETE FROM note",
            "REPLACE INTO note (id) VALUES (randomblob(16))",
        ])
    func `a plain connection cannot write a tracked table`(sql: String) throws {
        let notes = try TestStore(.pool)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let plain = try DatabaseQueue(path: notes.path)
        let error = #expect(throws: DatabaseError.self) { try plain.write { try $0.execute(sql: sql) } }
        #expect(error?.message?.contains("no such function: kith_") == true)
        #expect(try plain.read { try String.fetchAll($0, sql: "SELECT title FROM note") } == ["a"])
        try notes.expectSound()
    }

    @Test func `a plain connection writes other tables as ever`() throws {
        let notes = try TestStore(.pool)
        let plain = try DatabaseQueue(path: notes.path)
        try plain.write { try $0.execute(sql: "CREATE TABLE other (x); INSERT INTO other VALUES (1)") }
        #expect(try notes.store.vector().isEmpty)
    }

    @Test(arguments: Backend.allCases) func `after the store is closed, writes fail instead of going unseen`(backend: Backend) throws {
        let notes = try TestStore(backend)
        notes.store.close()
        notes.store.close()
        #expect(throws: DatabaseError.self) { try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)]) }
        #expect(throws: StoreError.self) { try notes.store.summary() }
        try notes.database.close()
    }

    @Test func `a process that has not declared a tracked table cannot write it`() throws {
        let notes = try TestStore(.pool, sql: TestStore.noteSQL + "; CREATE TABLE IF NOT EXISTS page (id BLOB PRIMARY KEY NOT NULL, title)")
        notes.store.close()
        let more = try SyncedDatabase(notes.database, tables: [TrackedTable("page")])
        let error = #expect(throws: DatabaseError.self) { try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)]) }
        #expect(error?.message?.contains("not declared") == true)
        try notes.execute("INSERT INTO page (id) VALUES (?)", [key(1)])
        more.close()
    }

    @Test
    func `a process that has not declared a tracked table, or runs while another begins to track one, neither sends nor takes rows`() throws
    {
        let sql = TestStore.noteSQL + "; CREATE TABLE IF NOT EXISTS page (id BLOB PRIMARY KEY NOT NULL, title)"
        let declared = [TestStore.note, TrackedTable("page")]
        let (mine, other) = (try TestStore(.pool, sql: sql, tables: declared), try TestStore(.memory, sql: sql, tables: declared))
        try mine.execute("INSERT INTO page VALUES (?, 'mine')", [key(1)])
        try other.receive(from: mine)
        try other.execute("UPDATE page SET title = 'theirs'")
        let delta = try other.store.delta(since: mine.store.vector())
        mine.store.close()

        let older = try SyncedDatabase(mine.database, tables: [TestStore.note])
        #expect(throws: StoreError.self) { try older.delta(since: VersionVector()) }
        let error = #expect(throws: StoreError.self) { try older.apply(delta) }
        #expect(error?.code == .tableRejected)
        #expect(error?.message.contains("page") == true)
        try mine.execute("INSERT INTO note (id) VALUES (?)", [key(2)])
        older.close()

        let newer = try SyncedDatabase(mine.database, tables: declared)
        _ = try newer.apply(delta)
        #expect(try mine.database.read { try String.fetchOne($0, sql: "SELECT title FROM page") } == "theirs")
        _ = try other.store.apply(newer.delta(since: other.store.vector()))
        #expect(try newer.digest() == other.store.digest())

        try mine.execute("CREATE TABLE leaf (id BLOB PRIMARY KEY NOT NULL, title)")
        #expect(throws: Never.self) { try newer.delta(since: VersionVector()) }
        let another = try DatabasePool(path: mine.path)
        let newest = try SyncedDatabase(another, tables: declared + [TrackedTable("leaf")])
        #expect(throws: StoreError.self) { try newer.delta(since: VersionVector()) }
        #expect(throws: Never.self) { try newest.delta(since: VersionVector()) }
        newest.close()
        newer.close()
    }

    @Test(
        arguments: [
            "DELETE FROM t", "UPDATE t SET a = 2", "REPLACE INTO t VALUES (x'\(rowID(1))', 2)",
            "INSERT OR IGNORE INTO t VALUES (x'\(rowID(3))', 2)",
            "INSERT INTO t VALUES (x'\(rowID(3))', 2)",
        ])
    func `a write that cannot be noted is taken back whole, though its transaction goes on`(sql: String) throws {
        let notes = try TestStore(
            .pool, sql: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a); CREATE TABLE u (id BLOB PRIMARY KEY NOT NULL, b)",
            tables: [TrackedTable("t")])
        try notes.execute("INSERT INTO t VALUES (?, 1), (?, 1)", [key(1), key(2)])
        notes.store.close()
        let undeclared = try SyncedDatabase(notes.database, tables: [TrackedTable("u")])
        try notes.database.write { db in
            #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            let kept = try Int.fetchAll(db, sql: "SELECT a FROM t")
            #expect(kept == [1, 1])
        }
        undeclared.close()
        let again = try SyncedDatabase(notes.database, tables: [TrackedTable("t"), TrackedTable("u")])
        #expect(try again.verify().problems == [])
    }

    @Test func `two stores on one file number their commits together`() throws {
        let first = try TestStore(.pool)
        let second = try TestStore(.pool, folder: first.folder)
        for number: UInt64 in 1...10 {
            try (number % 2 == 0 ? first : second).execute("INSERT INTO note (id) VALUES (?)", [key(number)])
        }
        #expect(try first.store.summary() == second.store.summary())
        #expect(try first.sequence() == 10)
        for number: UInt64 in 1...10 { #expect(try first.state(rowID(number))?.sequences("title") == [number]) }
        try first.expectSound()
    }
}
