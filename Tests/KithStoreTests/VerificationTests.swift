import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A store that does not hold together looks sound")
struct VerificationTests {
    private static func pair() throws -> (TestStore, TestStore) {
        let (first, second) = (try TestStore(), try TestStore())
        for number: UInt64 in 1...20 {
            try first.execute("INSERT INTO note (id, title, tags) VALUES (?, ?, '[\"a\"]')", [key(number), "note \(number)"])
        }
        try first.execute("DELETE FROM note WHERE rowid % 4 = 0")
        try second.receive(from: first)
        try second.execute("UPDATE note SET title = 'theirs', views = 2")
        try first.execute("UPDATE note SET title = 'mine', tags = '[\"b\"]'")
        try first.receive(from: second)
        try second.receive(from: first)
        return (first, second)
    }

    /// Changes the database behind Kith's back.
    static func damage(_ notes: TestStore, _ sql: String) throws {
        try damage(notes.database, sql)
    }

    static func damage(_ database: any DatabaseWriter, _ sql: String) throws {
        try database.writeWithoutTransaction { db in
            let triggers = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger["name"] as String)") }
            try db.execute(sql: sql)
            for trigger in triggers { try db.execute(sql: trigger["sql"]) }
        }
    }

    @Test func `two stores that know the same have the same digest, whatever way it came to them`() throws {
        let (first, second) = try Self.pair()
        #expect(try first.store.digest() == second.store.digest())
        let third = try TestStore()
        try third.receive(from: second)
        #expect(try third.store.digest() == first.store.digest())
        try first.execute("UPDATE note SET color = 1 WHERE rowid = 1")
        let (mine, theirs) = (try #require(try first.store.digest()), try #require(try second.store.digest()))
        #expect(mine.rows != theirs.rows)
        #expect(!mine.contradicts(theirs))
        try second.receive(from: first)
        #expect(try first.store.digest() == second.store.digest())
    }

    @Test(
        arguments: [
            "UPDATE note SET title = 'x' WHERE rowid = 1", "DELETE FROM note WHERE rowid = 1",
            "UPDATE note SET title = CAST(title AS BLOB) WHERE rowid = 1",
            "UPDATE kith_clock_0 SET exceptions = NULL WHERE row = 1",
        ])
    func `a difference behind Kith's back changes the digest`(sql: String) throws {
        let (first, second) = try Self.pair()
        try Self.damage(first, sql)
        let other = try #require(try second.store.digest())
        #expect(try first.store.recomputedDigest().contradicts(other))
        #expect(try first.store.digest()?.contradicts(other) == true)
    }

    @Test func `what was changed behind Kith's back is named until it is mended, or somebody has written it`() throws {
        let (first, _) = try Self.pair()
        _ = try first.store.digest()
        try Self.damage(
            first, "UPDATE note SET title = 'x' WHERE rowid = 1; DELETE FROM kith_clock_0 WHERE row = 2; DELETE FROM note WHERE rowid = 2")
        let found = try first.store.verify()
        #expect(found.changed.count == 2 && !found.isSound)
        try first.store.distrustDigest(found.changed)
        // Also once the digest takes it as it is.
        _ = try first.store.digest()
        var problems = try first.store.verify().problems
        #expect(problems.contains { $0.contains("neither mended nor written") } && problems.contains { $0.contains("did not come back") })
        try first.execute("UPDATE note SET title = 'y' WHERE title = 'x'")
        problems = try first.store.verify().problems
        #expect(!problems.contains { $0.contains("neither mended nor written") } && problems.contains { $0.contains("did not come back") })
        let lost = try #require(
            found.changed.first { position in
                (try? first.database.read {
                    try Bool.fetchOne($0, sql: "SELECT 1 FROM note WHERE id = ?", arguments: [Data(position.row.bytes)])
                }) != true
            })
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'again')", [Data(lost.row.bytes)])
        #expect(try first.store.verify().problems.allSatisfy { !$0.contains("did not come back") })
        // What the patrol finds is named, too.
        _ = try first.store.digest()
        try Self.damage(first, "UPDATE note SET title = 'z' WHERE title = 'y'")
        while try first.store.advanceDigest().tampered.isEmpty {}
        #expect(try first.store.verify().problems.contains { $0.contains("neither mended nor written") })
    }

    @Test(
        arguments: [
            ("DELETE FROM note WHERE rowid = 1", "clocks have no row"),
            ("INSERT INTO note (id) VALUES (zeroblob(16))", "rows have no clocks"),
            ("UPDATE note SET id = zeroblob(16) WHERE rowid = 1", "another row's clocks"),
            ("UPDATE note SET tags = '[\"z\"]' WHERE rowid = 1", "column tags"),
            ("UPDATE note SET views = 77 WHERE rowid = 1", "column views"),
            ("DELETE FROM kith_dot WHERE row = 1", "the index does not list"),
            ("INSERT INTO kith_dot VALUES (0, 1, 0, 99)", "index of commits lists"),
            ("UPDATE kith_replica SET sequence = 1", "the vector does not cover"),
        ])
    func `rows, clocks and index that do not agree are named`(sql: String, problem: String) throws {
        let (first, _) = try Self.pair()
        #expect(try first.store.verify().isSound)
        try Self.damage(first, sql)
        let problems = try first.store.verify().problems
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }
}
