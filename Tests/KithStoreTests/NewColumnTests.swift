import GRDB
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("What stands in a column that the store has only now is shown here, and no other device gets it")
struct NewColumnTests {
    private static let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)"

    enum Kind: CaseIterable {
        case register, text, set, counter

        var type: String { self == .counter ? "INTEGER" : "TEXT" }
        /// Two values as SQL has them.
        var values: (String, String) {
            switch self {
            case .register, .text: ("'one'", "'two'")
            case .set: ("'[\"one\"]'", "'[\"two\"]'")
            case .counter: ("1", "2")
            }
        }
        var table: TrackedTable {
            TrackedTable(
                "note", sets: self == .set ? ["b"] : [], counters: self == .counter ? ["b"] : [], texts: self == .text ? ["b"] : [])
        }
    }

    /// A device with its app's migrator.
    private final class Device {
        let database: DatabaseQueue
        private(set) var store: SyncedDatabase
        private var migrator = DatabaseMigrator()
        private let options: SyncedDatabase.Options

        init(_ sql: String, _ table: TrackedTable = TrackedTable("note"), replica: UInt64) throws {
            database = try DatabaseQueue()
            options = TestStore.options(ReplicaID(high: 1, low: replica))
            migrator.registerMigration("v1") { try $0.execute(sql: sql) }
            store = try SyncedDatabase(database, tables: [table], migrator: migrator, options: options)
        }

        /// By steps that the store runs.
        func update(_ steps: String..., table: TrackedTable) throws {
            store.close()
            for sql in steps { migrator.registerMigration("v\(migrator.migrations.count + 1)") { try $0.execute(sql: sql) } }
            store = try SyncedDatabase(database, tables: [table], migrator: migrator, options: options)
        }

        /// By the app itself, before the store is opened.
        func change(_ sql: String, table: TrackedTable) throws {
            store.close()
            try database.write { db in
                try SyncedDatabase.removeTriggers(of: "note", in: db)
                try db.execute(sql: sql)
            }
            store = try SyncedDatabase(database, tables: [table], options: options)
        }

        func execute(_ sql: String) throws { try database.write { try $0.execute(sql: sql) } }

        func shown(_ columns: String = "b") throws -> [String] {
            try database.read { try String.fetchAll($0, sql: "SELECT coalesce(\(columns), 'NULL') FROM note ORDER BY id") }
        }
    }

    /// All devices exchange what they have, and show the same.
    private func meet(
        _ devices: Device..., showing expected: [String], _ columns: String = "b", _ location: SourceLocation = #_sourceLocation
    )
        throws
    {
        for _ in devices { for a in devices { for b in devices where a !== b { try a.store.pull(from: b.store) } } }
        for device in devices {
            #expect(try device.shown(columns) == expected, sourceLocation: location)
            #expect(try device.store.verify().problems == [], sourceLocation: location)
            #expect(try device.store.digest() == device.store.recomputedDigest(), sourceLocation: location)
            #expect(try device.store.digest() == devices[0].store.digest(), sourceLocation: location)
        }
    }

    private func id(_ number: UInt64) -> String { "x'\(rowID(number))'" }

    @Test(arguments: Kind.allCases) func `a column that was local until now`(kind: Kind) throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, b \(kind.type))"
        let local = TrackedTable("note", localColumns: ["b"])
        let (a, b) = (try Device(sql, local, replica: 1), try Device(sql, local, replica: 2))
        try a.execute("INSERT INTO note VALUES (\(id(1)), 'w', \(kind.values.0)), (\(id(2)), 'x', NULL)")
        try b.store.pull(from: a.store)
        try a.change("SELECT 1", table: kind.table)
        try b.change("SELECT 1", table: kind.table)
        #expect(try b.shown().allSatisfy { $0 == "NULL" })
        try meet(a, b, showing: try a.shown())
    }

    @Test(arguments: Kind.allCases) func `a column that the app has filled behind a default`(kind: Kind) throws {
        let (a, b) = (try Device(Self.sql, replica: 1), try Device(Self.sql, replica: 2))
        try a.execute("INSERT INTO note VALUES (\(id(1)), 'w'), (\(id(2)), 'x')")
        try b.store.pull(from: a.store)
        let (one, two) = kind.values
        try a.change(
            """
            CREATE TABLE other (id BLOB PRIMARY KEY NOT NULL, title TEXT, b \(kind.type) NOT NULL DEFAULT \(one));
            INSERT INTO other SELECT id, title, iif(title = 'w', \(two), \(one)) FROM note;
            DROP TABLE note; ALTER TABLE other RENAME TO note;
            """, table: kind.table)
        try b.change("ALTER TABLE note ADD COLUMN b \(kind.type) NOT NULL DEFAULT \(one)", table: kind.table)
        let shown = try a.shown()
        #expect(shown[0] != shown[1])
        try meet(a, b, showing: shown)
    }

    @Test func `a column that was renamed, and is not declared to be the one that it was`() throws {
        let (a, b) = (try Device(Self.sql, replica: 1), try Device(Self.sql, replica: 2))
        try a.execute("INSERT INTO note VALUES (\(id(1)), 'w')")
        try b.store.pull(from: a.store)
        for device in [a, b] { try device.change("ALTER TABLE note RENAME COLUMN title TO b", table: TrackedTable("note")) }
        let fresh = try Device("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, b TEXT)", replica: 3)
        try meet(a, b, fresh, showing: ["w"])
        #expect(try a.store.alternatives(table: "note", id: rowID(1)).isEmpty)
    }

    @Test(arguments: Kind.allCases) func `what a newer device has written there counts, even if it is nothing`(kind: Kind) throws {
        for isStep in [false, true] {
            let (a, b) = (try Device(Self.sql, replica: 1), try Device(Self.sql, replica: 2))
            let (one, two) = kind.values
            let add = "ALTER TABLE note ADD COLUMN b \(kind.type) DEFAULT \(one)"
            try a.update(add, table: kind.table)
            try a.execute("INSERT INTO note VALUES (\(id(1)), 'w', NULL), (\(id(2)), 'x', \(two))")
            try b.store.pull(from: a.store)
            try b.execute("UPDATE note SET title = 'y' WHERE title = 'x'")
            if isStep {
                try b.update(add + "; UPDATE note SET b = \(one)", table: kind.table)
            } else {
                try b.change(add, table: kind.table)
            }
            try meet(a, b, showing: try a.shown())
        }
    }

    @Test(arguments: [("REAL DEFAULT 0", "1.5"), ("TEXT DEFAULT 3", "'four'"), ("NUMERIC DEFAULT '7'", "8"), ("INTEGER DEFAULT 1.0", "2")])
    func `a default is no value of its own beside what others have written, however the column stores it`(type: String, value: String)
        throws
    {
        let (a, b) = (try Device(Self.sql, replica: 1), try Device(Self.sql, replica: 2))
        try a.execute("INSERT INTO note VALUES (\(id(1)), 'w'), (\(id(2)), 'x')")
        try b.store.pull(from: a.store)
        let add = "ALTER TABLE note ADD COLUMN b \(type)"
        try a.update(add, table: TrackedTable("note"))
        try a.execute("UPDATE note SET b = \(value)")
        try b.store.pull(from: a.store)
        try b.update(add, table: TrackedTable("note"))
        try meet(a, b, showing: try a.shown())
        for number: UInt64 in 1...2 { #expect(try b.store.alternatives(table: "note", id: rowID(number)).isEmpty) }
    }

    @Test(arguments: Kind.allCases) func `a column that one step drops and a later one adds, on a device that runs both at once`(kind: Kind)
        throws
    {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, b \(kind.type))"
        let devices = try (1...3).map { try Device(sql, kind.table, replica: $0) }
        let (a, b, c) = (devices[0], devices[1], devices[2])
        let (one, two) = kind.values
        try a.execute("INSERT INTO note VALUES (\(id(1)), 'w', \(one)), (\(id(2)), 'x', \(one))")
        for device in [b, c] { try device.store.pull(from: a.store) }
        let (drop, add) = ("ALTER TABLE note DROP COLUMN b", "ALTER TABLE note ADD COLUMN b \(kind.type)")
        let fill = "UPDATE note SET b = \(two) WHERE title = 'x'"
        try a.update(drop, table: TrackedTable("note"))
        try a.update(add, fill, table: kind.table)
        try b.update(drop, add, fill, table: kind.table)
        #expect(try a.shown() == b.shown())
        for device in [a, b] {
            #expect(try device.store.verify().problems == [])
            #expect(try device.store.digest() == device.store.recomputedDigest())
        }
        try meet(a, b, showing: try a.shown())
        // Who never dropped it keeps what was written there, but where a step has written since.
        let written = try c.shown()[0]
        try c.store.pull(from: b.store)
        #expect(try c.shown()[0] == written)
        #expect(try c.store.verify().problems == [])
    }

    @Test(arguments: Kind.allCases) func `a default that is not empty, which two devices change at once`(kind: Kind) throws {
        let (a, b) = (try Device(Self.sql, replica: 1), try Device(Self.sql, replica: 2))
        let fallback = kind == .counter ? "5" : kind == .set ? "'[\"d\",\"e\"]'" : "'some words'"
        let add = "ALTER TABLE note ADD COLUMN b \(kind.type) NOT NULL DEFAULT \(fallback)"
        try a.execute("INSERT INTO note VALUES (\(id(1)), 'w'), (\(id(2)), 'x')")
        try b.store.pull(from: a.store)
        let old = try Device(Self.sql, replica: 3)
        try a.update(add, table: kind.table)
        try b.change(add, table: kind.table)
        // A row from who does not know the column.
        try old.execute("INSERT INTO note VALUES (\(id(3)), 'y')")
        for device in [a, b] { try device.store.pull(from: old.store) }
        let (one, two, both) =
            switch kind {
            case .counter: ("b + 1", "b + 2", "8")
            case .set: ("'[\"e\"]'", "'[\"d\",\"e\",\"f\"]'", "[\"e\",\"f\"]")
            case .text: ("'some more words'", "'some words.'", "some more words.")
            case .register: ("'one'", "'two'", "")
            }
        try a.execute("UPDATE note SET b = \(one)")
        try b.execute("UPDATE note SET b = \(two)")
        let fresh = try Device(
            "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, b \(kind.type) NOT NULL DEFAULT \(fallback))", kind.table,
            replica: 4)
        for _ in 0..<2 {
            try a.store.pull(from: b.store)
            try b.store.pull(from: a.store)
        }
        let expected = kind == .register ? try a.shown() : [both, both, both]
        try meet(a, b, fresh, showing: expected)
        try a.execute("UPDATE note SET b = \(kind == .counter ? "b - 8" : kind == .set ? "'[]'" : "''")")
        try meet(a, b, fresh, showing: Array(repeating: kind == .counter ? "0" : kind == .set ? "[]" : "", count: 3))
    }

    @Test func `a text that a newer version has made a register, on a device of the older one`() throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, b TEXT)"
        let (a, b) = (try Device(sql, Kind.text.table, replica: 1), try Device(sql, Kind.text.table, replica: 2))
        try a.execute("INSERT INTO note VALUES (\(id(1)), 'hello')")
        try b.store.pull(from: a.store)
        try a.update("SELECT 1", table: TrackedTable("note"))
        try b.store.pull(from: a.store)
        #expect(try b.shown() == ["hello"])
        try b.update("SELECT 1", table: TrackedTable("note"))
        try meet(a, b, showing: ["hello"])
    }

    @Test(arguments: [Kind.text, .counter]) func `a column that was added with NULL is made to hold nothing instead`(kind: Kind) throws {
        let (a, b) = (try Device(Self.sql, replica: 1), try Device(Self.sql, replica: 2))
        try a.execute("INSERT INTO note VALUES (\(id(1)), 'w'), (\(id(2)), 'x')")
        try b.store.pull(from: a.store)
        let nothing = kind == .counter ? "0" : "''"
        let rebuild = """
            CREATE TABLE other (id BLOB PRIMARY KEY NOT NULL, title TEXT, b \(kind.type) NOT NULL DEFAULT \(nothing));
            INSERT INTO other SELECT id, title, coalesce(b, \(nothing)) FROM note; DROP TABLE note; ALTER TABLE other RENAME TO note
            """
        for device in [a, b] {
            try device.update("ALTER TABLE note ADD COLUMN b \(kind.type)", table: kind.table)
            if device === a { try a.execute("UPDATE note SET b = \(kind == .counter ? "3" : "'three'") WHERE title = 'w'") }
            try device.update(rebuild, table: kind.table)
        }
        try meet(a, b, showing: kind == .counter ? ["3", "0"] : ["three", ""])
    }

    @Test func `rows that were deleted and edited at once follow a rule that was declared later`() throws {
        let policies = [DeletePolicy.updateWins, .deleteWins]
        for isStep in [false, true] {
            for (first, second) in [(policies[0], policies[1]), (policies[1], policies[0])] {
                let old = TrackedTable("note", deletePolicy: first)
                let new = TrackedTable("note", deletePolicy: second)
                let (a, b) = (try Device(Self.sql, old, replica: 1), try Device(Self.sql, old, replica: 2))
                try a.execute("INSERT INTO note VALUES (\(id(1)), 'w')")
                try b.store.pull(from: a.store)
                try a.execute("DELETE FROM note")
                try b.execute("UPDATE note SET title = 'edited'")
                try meet(a, b, showing: first == .updateWins ? ["edited"] : [], "title")
                for device in [a, b] {
                    if isStep { try device.update("SELECT 1", table: new) } else { try device.change("SELECT 1", table: new) }
                }
                let fresh = try Device(Self.sql, new, replica: 3)
                try meet(a, b, fresh, showing: second == .updateWins ? ["edited"] : [], "title")
            }
        }
    }

    @Test(arguments: [
        (Kind.register, Kind.text), (.text, .register), (.register, .set), (.set, .register), (.text, .set), (.set, .text),
        (.register, .counter), (.counter, .register),
    ])
    func `a column that was of another kind when its row was deleted`(before: Kind, now: Kind) throws {
        let isNumber = before == .counter || now == .counter
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, b \(isNumber ? "INTEGER NOT NULL DEFAULT 0" : "TEXT"))"
        let value = isNumber ? "7" : "[\"one\",\"two\"]"
        let (a, b) = (try Device(sql, before.table, replica: 1), try Device(sql, before.table, replica: 2))
        try a.execute("INSERT INTO note VALUES (\(id(1)), '\(value)'), (\(id(2)), '\(value)')")
        try b.store.pull(from: a.store)
        try a.execute("DELETE FROM note")
        try b.store.pull(from: a.store)
        for device in [a, b] {
            try device.update("SELECT 1", table: now.table)
            #expect(
                try device.store.trash().map(\.values["b"]) == [
                    isNumber ? .integer(7) : .text(value), isNumber ? .integer(7) : .text(value),
                ])
        }
        try a.store.restore(table: "note", id: rowID(1))
        #expect(try a.shown() == [value])
        try meet(a, b, showing: [value])
        try b.store.restore(table: "note", id: rowID(2))
        try meet(a, b, showing: [value, value])
    }

    @Test(arguments: [
        ("'red'", Kind.set, "TEXT NOT NULL DEFAULT '[]'", "[]"), ("'{\"a\":1}'", .set, "TEXT NOT NULL DEFAULT '[]'", "[]"),
        ("NULL", .set, "TEXT NOT NULL DEFAULT '[]'", "[]"), ("NULL", .counter, "INTEGER NOT NULL DEFAULT 0", "0"),
        ("'seven'", .counter, "INTEGER NOT NULL DEFAULT 0", "0"),
    ])
    func `a row comes back from the trash without what its column cannot hold now`(value: String, now: Kind, type: String, shown: String)
        throws
    {
        let device = try Device("CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, b)", replica: 1)
        try device.execute("INSERT INTO note VALUES (\(id(1)), 'Tea', \(value))")
        try device.execute("DELETE FROM note")
        try device.update("DROP TABLE note; CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, b \(type))", table: now.table)
        try device.store.restore(table: "note", id: rowID(1))
        #expect(try device.shown("title || ' ' || b") == ["Tea \(shown)"])
        #expect(try device.store.verify().problems == [])
    }
}
