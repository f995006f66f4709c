import Foundation
import GRDB
import GRDBSQLite
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("Kith changes what the app has set")
struct AppSettingsTests {
    private static let pragmas = [
        "recursive_triggers", "foreign_keys", "busy_timeout", "trusted_schema", "query_only", "synchronous", "wal_autocheckpoint",
        "cache_size", "temp_store", "secure_delete", "cell_size_check", "reverse_unordered_selects", "defer_foreign_keys",
        "ignore_check_constraints",
        "count_changes", "case_sensitive_like", "journal_mode", "locking_mode", "legacy_alter_table", "writable_schema",
    ]

    private static func settings(_ database: any DatabaseWriter) throws -> [String: String] {
        try database.writeWithoutTransaction { db in
            var settings: [String: String] = [:]
            for name in pragmas { settings[name] = try String.fetchOne(db, sql: "PRAGMA \(name)") }
            let handle = try #require(db.sqliteConnection)
            for limit in [SQLITE_LIMIT_LENGTH, SQLITE_LIMIT_SQL_LENGTH, SQLITE_LIMIT_FUNCTION_ARG, SQLITE_LIMIT_TRIGGER_DEPTH] {
                settings["limit \(limit)"] = "\(sqlite3_limit(handle, limit, -1))"
            }
            return settings
        }
    }

    /// Everything that a store does to its connection: it is opened, written, merges, settles references, fails, and is closed.
    private static func use(_ database: any DatabaseWriter, _ peer: TestStore, _ check: (String) throws -> Void) throws {
        let tables = [TestStore.note, TrackedTable("comment")]
        let store = try SyncedDatabase(database, tables: tables, options: TestStore.options())
        try check("opened")
        try database.write { try $0.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(900)]) }
        try check("written")
        for _ in 0..<2 {
            _ = try store.apply(try peer.store.delta(since: try store.vector()))
            try check("merged")
            try peer.execute("DELETE FROM note WHERE id = ?", [key(1)])
        }
        #expect(throws: StoreError.self) { try store.restore(table: "note", id: rowID(77)) }
        try check("failed")
        _ = try store.verify()
        try store.collectGarbage()
        try check("collected")
        store.close()
        try check("closed")
    }

    private static let sql =
        TestStore.noteSQL + "; CREATE TABLE comment (id BLOB PRIMARY KEY NOT NULL, note BLOB REFERENCES note (id) ON DELETE CASCADE)"

    @Test(arguments: Backend.allCases, [true, false])
    func `pragmas and limits of the connection stay as they are`(backend: Backend, isUnusual: Bool) throws {
        let folder = try TemporaryFolder()
        let peer = try TestStore(sql: Self.sql, tables: [TestStore.note, TrackedTable("comment")])
        try peer.database.write { db in
            for number: UInt64 in 1...300 { try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(number)]) }
            try db.execute(sql: "INSERT INTO comment VALUES (?, ?)", arguments: [key(500), key(1)])
        }
        let database = try backend.open(folder.file("app.sqlite"))
        try database.write { try $0.execute(sql: Self.sql) }
        if isUnusual {
            try database.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA recursive_triggers = ON; PRAGMA foreign_keys = OFF; PRAGMA busy_timeout = 17; PRAGMA trusted_schema = OFF;
                        PRAGMA wal_autocheckpoint = 77; PRAGMA synchronous = EXTRA; PRAGMA cell_size_check = ON
                        """)
                sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, 5_000_000)
            }
        }
        var before = try Self.settings(database)
        try Self.use(database, peer) { moment in
            var now = try Self.settings(database)
            // Checkpoints are made by one process at a time while a store is open: docs/decisions/one-process-checkpoints.md.
            if moment != "closed" { (before["wal_autocheckpoint"], now["wal_autocheckpoint"]) = (nil, nil) }
            #expect(now == before, "\(moment)")
            if moment == "collected" { before["wal_autocheckpoint"] = isUnusual ? "77" : "1000" }
        }
    }

    @Test func `the app's own wish for checkpoints holds while a store is open`() throws {
        func logPages(_ pragma: String) throws -> Int {
            let folder = try TemporaryFolder()
            let database = try DatabasePool(path: folder.file("app.sqlite"))
            try database.write { try $0.execute(sql: TestStore.noteSQL) }
            try database.writeWithoutTransaction { try $0.execute(sql: pragma) }
            let store = try SyncedDatabase(database, tables: [TestStore.note])
            defer { store.close() }
            for number: UInt64 in 1...40 {
                try database.write {
                    try $0.execute(sql: "INSERT INTO note (id, title) VALUES (?, hex(randomblob(50000)))", arguments: [key(number)])
                }
            }
            let size = try FileManager.default.attributesOfItem(atPath: database.path)[.size] as? Int
            return try #require(size)
        }
        #expect(try logPages("PRAGMA wal_autocheckpoint = 0") < 200_000)
        #expect(try logPages("PRAGMA wal_autocheckpoint = 10") > 3_000_000)
    }

    @Test func `a table that does not synchronise may hold longer rows than one that does`() throws {
        let notes = try TestStore(sql: TestStore.noteSQL + "; CREATE TABLE local (data BLOB)")
        try notes.execute("INSERT INTO local VALUES (zeroblob(?))", [TrackedTable.rowBytesMax + 10])
        for sql in ["INSERT INTO note (id, title) VALUES (x'0190', zeroblob(:n))", "UPDATE note SET title = zeroblob(:n)"] {
            try notes.execute("INSERT OR IGNORE INTO note (id) VALUES (?)", [key(1)])
            let error = #expect(throws: DatabaseError.self) {
                try notes.execute(sql.replacing("x'0190'", with: "randomblob(16)"), ["n": TrackedTable.rowBytesMax])
            }
            #expect(error?.resultCode == .SQLITE_TOOBIG)
        }
        try notes.expectSound()
    }
}
