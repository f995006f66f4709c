import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import KithText
import Testing

@Suite("An old version of a text cannot be read again, or costs what nobody asked for")
struct TextHistoryTests {
    @Test func `every version can be read and restored, also packed, also on the other machine`() throws {
        let pair = try TextPair("v0")
        var expected = ["v0"]
        for number in 1...300 {
            let text = "v\(number) " + String(repeating: "é", count: number % 7)
            try pair.a.save(text)
            expected.append(text)
        }
        try pair.b.receive(from: pair.a)
        try pair.b.store.packTexts()
        #expect(try pair.a.count("SELECT count(*) FROM kith_text_chunk") > 0)
        #expect(try pair.b.count("SELECT count(*) FROM kith_text_change") < 10)
        for store in [pair.a, pair.b] {
            let revisions = try store.revisions()
            #expect(try revisions.reversed().map { try store.text(at: $0.version) } == expected)
            #expect(revisions.allSatisfy { $0.stamp.dot.replica == ReplicaID(high: 0, low: 1) })
            #expect(zip(revisions, revisions.dropFirst()).allSatisfy { $0.stamp.timestamp > $1.stamp.timestamp })
        }
        let old = try pair.b.revisions()[200].version
        try pair.b.inner.database.write { db in
            try pair.b.store.restoreText(db, table: "page", id: rowID(1), column: "body", to: old)
        }
        #expect(try pair.meet() == expected[100])
        #expect(try pair.a.revisions().count == 302)
    }

    @Test func `a page that was never edited keeps nothing beside its value`() throws {
        let pair = try TextPair("a page of text")
        for store in [pair.a, pair.b] {
            #expect(try store.count("SELECT count(*) FROM kith_text") == 0)
            #expect(try store.count("SELECT count(*) FROM kith_clock_0 WHERE exceptions IS NOT NULL") == 0)
            #expect(try store.revisions().map(\.insertedScalars) == [14])
        }
    }

    @Test func `several saves of one transaction are one change`() throws {
        let pair = try TextPair("start")
        try pair.a.inner.database.write { db in
            for text in ["start a", "start ab", "sta ab", "staring ab"] {
                try db.execute(sql: "UPDATE page SET body = ? WHERE id = ?", arguments: [text, key(1)])
            }
        }
        #expect(try pair.a.revisions().count == 2)
        #expect(try pair.meet() == "staring ab")
    }

    @Test func `a page made, edited and emptied in one transaction is one insertion or none`() throws {
        let store = try TextStore(1)
        try store.inner.database.write { db in
            try db.execute(sql: "INSERT INTO page (id, body) VALUES (?, 'x')", arguments: [key(1)])
            try db.execute(sql: "UPDATE page SET body = 'xyz'")
            try db.execute(sql: "INSERT INTO page (id, body) VALUES (?, 'x')", arguments: [key(2)])
            try db.execute(sql: "UPDATE page SET body = '' WHERE id = ?", arguments: [key(2)])
        }
        #expect(try store.revisions().count == 1)
        #expect(try store.revisions(row: 2).isEmpty)
        let other = try TextStore(2)
        try other.receive(from: store)
        #expect(try other.body() == "xyz" && other.body(row: 2) == "")
        #expect(try other.store.digest() == store.store.digest())
        try store.expectSound()
        try other.expectSound()
    }

    @Test func `what a savepoint takes back is not in the history`() throws {
        let store = try TextStore(1)
        try store.insert("one")
        try store.save("one two")
        try store.inner.database.write { db in
            try db.execute(sql: "UPDATE page SET body = 'one two three'")
            try db.execute(sql: "SAVEPOINT s")
            try db.execute(sql: "UPDATE page SET body = 'gone'")
            try db.execute(sql: "ROLLBACK TO s")
            try db.execute(sql: "UPDATE page SET body = 'one two three four'")
        }
        #expect(try store.body() == "one two three four")
        #expect(try store.revisions().count == 3)
        try store.expectSound()
    }

    @Test func `a new life begins with its own text, and old versions can still be read`() throws {
        let pair = try TextPair("old life")
        try pair.b.save("old life, edited")
        try pair.meet()
        try pair.a.delete()
        try pair.a.insert("new life")
        #expect(try pair.meet() == "new life")
        try pair.b.delete()
        try pair.b.insert(nil)
        #expect(try pair.meet() == nil)
        try pair.b.save("third")
        #expect(try pair.meet() == "third")
        let texts = try pair.a.revisions().map { try pair.a.text(at: $0.version) }
        #expect(texts.contains("old life, edited") && texts.contains("new life"))
    }
}

@Suite("A deleted text comes back wrong")
struct DeletedTextTests {
    @Test func `the trash gives a text back, and its history`() throws {
        let pair = try TextPair("one")
        try pair.a.save("one two")
        try pair.a.delete()
        #expect(try pair.a.store.trash().first?.values["body"] == .text("one two"))
        try pair.a.store.restore(table: "page", id: rowID(1))
        #expect(try pair.meet() == "one two")
        try pair.b.save("one two three")
        #expect(try pair.meet() == "one two three")
    }

    @Test func `a purged row takes its history along, and a restored text is whole where it was purged`() throws {
        let pair = try TextPair("one")
        let c = try TextStore(3)
        try pair.a.save("one two")
        try pair.a.delete()
        try pair.meet()
        try c.receive(from: pair.a)
        // One machine has emptied its trash, another brings the row back.
        try pair.b.store.emptyTrash()
        let everybody = [try pair.a.store.vector(), try c.store.vector()]
        #expect(try pair.b.store.collectGarbage(acknowledged: everybody) == 1)
        for table in ["kith_text", "kith_text_change", "kith_text_chunk"] {
            #expect(try pair.b.count("SELECT count(*) FROM \(table)") == 0)
        }
        try pair.a.store.restore(table: "page", id: rowID(1))
        try pair.a.save("one two three")
        #expect(try pair.meet() == "one two three")
        try pair.b.save("one two three four")
        #expect(try pair.meet() == "one two three four")
        // Where the history begins with the restored text, others still get all they need.
        try c.receive(from: pair.b)
        #expect(try c.body() == "one two three four")
        let d = try TextStore(4)
        try d.receive(from: pair.b)
        #expect(try d.body() == "one two three four")
        try c.expectSound()
        try d.expectSound()
        #expect(try pair.b.store.refusedTextChanges().isEmpty)
    }

    @Test func `an edit by who was silent while the row was collected brings the whole text back`() throws {
        let pair = try TextPair("one")
        let c = try TextStore(3)
        try pair.a.save("one two")
        try pair.meet()
        try c.receive(from: pair.a)
        try c.save("one two three")
        try pair.a.delete()
        try pair.meet()
        try pair.b.store.emptyTrash()
        #expect(try pair.b.store.collectGarbage(acknowledged: [try pair.a.store.vector()]) == 1)
        try c.receive(from: pair.b)
        try pair.b.receive(from: c)
        #expect(try c.body() == "one two three")
        #expect(try pair.b.body() == "one two three")
        try c.expectSound()
        try pair.b.expectSound()
    }

    @Test func `an emptied text that is restored where it was purged is empty, not missing`() throws {
        let pair = try TextPair("one")
        try pair.a.save("")
        try pair.a.delete()
        try pair.meet()
        try pair.b.store.emptyTrash()
        #expect(try pair.b.store.collectGarbage(acknowledged: [try pair.a.store.vector()]) == 1)
        try pair.a.store.restore(table: "page", id: rowID(1))
        #expect(try pair.meet() == "")
        try pair.a.save("two")
        #expect(try pair.meet() == "two")
    }
}
