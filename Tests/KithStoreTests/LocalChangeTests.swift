import Foundation
import GRDB
import KithStore
import KithSync
import TestSupport
import Testing

/// What no commit tells of: tables that do not synchronise, columns that only this device has, files, and what the store keeps beside rows.
@Suite("A reader is not told of what changes beside the rows that synchronise", .timeLimit(.minutes(5)))
struct LocalChangeTests {
    private struct Photo: Codable, Identifiable, Hashable, Sendable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "photo"
        var id: UUID
        var title: String
        var file: String?
        var seen = 0
    }

    private static let sql = """
        CREATE TABLE photo (id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', file TEXT, seen INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE fav (id BLOB PRIMARY KEY NOT NULL)
        """
    private static let tables = [TrackedTable("photo", attachments: ["file"], localColumns: ["seen"])]

    private static func store(_ folder: TemporaryFolder? = nil, _ backend: Backend = .pool) throws -> TestStore {
        try TestStore(backend, sql: sql, tables: tables, folder: folder)
    }

    @Test func `a live list follows a table that its filter names without a subquery`() async throws {
        let here = try Self.store()
        let photo = Photo(id: UUID(), title: "Sea", file: nil)
        try await here.database.write { try photo.insert($0) }
        var changes = here.store.live(Photo.filter(sql: "id IN fav")).makeAsyncIterator()
        #expect(try await changes.next()?.rows.isEmpty == true)
        try await here.database.write { try $0.execute(sql: "INSERT INTO fav SELECT id FROM photo") }
        #expect(try await changes.next()?.rows.map(\.title) == ["Sea"])
    }

    @Test func `a live list follows what is here of attachments`() async throws {
        let here = try Self.store(nil, .queue)
        let content = try here.store.attach([UInt8](repeating: 7, count: 1_000))
        try await here.database.write { try Photo(id: UUID(), title: "Sea", file: content.description).insert($0) }
        var changes = here.store.live(Photo.filter(sql: "kith_attachment_state(file) = 'present'")).makeAsyncIterator()
        #expect(try await changes.next()?.rows.count == 1)
        guard case .present(let file) = here.store.attachmentState(content) else {
            Issue.record("It is not here.")
            return
        }
        try Data("damaged".utf8).write(to: file.url)
        #expect(try here.store.verifyAttachments() == [content])
        #expect(try await changes.next()?.rows.isEmpty == true)
    }

    @Test func `a live list names the column of which only the spelling in Unicode is another one`() async throws {
        let here = try Self.store()
        let photo = Photo(id: UUID(), title: "e\u{301}t\u{E9}", file: nil)
        try await here.database.write { try photo.insert($0) }
        var changes = here.store.live(Photo.all()).makeAsyncIterator()
        _ = try await changes.next()
        try await here.database.write { try $0.execute(sql: "UPDATE photo SET title = ?", arguments: ["\u{E9}t\u{E9}"]) }
        #expect(try await changes.next()?.difference.updates.map(\.columns) == [["title"]])
    }

    @Test func `what another process writes into a local column or table is told to lists, observations and snapshots`() async throws {
        let folder = try TemporaryFolder()
        let here = try Self.store(folder)
        let photo = Photo(id: UUID(), title: "Sea", file: nil)
        try await here.database.write { try photo.insert($0) }
        let pool = try DatabasePool(path: here.path)
        let sibling = try SyncedDatabase(pool, tables: Self.tables, options: TestStore.options())
        defer { sibling.close() }
        let file = folder.url("snapshot")
        let writer = here.store.snapshot("count", to: file) { db in
            try Int.fetchAll(db, sql: "SELECT count(*) FROM fav UNION ALL SELECT sum(seen) FROM photo")
        }
        let running = Task { await writer.run() }
        defer { running.cancel() }
        func snapshot(_ counts: [Int]) async throws {
            while SnapshotReader(file).read(as: [Int].self) != counts { try await Task.sleep(for: .milliseconds(5)) }
        }
        try await snapshot([0, 0])
        var changes = here.store.live(Photo.all()).makeAsyncIterator()
        _ = try await changes.next()
        let count = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM fav") ?? 0 }
        var counts = count.values(in: here.database).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        // The first look tells of all that the sibling has done so far.
        try await pool.write { try $0.execute(sql: "INSERT INTO fav SELECT id FROM photo") }
        while try await counts.next() != 1 {}
        try await snapshot([1, 0])
        try await pool.write { try $0.execute(sql: "UPDATE photo SET seen = 5") }
        #expect(try await changes.next()?.rows.map(\.seen) == [5])
        try await snapshot([1, 5])
        // The same within the process.
        try await here.database.write { try $0.execute(sql: "DELETE FROM fav") }
        try await snapshot([0, 5])
    }

    @Test func `an observation that asks the store alone is told what changes`() async throws {
        let here = try Self.store()
        try await here.database.write { db in for number in 0..<3 { try Photo(id: UUID(), title: "\(number)", file: nil).insert(db) } }
        let store = here.store
        let count = ValueObservation.tracking { db in try store.trash(db).count }.removeDuplicates()
        var counts = count.values(in: here.database).makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await here.database.write { try $0.execute(sql: "DELETE FROM photo WHERE title < '2'") }
        #expect(try await counts.next() == 2)
        try store.emptyTrash()
        #expect(try await counts.next() == 0)
    }

    @Test(arguments: [Backend.memory, .queue, .pool]) func `a snapshot has nothing of a transaction that is open`(backend: Backend) throws {
        let folder = try TemporaryFolder()
        let here = try TestStore(backend, sql: Self.sql, tables: Self.tables, folder: folder)
        let file = folder.url("snapshot")
        let writer = here.store.snapshot("titles", to: file) { db in try String.fetchAll(db, sql: "SELECT title FROM photo") }
        try writer.write()
        #expect(throws: SnapshotError.self) {
            try here.database.write { db in
                try Photo(id: UUID(), title: "uncommitted", file: nil).insert(db)
                try writer.write()
            }
        }
        #expect(SnapshotReader(file).read(as: [String].self) == [])
    }
}

extension SnapshotReader {
    fileprivate func read<Value: Decodable & Sendable>(as type: Value.Type) -> Value? {
        guard case .ok(let snapshot) = read() as SnapshotReading<Value> else { return nil }
        return snapshot.content
    }
}
