import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

@Suite("A row that is merged the short way ends otherwise than by the long one")
struct PlainRowTests {
    @Test(arguments: 1...UInt64(Soak.count(1, soaking: 200)))
    func `random histories of a few hundred rows end the same both ways`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (author, other) = (try TestStore(), try TestStore())
        let (short, long) = (try TestStore(), try TestStore())
        for _ in 0..<6 {
            for store in [author, other] { try Self.edit(store, 200, &random) }
            for (from, to) in [(author, other), (other, author)] where random.next() % 3 == 0 { try to.receive(from: from) }
            for from in [author, other] {
                let vector = try short.store.vector()
                #expect(try long.store.vector() == vector)
                let slice = try from.store.delta(since: vector)
                guard case .applied = try short.store.apply(slice), case .applied = try long.store.apply(slice.takingTheLongWay) else {
                    throw StoreError(.failed, "refused")
                }
            }
            #expect(try short.store.delta(since: VersionVector()).rows == long.store.delta(since: VersionVector()).rows)
            #expect(try short.shown() == long.shown())
        }
        for store in [short, long] { try store.expectSound() }
    }

    /// One commit with many changes of every kind.
    private static func edit(_ store: TestStore, _ rows: UInt64, _ random: inout SplitMix64) throws {
        let elements = [#"["a","b"]"#, #"["a"]"#, "[]", #"["é","\"q\""]"#, "[1,true,null]"]
        let choice = random.next()
        let base = random.next() % 40
        try store.database.write { db in
            for number in 1...rows {
                let tags = elements[Int((number &+ choice) % 5)]
                switch (number &* 7 &+ choice) % 5 {
                case 0:
                    try db.execute(
                        sql: "INSERT OR IGNORE INTO note (id, title, color, tags, views) VALUES (?, ?, ?, ?, ?)",
                        arguments: [key(base + number), "n\(number)", Int(number), tags, Int(number % 4)])
                case 1: try db.execute(sql: "UPDATE note SET title = ? WHERE id = ?", arguments: ["t\(choice % 100)", key(number)])
                case 2: try db.execute(sql: "UPDATE note SET color = color + 1, title = 'x' WHERE id = ?", arguments: [key(number)])
                case 3: try db.execute(sql: "UPDATE note SET views = views + 1, tags = ? WHERE id = ?", arguments: [tags, key(number)])
                default:
                    if number % 11 == 0 { try db.execute(sql: "DELETE FROM note WHERE id = ?", arguments: [key(number)]) }
                }
            }
        }
    }

    @Test func `a trigger of the app sees every row of a large slice, and later local writes are noted`() throws {
        let watched =
            TestStore.noteSQL + """
                ; CREATE TABLE log (title TEXT);
                CREATE TRIGGER log_titles AFTER INSERT ON note BEGIN INSERT INTO log VALUES (new.title); END
                """
        let author = try TestStore()
        let stores = [try TestStore(), try TestStore(sql: watched)]
        try DigestTests.fill(author, 1...300)
        for store in stores {
            try store.receive(from: author)
            try store.execute("UPDATE note SET title = 'mine' WHERE title = 'note 3'")
            #expect(try store.sequence() == 1)
            try store.expectSound()
        }
        #expect(try stores[1].database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") } == 300)
    }

    @Test func `a trigger of the app sees the rows that a listing takes away, of whatever table`() throws {
        let sql = TestStore.noteSQL + "; CREATE TABLE task (id BLOB PRIMARY KEY NOT NULL, title TEXT)"
        let watched =
            sql + """
                ; CREATE TABLE log (title TEXT);
                CREATE TRIGGER log_tasks AFTER DELETE ON task BEGIN INSERT INTO log VALUES (old.title); END
                """
        let tables = [TestStore.note, TrackedTable("task")]
        let (author, receiver) = (try TestStore(sql: sql, tables: tables), try TestStore(sql: watched, tables: tables))
        try DigestTests.fill(author, 1...300)
        try author.execute("INSERT INTO task VALUES (?, 'done')", [key(1_000)])
        try receiver.receive(from: author)
        try author.execute("DELETE FROM task")
        try author.store.emptyTrash()
        #expect(try author.store.collectGarbage(acknowledged: []) == 1)
        let slice = try author.store.delta(since: receiver.store.vector())
        #expect(slice.listing != nil && slice.rows.count == 300)
        _ = try receiver.store.apply(slice)
        #expect(try receiver.database.read { try String.fetchAll($0, sql: "SELECT title FROM log") } == ["done"])
        try receiver.expectSound()
    }

    @Test func `more combinations of columns than statements are kept are applied, and the connection can be closed`() throws {
        let columns = (0..<8).map { "c\($0)" }
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, \(columns.joined(separator: ", ")))"
        let tables = [TrackedTable("note")]
        let (author, receiver) = (try TestStore(sql: sql, tables: tables), try TestStore(.queue, sql: sql, tables: tables))
        try author.database.write { db in
            for number: UInt64 in 1...255 { try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(number)]) }
        }
        try receiver.receive(from: author)
        for round in 0..<2 {
            try author.database.write { db in
                for number: UInt64 in 1...255 {
                    let changes = columns.indices.filter { number >> UInt64($0) & 1 == 1 }.map { "\(columns[$0]) = \(round)" }
                    try db.execute(
                        sql: "UPDATE note SET \(changes.joined(separator: ", ")) WHERE id = ?", arguments: [key(number)])
                }
            }
            try receiver.receive(from: author)
            #expect(try receiver.shown() == author.shown())
        }
        try receiver.expectSound()
        receiver.store.close()
        try receiver.database.close()
    }

    @Test func `rows that a rule of the app refuses are kept aside, and the others are shown`() throws {
        let author = try TestStore()
        let strict = try TestStore(sql: TestStore.noteSQL.replacing("color INTEGER", with: "color INTEGER CHECK (color < 200)"))
        try author.database.write { db in
            for number in 1...300 as ClosedRange<UInt64> {
                try db.execute(
                    sql: "INSERT INTO note (id, title, color, tags) VALUES (?, 'a', ?, ?)",
                    arguments: [key(number), Int(number), number % 2 == 0 ? #"["a"]"# : "[1]"])
            }
        }
        try strict.receive(from: author)
        #expect(try strict.shown().count == 199)
        try author.execute("UPDATE note SET color = 300 - color")
        try strict.receive(from: author)
        #expect(try strict.shown().count == 200)
        #expect(try strict.store.delta(since: VersionVector()).rows == author.store.delta(since: VersionVector()).rows)
        try strict.expectSound()
    }

    @Test func `what is sent as a set and is no JSON is refused, in a large slice, too`() throws {
        let (author, receiver) = (try TestStore(), try TestStore())
        try DigestTests.fill(author, 1...200)
        var slice = try author.store.delta(since: VersionVector())
        let tags = try #require(slice.tables[0].columns.firstIndex { $0.name == Array("tags".utf8) })
        let dot = try #require(slice.vector.entries.first)
        slice.rows[7].state[tags] = .set(SetState(elements: [Array(#"a","b"#.utf8)], dot: dot))
        _ = try receiver.store.apply(slice)
        #expect(try receiver.shown().count == 199)
    }

    @Test func `a slice of a longer delta lets others write in between; a delta of one slice is one commit`() throws {
        let author = try TestStore()
        try DigestTests.fill(author, 1...2_500)
        let receiver = try TestStore()
        let commits = CommitCounter()
        receiver.database.add(transactionObserver: commits)
        let first = try author.store.slice(SliceRequest(since: VersionVector()))
        #expect(!first.isLast)
        _ = try receiver.store.apply(first)
        // The clock goes on by a millisecond with each row; a part takes eight.
        #expect(commits.count == 2_000 / 8)
        #expect(try receiver.shown().count == first.rows.count)
        #expect(try receiver.store.summary().resumption?.position == first.position)
        let before = commits.count
        let rest = try author.store.slice(SliceRequest(since: VersionVector(), after: first.position, target: first.target))
        #expect(rest.isLast)
        _ = try receiver.store.apply(rest)
        #expect(commits.count == before + 1)
        #expect(try receiver.store.vector() == author.store.vector())
        try receiver.expectSound()
    }

    @Test func `a new text of a known author is taken as it is`() throws {
        let sql = "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, body TEXT)"
        let tables = [TrackedTable("note", texts: ["body"])]
        let (author, receiver) = (try TestStore(sql: sql, tables: tables), try TestStore(sql: sql, tables: tables))
        for (number, body) in [(1, "one"), (2, "two"), (3, "")] as [(UInt64, String)] {
            try author.execute("INSERT INTO note VALUES (?, ?)", [key(number), body])
            try receiver.receive(from: author)
        }
        try author.database.write { try $0.execute(sql: "INSERT INTO note VALUES (?, 'four')", arguments: [key(4)]) }
        try author.execute("UPDATE note SET body = 'four and more' WHERE id = ?", [key(4)])
        try receiver.receive(from: author)
        #expect(try receiver.shown().count == 4)
        #expect(try receiver.sequence() == 0)
        #expect(try receiver.store.delta(since: VersionVector()).rows == author.store.delta(since: VersionVector()).rows)
        try receiver.expectSound()
    }
}

private final class CommitCounter: TransactionObserver, Sendable {
    private let commits = Atomic(0)

    var count: Int { commits.load(ordering: .relaxed) }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { commits.add(1, ordering: .relaxed) }
    func databaseDidRollback(_ db: Database) {}
}

extension TestStore {
    /// All rows that the app sees.
    fileprivate func shown() throws -> [Row] {
        try database.read { try Row.fetchAll($0, sql: "SELECT * FROM note ORDER BY id") }
    }
}

extension Slice {
    /// The same rows with a context that says nothing new, which only the general merge understands.
    fileprivate var takingTheLongWay: Slice {
        var slice = self
        for index in rows.indices where rows[index].state.context.isEmpty {
            slice.rows[index].state.context = VersionVector(vector.entries.prefix(1))
        }
        return slice
    }
}
