import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A foreign key that a migration drops or changes goes on acting by its old rule")
struct ReferenceMigrationTests {
    private static let tables = [TrackedTable("folder"), TrackedTable("note")]
    private static let actions = ["CASCADE", "RESTRICT", "SET NULL", "SET DEFAULT"]
    private static let shown = "SELECT title || hex(folder) FROM note ORDER BY title"
    private static let folders = "SELECT name FROM folder ORDER BY name"
    private static let dropped = "SELECT title FROM note ORDER BY title"

    private static func hex(_ number: UInt64) -> String { key(number).map { String(format: "%02X", $0) }.joined() }

    /// What is declared of a column.
    private static func reference(_ action: String) -> String {
        "\(action == "SET DEFAULT" ? "DEFAULT x'\(hex(9))'" : "") REFERENCES folder (id) ON DELETE \(action)"
    }

    /// - Parameter folder: what is declared of the column, if there is one.
    private static func note(_ folder: String?, named name: String = "note") -> String {
        "CREATE TABLE \(name) (id BLOB PRIMARY KEY NOT NULL, title TEXT\(folder.map { ", folder BLOB \($0)" } ?? ""))"
    }

    private static func open(_ folder: String?, replica: UInt64) throws -> App {
        try App("CREATE TABLE folder (id BLOB PRIMARY KEY NOT NULL, name TEXT); \(note(folder))", tables, replica: replica)
    }

    private static func migrate(_ app: App, _ folder: String?) throws {
        let columns = folder == nil ? "id, title" : "id, title, folder"
        try app.migrate(
            """
            \(note(folder, named: "other"));
            INSERT INTO other (\(columns)) SELECT \(columns) FROM note; DROP TABLE note; ALTER TABLE other RENAME TO note
            """, tables)
    }

    /// Two stores; the first has deleted a folder in which the second has put a note, and the second knows of both.
    private static func conflict(_ action: String) throws -> (App, App) {
        let (a, b) = (try open(reference(action), replica: 1), try open(reference(action), replica: 2))
        try a.execute("INSERT INTO folder VALUES (?, 'f'), (?, 'stand-in')", [key(1), key(9)])
        try b.receive(from: a)
        try a.execute("DELETE FROM folder WHERE name = 'f'")
        try b.execute("INSERT INTO note VALUES (?, 'n', ?)", [key(2), key(1)])
        try b.receive(from: a)
        return (a, b)
    }

    /// Whether the store shows what one shows that has never known another rule.
    private static func expectAsIfNew(_ app: App, _ folder: String?) throws {
        let fresh = try open(folder, replica: 3)
        try fresh.receive(from: app)
        for sql in [folders, folder == nil ? dropped : shown] { #expect(try app.text(sql) == fresh.text(sql)) }
        #expect(try app.store.digest() == fresh.store.digest())
        for app in [app, fresh] { try app.expectSound() }
        let waiting = "SELECT hex(child) || col || parent_tbl || hex(parent) FROM kith_waiting ORDER BY 1"
        #expect(try app.text(waiting) == fresh.text(waiting))
        #expect(try app.text("SELECT hex(id) FROM kith_held") == fresh.text("SELECT hex(id) FROM kith_held"))
    }

    @Test(arguments: actions, [nil] + actions) func `whatever the action was, and becomes`(before: String, after: String?) throws {
        let (_, b) = try Self.conflict(before)
        let vector = try b.store.vector()
        let after = after.map(Self.reference) ?? ""
        try Self.migrate(b, after)
        #expect(try b.store.vector() == vector)
        try Self.expectAsIfNew(b, after)
    }

    @Test(arguments: actions)
    func `a column that is dropped lets its row be shown, and what it referred to be collected`(before: String) throws {
        let (_, b) = try Self.conflict(before)
        try Self.migrate(b, nil)
        #expect(try b.text(Self.dropped) == ["n"])
        #expect(try b.text(Self.folders) == ["stand-in"])
        try b.expectSound()
        try b.store.emptyTrash()
        #expect(try b.store.collectGarbage(acknowledged: []) == 1)
    }

    @Test func `what was written outlasts a check that refuses it`() throws {
        let (a, b) = try Self.conflict("SET NULL")
        #expect(try b.text(Self.shown) == ["n"])
        try Self.migrate(b, "CHECK (folder IS NULL)")
        #expect(try b.text(Self.shown) == [])
        try b.expectSound()
        try Self.migrate(b, Self.reference("SET NULL"))
        #expect(try b.text(Self.shown) == ["n"])
        try a.store.restore(table: "folder", id: rowID(1))
        try b.receive(from: a)
        #expect(try b.text(Self.shown) == ["n" + Self.hex(1)])
        try b.expectSound()
    }
}
