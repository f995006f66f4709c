import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("An app that lets SQLite count its rows from the start takes Kith's numbers along")
struct SequenceResetTests {
    /// What apps do that fill their tables anew.
    private static let reset = "DELETE FROM sqlite_sequence"

    private func makeCounting(_ store: TestStore) throws {
        try store.execute("CREATE TABLE IF NOT EXISTS draft (id INTEGER PRIMARY KEY AUTOINCREMENT, text)")
        try store.execute("INSERT INTO draft (text) VALUES ('one')")
        try store.execute(Self.reset)
    }

    private func fill(_ store: TestStore, _ numbers: ClosedRange<UInt64>) throws {
        for number in numbers { try store.execute("INSERT INTO note (id, title) VALUES (?, 'begun')", [key(number)]) }
    }

    @Test func `a row of an earlier catch-up knows nothing of a later one`() throws {
        let (first, second, receiver) = (try TestStore(), try TestStore(), try TestStore())
        try fill(first, 11...14)
        try second.receive(from: first)
        try receiver.receive(from: first, rowsMax: 2)
        try makeCounting(receiver)
        try second.execute("UPDATE note SET title = 'theirs' WHERE id = ?", [key(11)])
        try fill(second, 1...2)
        let half = try second.store.slice(SliceRequest(since: receiver.store.vector()), limits: SliceLimits(rowsMax: 1))
        #expect(!half.isLast && half.rows.map(\.id) == [rowID(1)])
        _ = try receiver.store.apply(half)
        // The edit that is still to come is not taken for seen.
        try receiver.receive(from: second)
        #expect(try receiver.row(rowID(11))?["title"] == "theirs")
        try second.receive(from: receiver)
        #expect(try receiver.state(rowID(11))?.state == second.state(rowID(11))?.state)
        for store in [first, second, receiver] { try store.expectSound() }
    }

    @Test func `a row that is deleted takes the place of none that was deleted before`() throws {
        let (first, second) = (try TestStore(), try TestStore())
        try fill(first, 1...4)
        try second.receive(from: first)
        for number in 1...4 as ClosedRange<UInt64> {
            try first.execute("DELETE FROM note WHERE id = ?", [key(number)])
            try makeCounting(first)
            // It comes back, and leaves its number.
            if number % 2 == 0 { try first.execute("INSERT INTO note (id, title) VALUES (?, 'again')", [key(number)]) }
        }
        try second.receive(from: first)
        for store in [first, second] {
            #expect(try (1...4).map { try store.row(rowID($0)) == nil } == [true, false, true, false])
            try store.expectSound()
        }
    }

    @Test func `a text that begins has no history of one that is gone`() throws {
        let sql = "CREATE TABLE IF NOT EXISTS note (id BLOB PRIMARY KEY NOT NULL, body TEXT)"
        let tables = [TrackedTable("note", texts: ["body"])]
        let (first, second) = (try TestStore(sql: sql, tables: tables), try TestStore(sql: sql, tables: tables))
        for number in 1...4 as ClosedRange<UInt64> {
            try first.execute("INSERT INTO note VALUES (?, 'begun')", [key(number)])
            try first.execute("UPDATE note SET body = 'begun and more' WHERE id = ?", [key(number)])
            try second.receive(from: first)
            try second.execute("UPDATE note SET body = 'now begun and more' WHERE id = ?", [key(number)])
            try first.receive(from: second)
            if number % 2 == 1 { try first.execute("DELETE FROM note WHERE id = ?", [key(number)]) }
            try makeCounting(first)
        }
        try second.receive(from: first)
        for store in [first, second] {
            #expect(
                try store.database.read { try String.fetchAll($0, sql: "SELECT body FROM note") }
                    == Array(repeating: "now begun and more", count: 2))
            try store.expectSound()
        }
    }
}
