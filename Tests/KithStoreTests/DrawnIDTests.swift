import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("An id that SQL draws is none, or not a new one")
struct DrawnIDTests {
    private static let sql = """
        CREATE TABLE a (id BLOB PRIMARY KEY NOT NULL DEFAULT (kith_uuid()), n INTEGER);
        CREATE TABLE b (id TEXT PRIMARY KEY NOT NULL DEFAULT (kith_uuid_text()), n INTEGER);
        CREATE TABLE c (id TEXT PRIMARY KEY NOT NULL DEFAULT (upper(kith_uuid_text())), n INTEGER);
        CREATE TABLE log (line TEXT);
        CREATE TRIGGER noted AFTER INSERT ON b BEGIN INSERT INTO log VALUES (new.id); END;
        CREATE TRIGGER early BEFORE INSERT ON c BEGIN INSERT INTO log VALUES ('before'); END;
        """
    private static let tables = ["a", "b", "c"].map { TrackedTable($0) }

    @Test
    func
        `rows that name no id get one of version 7, later than the last, in the form of their table, also where the schema is not trusted`()
        throws
    {
        let app = try App("PRAGMA trusted_schema = OFF;" + Self.sql, Self.tables, replica: 1)
        try app.database.write { db in
            for table in ["a", "b", "c"] {
                for number in 0..<1_000 { try db.execute(sql: "INSERT INTO \(table) (n) VALUES (\(number))") }
            }
        }
        for (table, form) in zip(["a", "b", "c"], KeyForm.allCases) {
            let values = try app.database.read { try DatabaseValue.fetchAll($0, sql: "SELECT id FROM \(table) ORDER BY n") }
            let ids = values.compactMap { value in
                switch value.storage {
                case .blob(let data): form.id(of: .blob(Array(data)))
                case .string(let text): form.id(of: .text(text))
                default: nil
                }
            }
            #expect(ids.count == 1_000)
            #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
            #expect(ids.allSatisfy { $0.bytes[6] >> 4 == 7 && $0.bytes[8] >> 6 == 2 })
        }
        #expect(try app.text("SELECT count(*) || '' FROM log WHERE line IN (SELECT id FROM b)") == ["1000"])
        try app.expectSound()
        let peer = try App(Self.sql, Self.tables, replica: 2)
        try peer.receive(from: app)
        try peer.expectSound()
        #expect(try peer.text("SELECT id FROM b ORDER BY id") == app.text("SELECT id FROM b ORDER BY id"))
    }

    @Test func `migrations that are given to the store draw ids, and a connection of the app's own may`() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.execute(sql: Self.sql)
            try db.execute(sql: "INSERT INTO b (n) VALUES (1), (2)")
        }
        let database = try DatabaseQueue()
        let store = try SyncedDatabase(database, tables: Self.tables, migrator: migrator, options: TestStore.options())
        #expect(try store.verify().problems == [])
        store.close()
        let other = try DatabaseQueue()
        try other.write { db in
            try SyncedDatabase.addFunctions(to: db)
            try db.execute(sql: "CREATE TABLE t (id TEXT DEFAULT (kith_uuid_text())); INSERT INTO t DEFAULT VALUES")
            #expect(try Int.fetchOne(db, sql: "SELECT length(id) FROM t") == 36)
        }
    }

    @Test(
        arguments: [
            ("TEXT", "(lower(hex(randomblob(16))))", "kith_uuid_text()"), ("BLOB", "(randomblob(8))", "kith_uuid()"),
            ("TEXT", "'new'", "kith_uuid_text()"),
        ])
    func `a default that is no id is refused, with one that is`(type: String, expression: String, remedy: String) throws {
        let error = #expect(throws: StoreError.self) {
            _ = try App("CREATE TABLE note (id \(type) PRIMARY KEY NOT NULL DEFAULT \(expression), a)", replica: 1)
        }
        #expect(error?.code == .tableRejected)
        #expect(error?.message.contains("DEFAULT (\(remedy))") == true, "\(error?.message ?? "")")
    }

    @Test func `a default tells the form of a table without rows`() throws {
        let app = try App(
            "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL DEFAULT (upper(kith_uuid_text())), a); CREATE TABLE t (id TEXT PRIMARY KEY DEFAULT (randomblob(16)), a)",
            [TrackedTable("note"), TrackedTable("t")], replica: 1)
        try app.execute("INSERT INTO note (a) VALUES (1); INSERT INTO t (a) VALUES (2)")
        #expect(try app.text("SELECT (id = upper(id)) || typeof(id) FROM note UNION ALL SELECT typeof(id) FROM t") == ["1text", "blob"])
    }
}
