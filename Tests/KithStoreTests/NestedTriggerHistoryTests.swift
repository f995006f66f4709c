import Foundation
import GRDB
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("Some triggers and statements together make what is noted differ from what the table shows")
struct NestedTriggerHistoryTests {
    private static let sql = """
        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT, tags TEXT NOT NULL DEFAULT '[]',
            n INTEGER NOT NULL DEFAULT 0, updated TEXT CHECK (updated <> 'refused'))
        """
    private static let tables = [TrackedTable("note", sets: ["tags"], counters: ["n"], texts: ["body"], journal: .days(30))]
    /// Of sets the elements: beside some triggers they stay as they were written.
    private static let all = """
        SELECT hex(id), title, body, n, updated, (SELECT group_concat(value) FROM (SELECT DISTINCT value FROM json_each(tags) ORDER BY 1))
        FROM note ORDER BY id
        """
    private static let count = Soak.count(15, soaking: 3_000)
    private static let changes = [
        "n = n + 1", "body = coalesce(body, '') || '!'", "body = trim(body)", "tags = json_insert(tags, '$[#]', abs(n) % 7)",
        "title = upper(title)",
        "updated = n || 'u'", "n = n % 50 * 2, title = title || n", "body = substr(body, 2)", "tags = '[]'", "body = 'new ' || n, n = 3",
    ]

    private static func trigger(_ number: Int, _ generator: inout SplitMix64) -> String {
        let making = ["", "", "TEMP "].randomElement(using: &generator) ?? ""
        let time = Bool.random(using: &generator) ? "BEFORE" : "AFTER"
        let event = ["UPDATE", "UPDATE OF title", "UPDATE OF body", "UPDATE OF n, tags", "DELETE"].randomElement(using: &generator) ?? ""
        let row = event == "DELETE" ? "old" : "new"
        let others = Bool.random(using: &generator) ? "id = \(row).id" : "abs(n) % 3 = \(Int.random(in: 0..<3, using: &generator))"
        let change = changes.randomElement(using: &generator) ?? ""
        let ignoring = time == "BEFORE" && Int.random(in: 0..<4, using: &generator) == 0
        let ignore = ignoring ? "SELECT RAISE(IGNORE) WHERE abs(\(row).n) % 5 = 2; " : ""
        return "CREATE \(making)TRIGGER app\(number) \(time) \(event) ON note BEGIN UPDATE note SET \(change) WHERE \(others); \(ignore)END"
    }

    private static func write(_ store: SyncedDatabase, _ db: Database, _ generator: inout SplitMix64) throws {
        let id = key(UInt64.random(in: 1...4, using: &generator))
        let change = changes.randomElement(using: &generator) ?? ""
        switch Int.random(in: 0..<12, using: &generator) {
        case 0, 1, 2: try db.execute(sql: "UPDATE note SET \(change) WHERE id = ?", arguments: [id])
        case 3: try db.execute(sql: "UPDATE note SET \(change)")
        case 4: try db.execute(sql: "INSERT OR REPLACE INTO note (id, title, body, n) VALUES (?, 'r', 'replaced', 5)", arguments: [id])
        case 5:
            try db.execute(
                sql: "INSERT INTO note (id, title) VALUES (?, 'i') ON CONFLICT (id) DO UPDATE SET title = 'up', n = n + 4", arguments: [id])
        case 6: try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [id])
        case 7: try db.execute(sql: "UPDATE OR IGNORE note SET updated = 'refused', n = 9 WHERE id = ?", arguments: [id])
        case 8: try db.execute(sql: "UPDATE OR IGNORE note SET rowid = rowid + 100, n = n + 1 WHERE id = ?", arguments: [id])
        case 9: try? db.execute(sql: "UPDATE OR FAIL note SET updated = CASE WHEN id = ? THEN 'refused' ELSE 'x' END", arguments: [id])
        case 10:
            try db.inSavepoint {
                try write(store, db, &generator)
                return Bool.random(using: &generator) ? .commit : .rollback
            }
        default:
            guard let row = RowID(bytes: id),
                try Bool.fetchOne(db, sql: "SELECT 1 FROM note WHERE id = ? AND body NOT NULL", arguments: [id]) == true
            else { return }
            let base = try store.textVersion(db, table: "note", id: row, column: "body")
            do {
                try db.inSavepoint {
                    try store.saveText(
                        db, table: "note", id: row, column: "body", "saved \(Int.random(in: 0..<100, using: &generator))", base: base)
                    return .commit
                }
            } catch let error as StoreError where error.message.contains("IGNORE") {}
        }
    }

    /// SQLite itself refuses a REPLACE if a trigger ignores the deletion that is part of it.
    private static func isRefusal(_ error: String, hasLate: Bool) -> Bool {
        ["too many levels of trigger recursion", "UNIQUE constraint failed: note.id"].contains { error.contains($0) }
            || hasLate && error.contains("no clocks")
    }

    @Test func `random triggers and statements show elsewhere what they show here`() throws {
        for seed in Soak.firstSeed..<Soak.firstSeed + UInt64(Self.count) {
            var generator = SplitMix64(seed: seed)
            let (database, other) = (try DatabaseQueue(), try DatabaseQueue())
            for each in [database, other] { try each.write { try $0.execute(sql: Self.sql) } }
            let early = Int.random(in: 0...2, using: &generator)
            let triggers = (0..<Int.random(in: 1...3, using: &generator)).map { Self.trigger($0, &generator) }
            for trigger in triggers.prefix(early) where !trigger.hasPrefix("CREATE TEMP") {
                try database.write { try $0.execute(sql: trigger) }
            }
            let store = try SyncedDatabase(database, tables: Self.tables, options: TestStore.options())
            let peer = try SyncedDatabase(other, tables: Self.tables, options: TestStore.options())
            for (place, trigger) in triggers.enumerated() where place >= early || trigger.hasPrefix("CREATE TEMP") {
                try database.writeWithoutTransaction { try $0.execute(sql: trigger) }
            }
            if Bool.random(using: &generator) {
                try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA recursive_triggers = ON") }
            }
            let hasLate = triggers.count > early || triggers.contains { $0.hasPrefix("CREATE TEMP") }
            var isSame = true
            for step in 0..<15 where isSame {
                do {
                    try database.write { db in for _ in 0..<2 { try Self.write(store, db, &generator) } }
                } catch  where Self.isRefusal("\(error)", hasLate: hasLate) {
                    // Refused as a whole.
                }
                try peer.pull(from: store)
                let rows = try [database, other].map { database in
                    try database.read {
                        try Row.fetchAll($0, sql: Self.all).map { $0.databaseValues.map(\.description).joined(separator: "|") }
                    }
                }
                let problems = try store.verify().problems
                isSame = try rows[0] == rows[1] && problems == [] && store.recomputedDigest() == peer.recomputedDigest()
                #expect(isSame, "seed \(seed), step \(step), \(triggers): \(rows), \(problems)")
            }
            store.close()
            peer.close()
        }
    }
}
