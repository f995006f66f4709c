import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("Stores that differ although they know the same stay different, or lose something when they are mended")
struct MendingTests {
    private static func pair(rows: ClosedRange<Int> = 1...200) throws -> (TestStore, TestStore) {
        let (first, second) = (try TestStore(), try TestStore())
        try DigestTests.fill(first, rows)
        try first.execute("UPDATE note SET tags = '[\"a\",\"b\"]', views = 3 WHERE rowid % 2 = 0")
        try first.execute("DELETE FROM note WHERE rowid % 7 = 0")
        try second.receive(from: first, rowsMax: 30)
        return (first, second)
    }

    private static let fifty = "id = CAST('0000000000000050' AS BLOB)"

    private static func titles(_ notes: TestStore) throws -> [String] {
        try notes.database.read { try String.fetchAll($0, sql: "SELECT title || tags || views FROM note ORDER BY id") }
    }

    /// What a note shows and keeps beside it.
    private static func versions(_ notes: TestStore, _ id: RowID) throws -> Set<String> {
        let shown = try notes.row(id)?["title"] as String?
        let kept = try notes.store.alternatives(table: "note", id: id).compactMap { alternative -> String? in
            guard case .text(let bytes) = alternative.value else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        return Set(kept + [shown].compactMap(\.self))
    }

    @Test func `nothing is asked and nothing mended where nothing differs`() throws {
        let (first, second) = try Self.pair()
        let sessions = try SessionPair(first.store, second.store)
        try sessions.wait(seconds: 60)
        #expect(sessions.questionCount == 0)
        #expect(sessions.statuses.allSatisfy { $0?.isIdentical == true && $0?.rowsMended == 0 })
        #expect(sessions.closings.isEmpty)
    }

    @Test(
        arguments: [
            "UPDATE note SET title = 'x' WHERE \(fifty)", "DELETE FROM note WHERE \(fifty)",
            "UPDATE note SET tags = '[\"z\"]' WHERE title = 'note 51'",
            "UPDATE note SET views = 9 WHERE title = 'note 51'", "UPDATE kith_clock_0 SET exceptions = NULL WHERE \(fifty)",
            "DELETE FROM note WHERE title BETWEEN 'note 5' AND 'note 6'",
        ], [0, 1])
    func `a row that was damaged in one of two stores is found, named and mended, whoever leads`(damage: String, side: Int) throws {
        let (first, second) = try Self.pair()
        let before = try Self.titles(first)
        let damaged = side == 0 ? first : second
        try VerificationTests.damage(damaged, damage)
        let sessions = try SessionPair(first.store, second.store)
        try sessions.wait(seconds: 60)
        #expect(sessions.closings.isEmpty)
        #expect(try Self.titles(first) == Self.titles(second))
        #expect(try first.store.recomputedDigest() == second.store.recomputedDigest())
        #expect(sessions.statuses.allSatisfy { $0?.isIdentical == true })
        let named = sessions.statuses.flatMap { $0?.mended ?? [] }
        // It is remembered, whatever becomes of the session.
        let mendings = try [first, second].compactMap { try $0.store.mending() }
        #expect(!mendings.isEmpty && mendings.allSatisfy { $0.rowCount > 0 && $0.milliseconds > 0 })
        for notes in [first, second] { try notes.store.forgetMending() }
        #expect(try first.store.mending() == nil && second.store.mending() == nil)
        let id = try #require(RowID(bytes: "0000000000000050".utf8))
        let next = try #require(RowID(bytes: "0000000000000051".utf8))
        #expect(named.contains { $0.table == Array("note".utf8) && [id, next].contains($0.row) })
        #expect(try first.store.verify().problems == [])
        #expect(try second.store.verify().problems == [])
        // What was there is there: as it was, or beside what was put in its place.
        if damage.contains("SET title") {
            for notes in [first, second] { #expect(try Self.versions(notes, id) == ["note 50", "x"]) }
        } else if damage.hasPrefix("DELETE") || damage.contains("kith") {
            #expect(try Self.titles(first) == before)
        }
    }

    @Test func `three stores of which each has lost something else hold all of it in the end`() throws {
        let (first, second) = try Self.pair()
        let third = try TestStore()
        try third.receive(from: first)
        let before = try Self.titles(first)
        try VerificationTests.damage(first, "DELETE FROM note WHERE title = 'note 8'")
        try VerificationTests.damage(second, "DELETE FROM note WHERE title = 'note 15'")
        try VerificationTests.damage(third, "UPDATE note SET title = 'theirs' WHERE title IN ('note 22', 'note 23')")
        for pair in [(first, second), (second, third), (first, third), (first, second), (second, third)] {
            try SessionPair(pair.0.store, pair.1.store).wait(seconds: 60)
        }
        let digests = try [first, second, third].map { try $0.store.recomputedDigest() }
        #expect(digests[0] == digests[1] && digests[1] == digests[2])
        #expect(try Self.titles(first).count == before.count)
        let id = try #require(RowID(bytes: "0000000000000022".utf8))
        for notes in [first, second, third] { #expect(try Self.versions(notes, id) == ["note 22", "theirs"]) }
    }

    @Test func `a row that is deleted in both stores stays deleted, whatever else is mended beside it`() throws {
        let (first, second) = try Self.pair()
        try first.store.emptyTrash()
        try first.store.collectGarbage(acknowledged: [second.store.vector()])
        try VerificationTests.damage(second, "UPDATE note SET title = 'x' WHERE rowid BETWEEN 1 AND 20")
        let count = try Self.titles(first).count
        let sessions = try SessionPair(first.store, second.store)
        try sessions.wait(seconds: 60)
        for notes in [first, second] { #expect(try Self.titles(notes).count == count) }
        #expect(try first.store.recomputedDigest() == second.store.recomputedDigest())
    }

    @Test(arguments: [0, 1], [false, true])
    func `texts of which one store was told a lie come together, with all that one of them showed`(side: Int, isEdited: Bool) throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
        let tables = [TrackedTable("note", texts: ["body"])]
        let author = ReplicaID(high: 7, low: 7)
        // Whoever lies says another thing of the same commits.
        let stores = try ["milk", "bread and butter"].map { body in
            let teller = try TestStore(replica: author, sql: sql, tables: tables)
            try teller.execute("INSERT INTO note (id, title, body) VALUES (?, 't', ?)", [key(1), body])
            if isEdited { try teller.execute("UPDATE note SET body = body || '!'") }
            let hearer = try TestStore(sql: sql, tables: tables)
            try hearer.receive(from: teller)
            return hearer
        }
        let pair = side == 0 ? stores : stores.reversed()
        let third = try TestStore(sql: sql, tables: tables)
        try third.receive(from: stores[1])
        for (first, second) in [(pair[0], pair[1]), (pair[1], third), (pair[0], third), (pair[0], pair[1])] {
            try SessionPair(first.store, second.store).wait(seconds: 60)
        }
        let body = try #require(try stores[0].row(rowID(1))?["body"] as String?)
        #expect(body.contains("milk") && body.contains("bread and butter"))
        for notes in stores + [third] {
            #expect(try notes.row(rowID(1))?["body"] == body)
            #expect(try notes.store.recomputedDigest() == third.store.recomputedDigest())
            #expect(try notes.store.verify().problems == [])
        }
    }

    @Test(
        arguments: [0, 1],
        ["UPDATE note SET title = 'x' WHERE rowid = 7", "DELETE FROM note WHERE rowid = 7"])
    func `texts that were edited are neither taken for different nor lost beside a row that is mended`(side: Int, damage: String) throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT)"
        let tables = [TrackedTable("note", texts: ["body"])]
        let (first, second) = (try TestStore(sql: sql, tables: tables), try TestStore(sql: sql, tables: tables))
        try DigestTests.fill(first, 1...20)
        for word in ["one", "one two", "one two three"] { try first.execute("UPDATE note SET body = '\(word) ' || rowid") }
        try second.receive(from: first)
        try VerificationTests.damage(side == 0 ? first : second, damage)
        let sessions = try SessionPair(first.store, second.store)
        try sessions.wait(seconds: 60)
        let damaged = try #require(RowID(bytes: "0000000000000007".utf8))
        let named = sessions.statuses.flatMap { $0?.mended ?? [] }
        #expect(!named.isEmpty && named.allSatisfy { $0.row == damaged })
        #expect(try first.store.recomputedDigest() == second.store.recomputedDigest())
        for notes in [first, second] {
            #expect(try notes.row(damaged)?["body"] == "one two three 7")
            #expect(try notes.store.verify().problems == [])
        }
    }
}
