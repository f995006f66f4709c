import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A column that one version of an app drops is lost for those who still have it")
struct DroppedColumnTests {

    private static let sql = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, color TEXT NOT NULL DEFAULT 'none',
            tags TEXT NOT NULL DEFAULT '[]', body TEXT NOT NULL DEFAULT '', views INTEGER NOT NULL DEFAULT 0)
        """
    private static let dropped = ["color", "tags", "body"]
    private static let shown = "SELECT title || ' ' || color || tags || body || views FROM note ORDER BY title"
    private static let tables = [TrackedTable("note", sets: ["tags"], counters: ["views"], texts: ["body"])]
    private static let local = [TrackedTable("note", counters: ["views"], localColumns: ["color", "tags", "body"])]

    /// How a version of the app lets go of its columns.
    enum Way: CaseIterable {
        case dropped
        case madeLocal
    }

    private func filled(replica: UInt64) throws -> App {
        let app = try App(Self.sql, Self.tables, replica: replica)
        try app.execute("INSERT INTO note VALUES (?, 'a', 'red', '[\"x\"]', 'text', 3)", [key(1)])
        try app.execute("UPDATE note SET body = 'a text', color = 'green'")
        return app
    }

    private func empty(replica: UInt64) throws -> App { try App(Self.sql, Self.tables, replica: replica) }

    private func letGo(_ app: App, _ way: Way = .dropped) throws {
        guard way == .dropped else { return try app.migrate("SELECT 1", Self.local) }
        app.store.close()
        try app.database.write { try SyncedDatabase.removeTriggers(of: "note", in: $0) }
        let sql = Self.dropped.map { "ALTER TABLE note DROP COLUMN \($0)" }.joined(separator: ";")
        try app.migrate(sql, [TrackedTable("note", counters: ["views"])])
    }

    private func takeBack(_ app: App) throws {
        try app.migrate(
            """
            ALTER TABLE note ADD COLUMN color TEXT NOT NULL DEFAULT 'none'; ALTER TABLE note ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'
            """, [TrackedTable("note", sets: ["tags"], counters: ["views"])])
        try app.migrate("ALTER TABLE note ADD COLUMN body TEXT NOT NULL DEFAULT ''", Self.tables)
    }

    /// Whether `app` holds the cells, and does not only show them.
    private func expectKept(_ app: App, title: String, replica: UInt64, _ location: SourceLocation = #_sourceLocation) throws {
        let expected = ["\(title) green[\"x\"]a text3"]
        #expect(try app.text(Self.shown) == expected, sourceLocation: location)
        try app.expectSound(location)
        let fresh = try empty(replica: replica)
        try fresh.receive(from: app)
        #expect(try fresh.text(Self.shown) == expected, sourceLocation: location)
        try app.execute("DELETE FROM note")
        try app.store.restore(table: "note", id: rowID(1))
        #expect(try app.text(Self.shown) == expected, sourceLocation: location)
        try app.expectSound(location)
    }

    @Test(arguments: Way.allCases)
    func `a store that let go of columns is sound, and nobody is said to have changed its rows`(way: Way) throws {
        let a = try filled(replica: 1)
        #expect(try a.store.digest() != nil)
        try letGo(a, way)
        try a.expectSound()
        #expect(try a.store.digest() == a.store.recomputedDigest())
        #expect(try a.store.advanceDigest().tampered == [])
        try a.expectSound()
    }

    @Test(arguments: Way.allCases) func `a row that is edited after the column was dropped keeps its cells elsewhere`(way: Way) throws {
        let (a, b) = (try filled(replica: 1), try empty(replica: 2))
        try b.receive(from: a)
        try letGo(a, way)
        try a.expectSound()
        try a.execute("UPDATE note SET title = 'a2'")
        try b.receive(from: a)
        try expectKept(b, title: "a2", replica: 3)
        try a.expectSound()
    }

    @Test func `a row that is edited after the column was dropped and added again keeps its cells elsewhere`() throws {
        let (a, b) = (try filled(replica: 1), try empty(replica: 2))
        try b.receive(from: a)
        try letGo(a)
        try takeBack(a)
        try a.execute("UPDATE note SET title = 'a2'")
        try b.receive(from: a)
        #expect(try a.text(Self.shown) == ["a2 none[]3"])
        try a.expectSound()
        try expectKept(b, title: "a2", replica: 3)
    }

    @Test(arguments: [true, false])
    func `who was filled by one that dropped the column takes it from nobody, whether he knows it or not`(isKnown: Bool) throws {
        let (a, b) = (try filled(replica: 1), try empty(replica: 2))
        try b.receive(from: a)
        try letGo(a)
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, views INTEGER NOT NULL DEFAULT 0)"
        let c = try isKnown ? empty(replica: 3) : App(sql, [TrackedTable("note", counters: ["views"])], replica: 3)
        let d = try empty(replica: 4)
        try c.receive(from: a)
        try d.receive(from: c)
        try d.execute("UPDATE note SET title = 'd'")
        try b.receive(from: d)
        try expectKept(b, title: "d", replica: 5)
    }

    @Test(arguments: Way.allCases)
    func `a listing takes no cells of the column from whoever returns, but the rows that were deleted`(way: Way) throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, color TEXT)"
        let (a, b, fresh) = (try App(sql, replica: 1), try App(sql, replica: 2), try App(sql, replica: 3))
        try a.execute("INSERT INTO note VALUES (?, 'a', 'red'), (?, 'gone', 'blue')", [key(1), key(2)])
        try b.receive(from: a)
        try a.execute("DELETE FROM note WHERE title = 'gone'")
        try a.store.emptyTrash()
        #expect(try a.store.collectGarbage(acknowledged: []) == 1)
        a.store.close()
        try a.database.write { try SyncedDatabase.removeTriggers(of: "note", in: $0) }
        switch way {
        case .dropped: try a.migrate("ALTER TABLE note DROP COLUMN color")
        case .madeLocal: try a.migrate("SELECT 1", [TrackedTable("note", localColumns: ["color"])])
        }
        #expect(try a.store.delta(since: try b.store.vector()).listing != nil)
        try b.receive(from: a)
        try fresh.receive(from: b)
        for app in [b, fresh] {
            #expect(try app.text("SELECT title || color FROM note") == ["ared"])
            try app.expectSound()
        }
    }

    @Test func `a listing takes no row of which its sender has no cell left, from those who have them or not`() throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)"
        let local = [TrackedTable("note", localColumns: ["title"])]
        let (a, b, c) = (try App(sql, replica: 1), try App(sql, replica: 2), try App(sql, replica: 3))
        try a.execute("INSERT INTO note VALUES (?, 'a'), (?, 'gone')", [key(1), key(2)])
        for app in [b, c] { try app.receive(from: a) }
        try a.execute("DELETE FROM note WHERE title = 'gone'")
        try a.store.emptyTrash()
        #expect(try a.store.collectGarbage(acknowledged: []) == 1)
        try a.migrate("SELECT 1", local)
        try b.receive(from: a)
        #expect(try b.text("SELECT title FROM note") == ["a"])
        try c.migrate("SELECT 1", local)
        try c.receive(from: a)
        #expect(try c.text("SELECT title FROM note WHERE title = 'a'") == ["a"])
        for app in [a, b, c] { try app.expectSound() }
    }

    @Test(arguments: [DeletePolicy.updateWins, .deleteWins])
    func `a row that has nothing but the dropped column and a count is not taken for a collected one`(policy: DeletePolicy) throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, color TEXT, views INTEGER NOT NULL DEFAULT 0)"
        let both = [TrackedTable("note", counters: ["views"], deletePolicy: policy)]
        let (a, b) = (try App(sql, both, replica: 1), try App(sql, both, replica: 2))
        try a.execute("INSERT INTO note VALUES (?, 'red', 1)", [key(1)])
        try b.receive(from: a)
        try a.migrate("SELECT 1", [TrackedTable("note", counters: ["views"], localColumns: ["color"], deletePolicy: policy)])
        try a.execute("UPDATE note SET views = views + 1")
        try b.receive(from: a)
        #expect(try b.text("SELECT color FROM note") == ["red"])
        #expect(try b.store.vector() == a.store.vector())
        try b.expectSound()
    }

    /// How a migration takes one column away and adds another that a newer peer had filled.
    enum Replacement: CaseIterable {
        case columns
        case wholeTable
        case nullable

        var sql: String {
            switch self {
            case .columns: "ALTER TABLE note ADD COLUMN a INTEGER NOT NULL DEFAULT 4; ALTER TABLE note DROP COLUMN o"
            case .nullable: "ALTER TABLE note ADD COLUMN a INTEGER; ALTER TABLE note DROP COLUMN o"
            case .wholeTable:
                """
                CREATE TABLE new (id BLOB PRIMARY KEY NOT NULL, k TEXT, a INTEGER NOT NULL DEFAULT 4);
                INSERT INTO new (id, k) SELECT id, k FROM note ORDER BY id DESC; DROP TABLE note; ALTER TABLE new RENAME TO note
                """
            }
        }
    }

    @Test(arguments: Replacement.allCases)
    func `what a newer peer wrote to a column shows when the column comes, also where another one goes`(replacement: Replacement) throws {
        let old = try App("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, k TEXT, o TEXT)", replica: 1)
        let newer = try App("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, k TEXT, a INTEGER NOT NULL DEFAULT 4)", replica: 2)
        try newer.execute("INSERT INTO note VALUES (?, 'k', 7), (?, 'l', 8)", [key(1), key(2)])
        try old.receive(from: newer)
        try old.execute("UPDATE note SET o = 'x'")
        try newer.receive(from: old)
        old.store.close()
        try old.database.write { try SyncedDatabase.removeTriggers(of: "note", in: $0) }
        try old.migrate(replacement.sql)
        #expect(try old.text("SELECT k || a FROM note ORDER BY k") == ["k7", "l8"])
        try old.expectSound()
        try newer.receive(from: old)
        #expect(try newer.text("SELECT k || a FROM note ORDER BY k") == ["k7", "l8"])
        try newer.execute("UPDATE note SET a = a + 1")
        try old.receive(from: newer)
        #expect(try old.text("SELECT k || a FROM note ORDER BY k") == ["k8", "l9"])
        for app in [old, newer] { try app.expectSound() }
    }

    @Test func `comparing digests gives the cells back to the machine that dropped the column`() throws {
        let (a, b) = (try filled(replica: 1), try empty(replica: 2))
        try b.receive(from: a)
        #expect(try a.store.digest() == b.store.digest())
        try letGo(a)
        try a.execute("UPDATE note SET title = 'a2'")
        let pair = try SessionPair(a.store, b.store)
        try pair.wait(seconds: 60)
        #expect(try a.store.digest() == b.store.digest())
        try takeBack(a)
        for app in [a, b] {
            #expect(try app.text(Self.shown) == ["a2 green[\"x\"]a text3"])
            try app.expectSound()
        }
    }

    @Test
    func `a peer that names more columns than a table can have is refused, and does not keep the app from letting go of one`() throws {
        let app = try filled(replica: 1)
        func slice(_ names: Range<Int>) -> Slice {
            let table = TableSchema(name: Array("note".utf8), columns: [], incomplete: names.map { ColumnKey("\($0)", .register) })
            return Slice(
                since: VersionVector(), vector: VersionVector(), target: [], clock: .zero, isFirst: true, isLast: true, position: nil,
                rowsRemaining: 0, tables: [table], rows: [])
        }
        let limit = WireLimits.columnsMax
        for names in [0..<limit - 1, 1..<limit] {
            guard case .applied = try app.store.apply(slice(names)) else { throw StoreError(.failed, "refused") }
        }
        let error = #expect(throws: StoreError.self) { try app.store.apply(slice(limit..<limit + 1)) }
        #expect(error?.code == .sliceRejected)
        #expect(try app.store.delta(since: VersionVector()).tables.first?.incomplete.count == limit)
        try letGo(app)
        #expect(try app.store.delta(since: VersionVector()).tables.first?.incomplete.count == limit)
        try app.expectSound()
    }

    @Test(arguments: Way.allCases) func `a row that an edit of the column has brought back stays`(way: Way) throws {
        let (a, b) = (try filled(replica: 1), try empty(replica: 2))
        try b.receive(from: a)
        try a.execute("DELETE FROM note")
        try b.execute("UPDATE note SET color = 'blue'")
        try a.receive(from: b)
        try letGo(a, way)
        try a.expectSound()
        try b.receive(from: a)
        for app in [a, b] { #expect(try app.text("SELECT title FROM note") == ["a"]) }
        try b.expectSound()
    }

    @Test(arguments: Way.allCases) func `who deletes a row has seen what was written to the column before`(way: Way) throws {
        let (a, b) = (try filled(replica: 1), try empty(replica: 2))
        try b.receive(from: a)
        try b.execute("UPDATE note SET color = 'blue'")
        try a.receive(from: b)
        try letGo(a, way)
        try a.execute("DELETE FROM note")
        try b.receive(from: a)
        for app in [a, b] {
            #expect(try app.text("SELECT title FROM note") == [])
            try app.expectSound()
        }
    }
}
