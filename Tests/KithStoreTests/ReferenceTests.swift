import Foundation
import GRDB
import GRDBSQLite
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A row that was hidden or changed for the sake of a reference is lost")
struct ReferenceTests {
    private static func sql(_ action: String) -> String {
        """
        CREATE TABLE IF NOT EXISTS folder (id BLOB PRIMARY KEY NOT NULL, name TEXT);
        CREATE TABLE IF NOT EXISTS note (
            id BLOB PRIMARY KEY NOT NULL, title TEXT, folder BLOB REFERENCES folder (id) ON DELETE \(action));
        CREATE INDEX IF NOT EXISTS note_folder ON note (folder);
        """
    }

    private static func open(_ action: String, _ backend: Backend = .memory) throws -> TestStore {
        try TestStore(backend, sql: sql(action), tables: [TrackedTable("folder"), TrackedTable("note")])
    }

    /// Two stores with one folder, which the first deletes while the second puts a note there; neither knows of the other.
    private static func conflict(_ action: String) throws -> (TestStore, TestStore) {
        let (a, b) = (try open(action), try open(action))
        try a.execute("INSERT INTO folder VALUES (?, 'f')", [key(1)])
        try b.receive(from: a)
        try a.execute("DELETE FROM folder")
        try b.execute("INSERT INTO note VALUES (?, 't', ?)", [key(2), key(1)])
        return (a, b)
    }

    private static func exchange(_ a: TestStore, _ b: TestStore) throws {
        try a.receive(from: b)
        try b.receive(from: a)
        try a.expectSound()
        try b.expectSound()
        #expect(try a.store.digest() == b.store.digest())
    }

    private static func count(_ table: String, _ store: TestStore) throws -> Int {
        try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") } ?? -1
    }

    private static func folder(_ store: TestStore) throws -> Data? {
        try store.database.read { try Data.fetchOne($0, sql: "SELECT folder FROM note") }
    }

    @Test func `CASCADE hides a note with its folder, and shows it when the folder is restored, all without a commit`() throws {
        let (a, b) = try Self.conflict("CASCADE")
        try Self.exchange(a, b)
        for store in [a, b] {
            #expect(try Self.count("note", store) == 0)
            #expect(try store.store.trash().map(\.table) == ["folder"], "nobody deleted the note")
        }
        #expect(try a.sequence() == 2)
        try a.store.restore(table: "folder", id: rowID(1))
        #expect(try Self.count("note", a) == 1, "at once, without another peer")
        #expect(try a.sequence() == 3)
        try Self.exchange(a, b)
        #expect(try Self.folder(b) == key(1))
    }

    @Test(arguments: ["RESTRICT", "NO ACTION"])
    func `RESTRICT brings the folder back, until the last note in it is gone`(action: String) throws {
        let (a, b) = try Self.conflict(action)
        try Self.exchange(a, b)
        for store in [a, b] {
            #expect(try Self.count("folder", store) == 1)
            #expect(try store.store.trash() == [])
        }
        #expect(throws: DatabaseError.self) { try a.execute("DELETE FROM folder") }
        try a.execute("DELETE FROM note")
        #expect(try Self.count("folder", a) == 0)
        try Self.exchange(a, b)
        #expect(try Self.count("folder", b) == 0)
    }

    @Test(arguments: [true, false])
    func `RESTRICT brings back a row of nothing but counters, but not what is left of a collected one`(hasName: Bool) throws {
        func open() throws -> TestStore {
            try TestStore(
                sql: """
                    CREATE TABLE tally (id BLOB PRIMARY KEY NOT NULL, count INTEGER NOT NULL DEFAULT 0\(hasName ? ", name TEXT" : ""));
                    CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, tally BLOB REFERENCES tally (id));
                    """, tables: [TrackedTable("tally", counters: ["count"]), TrackedTable("note")])
        }
        let (a, b) = (try open(), try open())
        try a.execute("INSERT INTO tally (id, count) VALUES (?, 5)", [key(1)])
        try b.receive(from: a)
        try b.execute("DELETE FROM tally")
        try b.store.emptyTrash()
        #expect(try b.store.collectGarbage(acknowledged: []) == (hasName ? 1 : 0))
        try a.execute("INSERT INTO note VALUES (?, 't', ?)", [key(2), key(1)])
        try b.receive(from: a)
        #expect(try Self.count("note", b) == (hasName ? 0 : 1))
        #expect(try b.database.read { try Int.fetchAll($0, sql: "SELECT count FROM tally") } == (hasName ? [] : [5]))
        try b.expectSound()
    }

    @Test func `an edit of a folder that was brought back keeps it`() throws {
        let (a, b) = try Self.conflict("RESTRICT")
        try Self.exchange(a, b)
        try a.execute("UPDATE folder SET name = 'kept'")
        try a.execute("DELETE FROM note")
        try Self.exchange(a, b)
        #expect(try Self.count("folder", b) == 1)
    }

    @Test func `SET NULL shows NULL while the folder is gone; saving the row again writes nothing`() throws {
        let (a, b) = try Self.conflict("SET NULL")
        try Self.exchange(a, b)
        let before = try a.sequence()
        #expect(try Self.folder(a) == nil)
        try a.execute("UPDATE note SET folder = NULL")
        try a.execute("REPLACE INTO note SELECT * FROM note")
        #expect(try a.sequence() <= before + 1)
        try a.execute("UPDATE note SET title = 'edited', folder = folder")
        try a.execute("REPLACE INTO note (id, title, folder) SELECT id, 'replaced', folder FROM note")
        try Self.exchange(a, b)
        try a.store.restore(table: "folder", id: rowID(1))
        #expect(try Self.folder(a) == key(1))
        try Self.exchange(a, b)
        #expect(try Self.folder(b) == key(1))
        #expect(try b.database.read { try String.fetchOne($0, sql: "SELECT title FROM note") } == "replaced")
    }

    @Test func `another folder chosen meanwhile stays chosen`() throws {
        let (a, b) = try Self.conflict("SET NULL")
        try Self.exchange(a, b)
        try a.execute("INSERT INTO folder VALUES (?, 'other')", [key(3)])
        try a.execute("UPDATE note SET folder = ?", [key(3)])
        try a.store.restore(table: "folder", id: rowID(1))
        try Self.exchange(a, b)
        for store in [a, b] { #expect(try Self.folder(store) == key(3)) }
        #expect(try a.store.alternatives(table: "note", id: rowID(2)) == [])
    }

    @Test func `a note deleted while its folder is gone comes back from the trash with its folder`() throws {
        let (a, b) = try Self.conflict("SET NULL")
        try Self.exchange(a, b)
        try a.execute("DELETE FROM note")
        try a.store.restore(table: "folder", id: rowID(1))
        try a.store.restore(table: "note", id: rowID(2))
        #expect(try Self.folder(a) == key(1))
        try Self.exchange(a, b)
    }

    @Test(arguments: ["CASCADE", "RESTRICT", "SET NULL"])
    func `a note is restored only where its folder is, unless its reference does without`(action: String) throws {
        let store = try Self.open(action)
        try store.execute("INSERT INTO folder VALUES (?, 'f')", [key(1)])
        try store.execute("INSERT INTO note VALUES (?, 't', ?)", [key(2), key(1)])
        try store.execute("DELETE FROM note")
        try store.execute("DELETE FROM folder")
        if action == "CASCADE" {
            let error = #expect(throws: StoreError.self) { try store.store.restore(table: "note", id: rowID(2)) }
            #expect(error?.message.contains("Restore that one first") == true)
            #expect(try store.store.trash().count == 2)
            try store.store.restore(table: "folder", id: rowID(1))
            #expect(try Self.count("note", store) == 0)
        }
        try store.store.restore(table: "note", id: rowID(2))
        #expect(try Self.count("note", store) == 1)
        #expect(try Self.count("folder", store) == (action == "SET NULL" ? 0 : 1))
        try store.expectSound()
    }

    @Test(arguments: ["CASCADE", "RESTRICT"])
    func `a row is hidden until its parent has come, and is passed on meanwhile`(action: String) throws {
        let sql = """
            CREATE TABLE IF NOT EXISTS zone (id BLOB PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE IF NOT EXISTS area (id BLOB PRIMARY KEY NOT NULL, zone BLOB REFERENCES zone ON DELETE \(action))
            """
        let stores = try (0..<3).map { _ in try TestStore(sql: sql, tables: [TrackedTable("zone"), TrackedTable("area")]) }
        try stores[0].execute("INSERT INTO zone VALUES (?, 'z')", [key(1)])
        for number in 2..<12 { try stores[0].execute("INSERT INTO area VALUES (?, ?)", [key(UInt64(number)), key(1)]) }
        // Areas come before zones.
        let cut = try stores[0].store.slice(SliceRequest(since: VersionVector()), limits: SliceLimits(rowsMax: 10))
        #expect(!cut.isLast)
        _ = try stores[1].store.apply(cut)
        #expect(try Self.count("area", stores[1]) == 0)
        try stores[2].receive(from: stores[1])
        #expect(try Self.count("area", stores[2]) == 0)
        #expect(try stores[1].sequence() == 0)
        try stores[2].receive(from: stores[0])
        try stores[1].receive(from: stores[2])
        for store in stores {
            #expect(try Self.count("area", store) == 10)
            try store.expectSound()
            #expect(try store.store.digest() == stores[0].store.digest())
        }
    }

    @Test(arguments: Backend.allCases)
    func `a parent named by a natural key that is made anew shows its children again`(backend: Backend) throws {
        let sql = """
            CREATE TABLE IF NOT EXISTS day (id BLOB PRIMARY KEY NOT NULL, day TEXT NOT NULL UNIQUE);
            CREATE TABLE IF NOT EXISTS meal (id BLOB PRIMARY KEY NOT NULL, day BLOB REFERENCES day ON DELETE CASCADE)
            """
        let tables = [TrackedTable("day", key: ["day"]), TrackedTable("meal")]
        let (a, b) = (try TestStore(backend, sql: sql, tables: tables), try TestStore(backend, sql: sql, tables: tables))
        let insert = "INSERT INTO day VALUES (kith_key('day', 'd'), 'd')"
        try a.execute(insert)
        try b.receive(from: a)
        try a.execute("DELETE FROM day")
        try b.execute("INSERT INTO meal SELECT ?, id FROM day", [key(1)])
        try a.receive(from: b)
        #expect(try Self.count("meal", a) == 0)
        try a.execute(insert)
        #expect(try Self.count("meal", a) == 1)
        try Self.exchange(a, b)
        #expect(try Self.count("meal", b) == 1)
    }

    @Test func `what an earlier version left dangling is hidden when the store is opened`() throws {
        let folder = try TemporaryFolder()
        let tables = [TrackedTable("folder"), TrackedTable("note")]
        let old = try TestStore(.queue, sql: Self.sql("CASCADE"), tables: tables, folder: folder)
        try old.database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.execute(sql: "INSERT INTO note VALUES (?, 't', ?)", arguments: [key(2), key(1)])
            try db.execute(sql: "DROP TRIGGER kith_1_insert")
        }
        old.store.close()
        try old.database.close()
        let new = try TestStore(.queue, sql: Self.sql("CASCADE"), tables: tables, folder: folder)
        #expect(try Self.count("note", new) == 0)
        try new.expectSound()
        try new.execute("INSERT INTO folder VALUES (?, 'f')", [key(1)])
        #expect(try Self.count("note", new) == 1)
        #expect(try new.database.read { try Bool.fetchOne($0, sql: "PRAGMA foreign_keys") } == true)
    }

    @Test func `observations see what a merge and a restored row bring back`() throws {
        let (a, b) = try Self.conflict("CASCADE")
        try Self.exchange(a, b)
        let seen = Counter()
        let observation = DatabaseRegionObservation(tracking: Table("note"))
        let cancellable = observation.start(in: a.database, onError: { _ in }, onChange: { _ in _ = seen.next() })
        try a.store.restore(table: "folder", id: rowID(1))
        #expect(seen.next() > 1)
        cancellable.cancel()
    }

    private static let misfits: [(column: String, table: TrackedTable, reason: String)] = [
        ("r BLOB REFERENCES other", TrackedTable("t"), "other, which is not tracked"),
        ("r TEXT REFERENCES p (code)", TrackedTable("t"), "by another column than its primary key"),
        ("r BLOB, s BLOB, FOREIGN KEY (r, s) REFERENCES p (id, code)", TrackedTable("t"), "not one plain column"),
        ("r BLOB REFERENCES p", TrackedTable("t", sets: ["r"]), "not one plain column"),
        ("g AS (id) REFERENCES p", TrackedTable("t"), "not one plain column"),
        ("r BLOB NOT NULL DEFAULT x'' REFERENCES p ON DELETE SET NULL", TrackedTable("t"), "nothing could stand in"),
        ("r BLOB DEFAULT 'x' REFERENCES p ON DELETE SET DEFAULT", TrackedTable("t"), "the default is no row id"),
        ("r BLOB REFERENCES p ON DELETE SET NULL", TrackedTable("t", key: ["r"]), "is final"),
        ("r BLOB REFERENCES p REFERENCES p ON DELETE CASCADE", TrackedTable("t"), "declared twice"),
    ]

    @Test(arguments: misfits)
    func `a foreign key that a merge could not obey is refused with the way out`(column: String, table: TrackedTable, reason: String) throws
    {
        let error = #expect(throws: StoreError.self) {
            try TestStore(
                sql: """
                    CREATE TABLE other (id BLOB PRIMARY KEY NOT NULL);
                    CREATE TABLE p (id BLOB PRIMARY KEY NOT NULL, code TEXT NOT NULL UNIQUE);
                    CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, \(column))
                    """, tables: [TrackedTable("p", key: ["code"]), table])
        }
        #expect(error?.code == .tableRejected)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test
    func `a merge that SQLite's own rule has nothing to say to leaves the app's statements as they are; any other is merged as well`()
        throws
    {
        let (a, b) = (try Self.open("CASCADE"), try Self.open("CASCADE"))
        try a.execute("INSERT INTO folder VALUES (?, 'f')", [key(1)])
        try b.receive(from: a)
        func preparedAgain() throws -> Int32 {
            try b.store.database.write { db in
                let statement = try db.cachedStatement(sql: "UPDATE note SET title = 'x' WHERE id = x'00'")
                try statement.execute()
                return sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_REPREPARE, 0)
            }
        }
        let before = try preparedAgain()
        for sql in [
            "INSERT INTO note VALUES (?, 't', (SELECT id FROM folder))", "UPDATE note SET title = 'u' WHERE id = ?",
            "UPDATE note SET folder = NULL WHERE id = ?", "UPDATE note SET folder = (SELECT id FROM folder) WHERE id = ?",
            "DELETE FROM note WHERE id = ?", "UPDATE folder SET name = hex(?)",
        ] {
            try a.execute(sql, [key(2)])
            try b.receive(from: a)
            #expect(try preparedAgain() == before, "\(sql)")
        }
        try a.execute("DELETE FROM folder")
        try b.execute("INSERT INTO note VALUES (?, 't', ?)", [key(3), key(1)])
        try b.receive(from: a)
        #expect(try preparedAgain() > before, "what CASCADE does here is a deletion by nobody")
        #expect(try Self.count("note", b) == 0)
        try Self.exchange(a, b)
    }

    @Test(arguments: ["", "DEFERRABLE INITIALLY DEFERRED"])
    func `a row whose column of this machine refers to nothing is merged`(deferred: String) throws {
        func open() throws -> TestStore {
            try TestStore(
                .memory,
                sql: Self.sql("CASCADE") + """
                    CREATE TABLE place (id INTEGER PRIMARY KEY);
                    ALTER TABLE note ADD COLUMN place INTEGER REFERENCES place (id) \(deferred);
                    CREATE TRIGGER placed AFTER INSERT ON note BEGIN UPDATE note SET place = 7 WHERE id = new.id; END;
                    """,
                tables: [TrackedTable("folder"), TrackedTable("note", localColumns: ["place"])])
        }
        let (a, b) = (try open(), try open())
        try a.execute("INSERT INTO place VALUES (7)")
        try a.execute("INSERT INTO folder VALUES (?, 'f')", [key(1)])
        try a.execute("INSERT INTO note (id, title, folder) VALUES (?, 't', ?)", [key(2), key(1)])
        try b.receive(from: a)
        #expect(try Self.count("note", b) == 1)
        try Self.exchange(a, b)
    }

    @Test func `a foreign key of a column that stays on this machine is the app's own affair`() throws {
        _ = try TestStore(
            sql: "CREATE TABLE other (id INTEGER PRIMARY KEY); CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, r REFERENCES other)",
            tables: [TrackedTable("t", localColumns: ["r"])])
    }
}
