import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("The digest of a store is not that of its rows")
struct DigestTests {
    /// One commit of `rows`, as SQL of one statement.
    static func fill(_ notes: TestStore, _ rows: ClosedRange<Int>) throws {
        try notes.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT \(rows.lowerBound) UNION ALL SELECT i + 1 FROM n WHERE i < \(rows.upperBound))
            INSERT INTO note (id, title) SELECT CAST(printf('%016d', i) AS BLOB), 'note ' || i FROM n
            """)
    }

    @Test func `commits of more rows than one step takes are accounted for step by step, and saves between the steps too`() throws {
        let notes = try TestStore()
        let size = 4_500
        try Self.fill(notes, 1...size)
        func settle() throws -> Int {
            var steps = 1
            while try notes.store.advanceDigest().isBehind { steps += 1 }
            #expect(try notes.store.digest() == notes.store.recomputedDigest())
            return steps
        }
        #expect(try settle() > 2)
        try notes.execute("UPDATE note SET color = 1")
        #expect(try notes.store.advanceDigest().isBehind)
        try notes.execute("UPDATE note SET color = 2 WHERE rowid % 3 = 0")
        try notes.execute("DELETE FROM note WHERE rowid % 5 = 0")
        #expect(try notes.store.advanceDigest().isBehind)
        try notes.execute("INSERT INTO note (id, title) SELECT id, 'again' FROM (SELECT zeroblob(16) AS id)")
        #expect(try settle() >= 1)
        #expect(try notes.store.digest()?.rows.count == UInt64(size - size / 5 + 1))
    }

    @Test func `what an earlier rule has noted of rows is computed anew, and none counts as changed behind Kith's back`() throws {
        let notes = try TestStore()
        try Self.fill(notes, 1...20)
        let digest = try #require(try notes.store.digest())
        try notes.database.write { db in
            let blob = try #require(try Data.fetchOne(db, sql: "SELECT value FROM kith_meta WHERE name = 'digest'"))
            var reader = ByteReader([UInt8](blob))
            let (count, value, flags) = (try reader.fixed64(), try reader.fixed64(), try reader.byte())
            var writer = ByteWriter()
            writer.fixed64(count)
            writer.fixed64(value &+ 20)
            writer.byte(flags & 7)
            try db.execute(sql: "UPDATE kith_digest SET hash = hash + 1")
            try db.execute(
                sql: "UPDATE kith_meta SET value = ? WHERE name = 'digest'", arguments: [Data(writer.bytes) + blob.dropFirst(17)])
        }
        #expect(try notes.store.advanceDigest().tampered == [])
        #expect(try notes.store.digest() == digest)
        #expect(try notes.store.verify().isSound)
    }

    @Test func `rows that were collected, restored or moved by VACUUM do not disturb the digest`() throws {
        let (first, second) = (try TestStore(.queue), try TestStore(.queue))
        try Self.fill(first, 1...50)
        try second.receive(from: first)
        for notes in [first, second] { _ = try notes.store.digest() }
        try first.execute("DELETE FROM note WHERE rowid <= 20")
        try second.receive(from: first)
        // One collects before it has looked, the other never.
        try first.store.emptyTrash()
        #expect(try first.store.collectGarbage(acknowledged: [second.store.vector()]) == 20)
        #expect(try first.store.digest() == second.store.digest())
        #expect(try first.store.verify().isSound)
        let trashed = try #require(try second.store.trash().first)
        try second.store.restore(table: "note", id: trashed.id)
        try first.receive(from: second)
        try first.database.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        try first.execute("UPDATE note SET title = 'new' WHERE rowid % 2 = 0")
        try second.receive(from: first)
        for notes in [first, second] {
            #expect(try notes.store.advanceDigest().tampered == [])
            #expect(try notes.store.digest() == notes.store.recomputedDigest())
        }
        #expect(try first.store.digest() == second.store.digest())
    }

    @Test func `a column that one store does not know counts there, too`() throws {
        let newer = try TestStore(sql: TestStore.noteSQL.replacing("title TEXT,", with: "title TEXT, mood TEXT,"))
        let older = try TestStore()
        try newer.execute("INSERT INTO note (id, title, mood) VALUES (?, 'a', 'good')", [key(1)])
        try older.receive(from: newer)
        #expect(try older.store.digest() == newer.store.digest())
        try older.execute("UPDATE note SET title = 'b'")
        try newer.receive(from: older)
        #expect(try older.store.digest() == newer.store.digest())
        #expect(try older.store.digest()?.rows.count == 1)
        let third = try TestStore(sql: TestStore.noteSQL.replacing("title TEXT,", with: "title TEXT, mood TEXT,"))
        try third.receive(from: older)
        #expect(try third.row(rowID(1))?["mood"] == "good")
    }

    @Test func `a store in the middle of a catch-up has no digest`() throws {
        let (first, second) = (try TestStore(), try TestStore())
        try Self.fill(first, 1...10)
        let slice = try first.store.slice(SliceRequest(since: VersionVector()), limits: SliceLimits(rowsMax: 4))
        _ = try second.store.apply(slice)
        #expect(try second.store.digest() == nil)
        #expect(try !second.store.advanceDigest().isBehind)
        try second.receive(from: first)
        #expect(try second.store.digest() == first.store.digest())
    }

    @Test func `what was changed behind Kith's back is found by looking again, and named`() throws {
        let notes = try TestStore()
        try Self.fill(notes, 1...20)
        let before = try notes.store.digest()
        try VerificationTests.damage(notes, "UPDATE note SET title = 'x' WHERE rowid = 7")
        #expect(try notes.store.verify().problems.contains { $0.contains("behind Kith's back") })
        let reading = try notes.store.advanceDigest()
        #expect(reading.tampered.count == 1)
        #expect(reading.digest == (try notes.store.recomputedDigest()))
        #expect(reading.digest?.contradicts(try #require(before)) == true)
        try VerificationTests.damage(notes, "DELETE FROM note WHERE rowid = 3")
        #expect(try notes.store.verify().problems.contains { $0.contains("vanished") })
        #expect(try notes.store.advanceDigest().tampered.count == 1)
        #expect(try notes.store.advanceDigest().tampered.isEmpty)
    }

    @Test func `what was noted once is noticed when it changes, without another machine; what never was is taken as it is`() throws {
        let notes = try TestStore()
        try Self.fill(notes, 1...20)
        try VerificationTests.damage(notes, "UPDATE note SET title = 'x' WHERE rowid = 7")
        #expect(try notes.store.verify().isSound)
        try notes.store.noteDigest()
        func changes() throws -> Int? {
            try notes.database.writeWithoutTransaction { try Int.fetchOne($0, sql: "SELECT total_changes()") }
        }
        let before = try changes()
        try notes.store.noteDigest()
        #expect(try changes() == before)
        try VerificationTests.damage(notes, "UPDATE note SET title = 'y' WHERE rowid = 8")
        // Noting what is new does not take the damage for right.
        try notes.execute("UPDATE note SET title = 'new' WHERE rowid = 9")
        try notes.store.noteDigest()
        #expect(try notes.store.verify().problems.count { $0.contains("behind Kith's back") } == 1)
    }

    @Test func `looking again goes round the whole store, and writes nothing where nothing has changed`() throws {
        let notes = try TestStore()
        try Self.fill(notes, 1...600)
        _ = try notes.store.digest()
        func changes() throws -> Int? {
            try notes.database.writeWithoutTransaction { try Int.fetchOne($0, sql: "SELECT total_changes()") }
        }
        let before = try changes()
        for _ in 0..<7 { #expect(try notes.store.advanceDigest().tampered.isEmpty) }
        #expect(try changes() == before)
        try VerificationTests.damage(notes, "UPDATE note SET title = 'x' WHERE rowid IN (7, 300, 590)")
        let found = try (0..<3).map { _ in try notes.store.advanceDigest().tampered.count }
        #expect(found.reduce(0, +) == 3 && !found.contains(3))
        #expect(try notes.store.digest() == notes.store.recomputedDigest())
        // A change takes the place along, and the rest is still reached.
        try Self.fill(notes, 601...610)
        #expect(try (0..<4).map { _ in try notes.store.advanceDigest().tampered.count } == [0, 0, 0, 0])
        #expect(try notes.store.digest() == notes.store.recomputedDigest())
    }
}
