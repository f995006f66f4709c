import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A reference that every row must have keeps rows from arriving, or is missing")
struct RequiredReferenceTests {
    private static let tables = [TrackedTable("recipe"), TrackedTable("step")]

    private static func sql(_ action: String) -> String {
        """
        CREATE TABLE recipe (id TEXT PRIMARY KEY NOT NULL DEFAULT (kith_uuid_text()), title TEXT);
        CREATE TABLE step (id TEXT PRIMARY KEY NOT NULL, text TEXT, recipe TEXT NOT NULL REFERENCES recipe (id) \(action));
        """
    }

    private static func app(_ sql: String, _ replica: UInt64, _ tables: [TrackedTable] = tables) throws -> App {
        try App(sql, tables, replica: replica)
    }

    private static func id(_ number: UInt64) -> String {
        guard case .text(let text) = KeyForm.text.value(rowID(number)) else { return "" }
        return "'\(String(decoding: text, as: UTF8.self))'"
    }

    @Test(arguments: ["ON DELETE CASCADE", "ON DELETE RESTRICT", "ON DELETE NO ACTION", ""])
    func `a child comes with its parent, hides or brings it, and is in order on both sides`(action: String) throws {
        let (a, b) = (try Self.app(Self.sql(action), 1), try Self.app(Self.sql(action), 2))
        try a.execute("INSERT INTO recipe VALUES (\(Self.id(1)), 'soup'); INSERT INTO step VALUES (\(Self.id(2)), 'boil', \(Self.id(1)))")
        try b.receive(from: a)
        try b.execute("DELETE FROM step; DELETE FROM recipe")
        try a.execute("INSERT INTO step VALUES (\(Self.id(3)), 'stir', \(Self.id(1)))")
        try a.receive(from: b)
        try b.receive(from: a)
        for app in [a, b] {
            let keepsParent = action != "ON DELETE CASCADE"
            #expect(try app.text("SELECT title FROM recipe") == (keepsParent ? ["soup"] : []))
            #expect(try app.text("SELECT text FROM step") == (keepsParent ? ["stir"] : []))
            try app.expectSound()
        }
        try a.execute("INSERT OR IGNORE INTO recipe VALUES (\(Self.id(1)), 'again')")
        try b.receive(from: a)
        for app in [a, b] { #expect(try app.text("SELECT text FROM step") == ["stir"]) }
    }

    @Test(arguments: ["ON DELETE SET NULL", "ON DELETE SET DEFAULT"])
    func `one in whose place nothing can stand is refused still`(action: String) throws {
        let error = #expect(throws: StoreError.self) { _ = try Self.app(Self.sql(action), 1) }
        #expect(error?.message.contains("so nothing could stand in for a missing row") == true)
    }

    @Test func `any other column needs a default still`() throws {
        let error = #expect(throws: StoreError.self) {
            _ = try Self.app(
                Self.sql("") + "ALTER TABLE step ADD COLUMN x; CREATE TABLE t (id BLOB PRIMARY KEY, a TEXT NOT NULL)", 1,
                Self.tables + [TrackedTable("t")])
        }
        #expect(error?.message.contains("column a is NOT NULL without a default") == true)
        #expect(error?.message.contains("Table step") == false)
    }

    @Test func `a row from an older version, which lacks the reference, waits until somebody writes it, and is passed on`() throws {
        let old = try Self.app("CREATE TABLE step (id TEXT PRIMARY KEY NOT NULL, text TEXT)", 1, [TrackedTable("step")])
        let (a, b) = (try Self.app(Self.sql("ON DELETE CASCADE"), 2), try Self.app(Self.sql("ON DELETE CASCADE"), 3))
        try old.execute("INSERT INTO step VALUES (\(Self.id(2)), 'boil')")
        try a.receive(from: old)
        try b.receive(from: a)
        for app in [a, b] {
            #expect(try app.text("SELECT text FROM step") == [])
            #expect(try app.store.refusedRows().map(\.id) == [rowID(2)])
            try app.expectSound()
            #expect(try app.store.digest() == old.store.digest())
        }
        // The app is updated, and its migration says which parent the old rows have.
        try old.migrate(
            """
            CREATE TABLE recipe (id TEXT PRIMARY KEY NOT NULL, title TEXT);
            ALTER TABLE step RENAME TO was; CREATE TABLE step (id TEXT PRIMARY KEY NOT NULL, text TEXT,
                recipe TEXT NOT NULL REFERENCES recipe (id) ON DELETE CASCADE);
            INSERT INTO recipe VALUES (\(Self.id(1)), 'soup'); INSERT INTO step SELECT id, text, \(Self.id(1)) FROM was; DROP TABLE was
            """, Self.tables)
        try old.execute("UPDATE step SET recipe = recipe, text = 'boil!'; UPDATE step SET recipe = \(Self.id(1))")
        try a.receive(from: old)
        try b.receive(from: a)
        for app in [old, a, b] {
            try app.expectSound()
            #expect(try app.text("SELECT text FROM step").count + app.store.refusedRows().count == 1)
        }
    }
}
