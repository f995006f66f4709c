import Foundation
import GRDB
import KithCausality
import KithSync
import Synchronization
import Testing

@testable import KithStore

@Suite("A commit goes untold")
struct CommitSignalTests {
    /// Counts calls and lets a test wait for one.
    private final class Calls: Sendable {
        private let count = Mutex(0)
        let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() {
            (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        }

        var total: Int { count.withLock { $0 } }

        func add() {
            count.withLock { $0 += 1 }
            continuation.yield()
        }
    }

    @Test(arguments: Backend.allCases)
    func `a local commit is told before the write returns, a rolled-back or empty one is not`(backend: Backend) throws {
        let notes = try TestStore(backend)
        let calls = Calls()
        let observation = notes.store.observeCommits { calls.add() }
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        #expect(calls.total == 1)
        try notes.execute("CREATE TABLE other (x)")
        try notes.execute("INSERT INTO other VALUES (1)")
        try? notes.database.write { db in
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(2)])
            throw CancellationError()
        }
        #expect(calls.total == 1)
        observation.cancel()
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(3)])
        #expect(calls.total == 1)
    }

    @Test(arguments: Backend.allCases) func `a commit is told whose last statement failed, or was taken back`(backend: Backend) throws {
        let notes = try TestStore(backend, sql: TestStore.noteSQL.replacing("color INTEGER", with: "color INTEGER CHECK (color < 200)"))
        let calls = Calls()
        let observation = notes.store.observeCommits { calls.add() }
        try notes.database.write { db in
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(1)])
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO note (id, color) VALUES (?, 1), (?, 200)", arguments: [key(2), key(3)])
            }
        }
        #expect(calls.total == 1)
        try notes.database.write { db in
            try db.execute(sql: "UPDATE note SET color = 1")
            try db.execute(sql: "SAVEPOINT s; UPDATE note SET color = 2; ROLLBACK TO s; RELEASE s")
        }
        #expect(calls.total == 2)
        try notes.database.write { db in
            try db.execute(sql: "SAVEPOINT s; UPDATE note SET color = 2; ROLLBACK TO s; RELEASE s")
        }
        #expect(calls.total == 2)
        #expect(try notes.sequence() == 2)
        observation.cancel()
    }

    @Test func `an observation that nobody holds has ended`() throws {
        let notes = try TestStore()
        let calls = Calls()
        _ = notes.store.observeCommits { calls.add() }
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        #expect(calls.total == 0)
    }

    @Test(arguments: Backend.allCases) func `an applied delta is told once, one that brings nothing is not`(backend: Backend) throws {
        let sender = try TestStore()
        let receiver = try TestStore(backend)
        try sender.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        let calls = Calls()
        let observation = receiver.store.observeCommits { calls.add() }
        try receiver.receive(from: sender)
        #expect(calls.total == 1)
        try receiver.receive(from: sender)
        #expect(calls.total == 1)
        observation.cancel()
    }

    @Test(.timeLimit(.minutes(10)), arguments: [Backend.queue, .pool])
    func `another process's commit is told, and observations see it`(backend: Backend) async throws {
        let mine = try TestStore(backend)
        let other = try TestStore(backend, folder: mine.folder)
        let calls = Calls()
        let observation = mine.store.observeCommits { calls.add() }
        let counts = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") ?? 0 }
        var seen = counts.values(in: mine.database).makeAsyncIterator()
        #expect(try await seen.next() == 0)
        try other.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        for await _ in calls.stream { break }
        #expect(try mine.store.vector() == other.store.vector())
        while let count = try await seen.next() { if count == 1 { break } }
        observation.cancel()
    }

    @Test(.timeLimit(.minutes(10))) func `another process's commit is not hidden by a commit of one's own`() async throws {
        let mine = try TestStore(.pool)
        let other = try TestStore(.pool, folder: mine.folder)
        let titles = ValueObservation.tracking { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY title") }
        var seen = titles.values(in: mine.database).makeAsyncIterator()
        #expect(try await seen.next() == [])
        try other.execute("INSERT INTO note (id, title) VALUES (?, 'other')", [key(1)])
        try mine.execute("CREATE TABLE IF NOT EXISTS unrelated (x)")
        try mine.execute("INSERT INTO note (id, title) VALUES (?, 'mine')", [key(2)])
        while let list = try await seen.next() { if list == ["mine", "other"] { break } }
        #expect(try mine.sequence() == 2)
    }

    @Test func `a look for commits of other processes takes no part in a transaction that the app has left open`() throws {
        let other = try TestStore(.pool)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let database = try DatabasePool(path: other.path, configuration: configuration)
        var options = TestStore.options()
        options.watchesFile = false
        let store = try SyncedDatabase(database, tables: [TestStore.note], options: options)
        let calls = Calls()
        let observation = store.observeCommits { calls.add() }
        func look() {
            store.others.look(database)
            // It waits for the connection, and comes before what waits after it.
            database.writeWithoutTransaction { _ in }
        }
        look()
        try database.writeWithoutTransaction { try $0.execute(sql: "BEGIN") }
        look()
        try other.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        look()
        #expect(calls.total == 0)
        try database.writeWithoutTransaction { db in
            // Had the look begun to read, SQLite would refuse to write after the other's commit.
            try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(2)])
        }
        look()
        try database.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        #expect(calls.total == 1)
        look()
        #expect(calls.total == 2)
        look()
        #expect(calls.total == 2)
        observation.cancel()
    }

    @Test(.timeLimit(.minutes(10))) func `the sequence of commits yields and ends with its reader`() async throws {
        let notes = try TestStore()
        let commits = notes.store.commits
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(2)])
        for await _ in commits { break }
        #expect(try notes.sequence() == 2)
    }
}
