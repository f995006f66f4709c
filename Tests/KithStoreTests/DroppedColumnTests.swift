import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A column that one version of an app drops is lost for those who still have it")
struct DroppedColumnTests {
    private typealias App = SchemaSkewTests.App

    private static let sql = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, color TEXT NOT NULL DEFAULT 'none',
            tags TEXT NOT NULL DEFAULT '[]', body TEXT NOT NULL DEFAULT '', views INTEGER NOT NULL DEFAULT 0)
        """
    private static let dropped = ["color", "tags", "body"]
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

    private func letGo(_ app: App, _ way: Way = .dropped) throws {
        guard way == .dropped else { return try app.migrate("SELECT 1", Self.local) }
        app.store.close()
        try app.database.write { try KithStore.removeTriggers(of: "note", in: $0) }
        let sql = Self.dropped.map { "ALTER TABLE note DROP COLUMN \($0)" }.joined(separator: ";")
        try app.migrate(sql, [TrackedTable("note", counters: ["views"])])
    }

    @Test("a store that let go of columns is sound, and nobody is said to have changed its rows", arguments: Way.allCases)
    func sound(way: Way) throws {
        let a = try filled(replica: 1)
        #expect(try a.store.digest() != nil)
        try letGo(a, way)
        try a.expectSound()
        #expect(try a.store.digest() == a.store.recomputedDigest())
        #expect(try a.store.advanceDigest().tampered == [])
        try a.expectSound()
    }
}
