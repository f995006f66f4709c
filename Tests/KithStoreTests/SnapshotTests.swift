import Foundation
import GRDB
import KithSync
import Synchronization
import TestSupport
import Testing

@testable import KithSnapshot
@testable import KithStore

@Suite("A snapshot says something else than the database", .timeLimit(.minutes(10)))
struct SnapshotTests {
    private static let sql = "CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, title TEXT, due INTEGER)"
    private static let tables = [TrackedTable("item")]

    private static func store(_ backend: Backend = .memory, folder: TemporaryFolder? = nil) throws -> TestStore {
        try TestStore(backend, sql: sql, tables: tables, folder: folder)
    }

    @Sendable private static func titles(_ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT title FROM item ORDER BY title")
    }

    private static func add(_ title: String, to database: any DatabaseWriter) throws {
        try database.write { try $0.execute(sql: "INSERT INTO item (id, title) VALUES (randomblob(16), ?)", arguments: [title]) }
    }

    /// A clock for tests to set.
    private final class Clock: Sendable {
        private let time = Mutex(Date(timeIntervalSince1970: 1_790_000_000))
        var now: Date { time.withLock { $0 } }
        func advance(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }
    }

    private static func read(_ file: URL, _ clock: Clock) -> SnapshotReading<[String]> { SnapshotReader(file) { clock.now }.read() }

    @Test func `two that keep one file in one process leave a whole one, and fail neither`() async throws {
        let here = try Self.store()
        let file = here.folder.url("top")
        try await withThrowingTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    let writer = SnapshotFile(file)
                    for turn in 0..<50 { try writer.replace(with: Data("\(number) \(turn)".utf8)) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try String(contentsOf: file, encoding: .utf8).hasSuffix(" 49"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).filter { $0.hasSuffix("top") } == [
                "top"
            ])
    }

    @Test func `it is written when the answer is another one, and only then`() throws {
        let here = try Self.store()
        let file = here.folder.url("top")
        let clock = Clock()
        var options = SnapshotOptions()
        options.now = { clock.now }
        let writer = here.store.snapshot("top", to: file, options: options, query: Self.titles)
        #expect(SnapshotReader(file).read([String].self) == .missing)
        #expect(try writer.write() && !writer.write())
        try Self.add("Milk", to: here.database)
        clock.advance(5)
        #expect(try writer.write())
        let snapshot = try #require(Self.read(file, clock).snapshot)
        #expect(snapshot.content == ["Milk"] && snapshot.name == "top" && snapshot.date == clock.now)
        #expect(snapshot.version.commits == [try here.store.summary().replica.description: 1])
        let node = try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
        try here.execute("UPDATE item SET due = 1")
        clock.advance(5)
        #expect(try !writer.write())
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int == node)
        #expect(writer.status.writes == 2 && writer.status.looked == clock.now && writer.status.error == nil)
        // Another writer of the same goes on with what is there, unless it is gone, or of another name.
        #expect(try !here.store.snapshot("top", to: file, query: Self.titles).write())
        #expect(try here.store.snapshot("other", to: file, query: Self.titles).write())
        try FileManager.default.removeItem(at: file)
        #expect(try writer.write())
        try Data("kith-snapshot damage".utf8).write(to: file)
        #expect(try here.store.snapshot("top", to: file, query: Self.titles).write())
        #expect(Self.read(file, clock).snapshot?.content == ["Milk"])
    }

    @Test func `an answer for some time is written anew at half of it, and stale after all of it`() throws {
        let here = try Self.store()
        let file = here.folder.url("top")
        let clock = Clock()
        var options = SnapshotOptions()
        options.now = { clock.now }
        options.validFor = .seconds(60)
        let writer = here.store.snapshot("top", to: file, options: options, query: Self.titles)
        #expect(try writer.write())
        clock.advance(29)
        #expect(try !writer.write())
        clock.advance(1)
        #expect(try writer.write())
        clock.advance(60)
        #expect(Self.read(file, clock) == .ok(try #require(Self.read(file, clock).snapshot)))
        clock.advance(1)
        #expect(Self.read(file, clock) == .stale(try #require(Self.read(file, clock).snapshot)))
    }

    @Test func `the moments that the content names stand in the file, and it is looked at then`() async throws {
        let here = try Self.store()
        let file = here.folder.url("top")
        let looks = Counter()
        let end = Date().addingTimeInterval(3_600)
        let writer = here.store.snapshot("due", to: file) { _ in
            let isDue = looks.next() > 1
            return SnapshotContent(
                isDue ? ["due"] : [], nextMoment: isDue ? nil : Date().addingTimeInterval(0.2), validUntil: end)
        }
        let running = Task { await writer.run() }
        try await Self.until { SnapshotReader(file).read([String].self).snapshot?.content == ["due"] }
        running.cancel()
        await running.value
        let snapshot = try #require(SnapshotReader(file).read([String].self).snapshot)
        #expect(snapshot.nextMoment == nil && snapshot.validUntil != nil && writer.status.writes == 2)
    }

    @Test(arguments: [Backend.queue, .pool])
    func `commits of this process, merges, and commits of another process reach it`(_ backend: Backend) async throws {
        let folder = try TemporaryFolder()
        let (here, there) = (try Self.store(backend, folder: folder), try Self.store())
        let other = try backend.open(here.path)
        let sibling = try SyncedDatabase(other, tables: Self.tables)
        let file = folder.url("top")
        let writer = here.store.snapshot("top", to: file, query: Self.titles)
        let running = Task { await writer.run() }
        try await Self.until { SnapshotReader(file).read([String].self).snapshot?.content == [] }
        try Self.add("here", to: here.database)
        try await Self.until { SnapshotReader(file).read([String].self).snapshot?.content == ["here"] }
        try Self.add("there", to: there.database)
        try here.receive(from: there)
        try await Self.until { SnapshotReader(file).read([String].self).snapshot?.content == ["here", "there"] }
        try Self.add("sibling", to: other)
        try await Self.until { SnapshotReader(file).read([String].self).snapshot?.content == ["here", "sibling", "there"] }
        #expect(SnapshotReader(file).read([String].self).snapshot?.version.commits.count == 2)
        here.store.close()
        running.cancel()
        await running.value
        sibling.close()
    }

    @Test func `what fails is said with its cause, leaves the file, and is tried again`() async throws {
        let here = try Self.store()
        let file = here.folder.url("top")
        let isFull = Mutex(true)
        let writer = SnapshotWriter(here.store, "top", file, SnapshotOptions()) { file, bytes throws(SnapshotError) in
            if isFull.withLock({ $0 }) { throw SnapshotFile.failure(ENOSPC, file.url.path) }
            try file.replace(with: bytes)
        } _: {
            SnapshotContent(try Self.titles($0))
        }
        #expect { try writer.write() } throws: { ($0 as? SnapshotError)?.code == .diskFull }
        #expect(writer.status.error?.code == .diskFull && writer.status.retry != nil && writer.status.written == nil)
        let running = Task { await writer.run() }
        try await Self.until { writer.status.error != nil }
        isFull.withLock { $0 = false }
        try await Self.until { SnapshotReader(file).read([String].self).snapshot?.content == [] }
        running.cancel()
        await running.value
        #expect(writer.status.error == nil && writer.status.retry == nil)
        let refused: [(SnapshotError.Code, SnapshotWriter)] = [
            (.queryFailed, here.store.snapshot("x", to: file) { try String.fetchAll($0, sql: "SELECT nothing FROM item") }),
            (.notEncodable, here.store.snapshot("x", to: file) { _ in [Double.nan] }),
            (.tooLong, here.store.snapshot("x", to: file) { _ in String(repeating: "x", count: SnapshotFormat.bytesMax) }),
            (.readOnly, here.store.snapshot("x", to: here.folder.url("none/top"), query: Self.titles)),
        ]
        for (code, writer) in refused {
            #expect { try writer.write() } throws: { ($0 as? SnapshotError)?.code == code }
            #expect(writer.status.error?.code == code)
        }
        #expect(SnapshotReader(file).read([String].self).snapshot?.content == [])
    }

    @Test func `a file that is no snapshot is left as it is; one that is empty or damaged is written anew`() throws {
        let here = try Self.store()
        let file = here.folder.url("top")
        for content in ["# My notes\n", "kith-snapshots are here", "k"] {
            try Data(content.utf8).write(to: file)
            #expect { try here.store.snapshot("top", to: file, query: Self.titles).write() } throws: {
                ($0 as? SnapshotError)?.code == .notASnapshot
            }
            #expect(try String(contentsOf: file, encoding: .utf8) == content)
        }
        for content in ["", "kith-snapshot 1 99 00000000\n{}"] {
            try Data(content.utf8).write(to: file)
            #expect(try here.store.snapshot("top", to: file, query: Self.titles).write())
            #expect(SnapshotReader(file).read([String].self).snapshot?.content == [])
        }
        #expect { try here.store.snapshot("top", to: here.folder.url, query: Self.titles).write() } throws: {
            ($0 as? SnapshotError)?.code == .notASnapshot
        }
    }

    @Test func `an app may write its own form`() throws {
        let here = try Self.store()
        let file = here.folder.url("top")
        var options = SnapshotOptions()
        options.encode = { Data("\($0)".utf8) }
        options.encoding = "words"
        #expect(try here.store.snapshot("top", to: file, options: options) { _ in 5 }.write())
        #expect(SnapshotReader(file).bytes().snapshot?.content == Data("5".utf8))
    }

    /// Waits for a moment that comes; the suite's time limit is the end.
    private static func until(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }
}
