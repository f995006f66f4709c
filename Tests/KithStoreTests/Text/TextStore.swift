import Foundation
import GRDB
import KithCausality
import KithLedger
import KithStore
import KithSync
import KithText
import TestSupport
import Testing

/// A store with a table of pages whose body is a text.
struct TextStore {
    static let sql = "CREATE TABLE IF NOT EXISTS page (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
    static let page = TrackedTable("page", texts: ["body"])

    let inner: TestStore
    var store: SyncedDatabase { inner.store }

    init(_ number: UInt64, _ backend: Backend = .memory, folder: TemporaryFolder? = nil, budget: TextBudget = TextBudget()) throws {
        inner = try TestStore(
            backend, replica: ReplicaID(high: 0, low: number), sql: Self.sql, tables: [Self.page], folder: folder,
            name: "pages-\(number).sqlite", textBudget: budget)
    }

    func insert(_ body: String?, row: UInt64 = 1) throws {
        try inner.execute(
            "INSERT INTO page (id, title, body) VALUES (?, 'a page', CAST(? AS TEXT))", [key(row), body.map { Data($0.utf8) }])
    }

    func save(_ body: String?, row: UInt64 = 1) throws {
        try inner.execute("UPDATE page SET body = CAST(? AS TEXT) WHERE id = ?", [body.map { Data($0.utf8) }, key(row)])
    }

    func delete(row: UInt64 = 1) throws {
        try inner.execute("DELETE FROM page WHERE id = ?", [key(row)])
    }

    func body(row: UInt64 = 1) throws -> String? {
        // As bytes, for a string that GRDB makes ends at NUL.
        let bytes = try inner.database.read {
            try Data.fetchOne($0, sql: "SELECT CAST(body AS BLOB) FROM page WHERE id = ?", arguments: [key(row)])
        }
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    func exists(row: UInt64 = 1) throws -> Bool {
        try inner.database.read {
            try Bool.fetchOne($0, sql: "SELECT EXISTS (SELECT 1 FROM page WHERE id = ?)", arguments: [key(row)]) ?? false
        }
    }

    func count(_ sql: String) throws -> Int {
        try inner.database.read { try Int.fetchOne($0, sql: sql) ?? 0 }
    }

    func version(row: UInt64 = 1) throws -> TextVersion {
        try store.textVersion(table: "page", id: rowID(row), column: "body")
    }

    func text(at version: TextVersion, row: UInt64 = 1) throws -> String {
        try store.text(table: "page", id: rowID(row), column: "body", at: version)
    }

    func revisions(row: UInt64 = 1) throws -> [TextRevision] {
        try store.textRevisions(table: "page", id: rowID(row), column: "body")
    }

    /// Saves what an editor made of the version `base`.
    func save(_ body: String, base: TextVersion, row: UInt64 = 1) throws {
        try inner.database.write {
            try store.saveText($0, table: "page", id: rowID(row), column: "body", body, base: base)
        }
    }

    func receive(from other: TextStore) throws {
        try inner.receive(from: other.inner)
    }

    func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
        try inner.expectSound(location)
    }
}

/// Two stores that know each other's page.
struct TextPair {
    let a: TextStore
    let b: TextStore

    init(_ body: String?) throws {
        a = try TextStore(1)
        b = try TextStore(2)
        try a.insert(body)
        try b.receive(from: a)
    }

    /// Brings both to the same state, which must hold together. Returns the body.
    @discardableResult
    func meet(_ location: SourceLocation = #_sourceLocation) throws -> String? {
        try a.receive(from: b)
        try b.receive(from: a)
        try a.expectSound(location)
        try b.expectSound(location)
        #expect(try a.store.digest() == b.store.digest(), sourceLocation: location)
        #expect(try a.body() == b.body(), sourceLocation: location)
        return try a.body()
    }
}
