import Foundation
import GRDB
import KithLock
import KithStore
import TestSupport
import Testing

@Suite("Two nodes work on one store")
struct NodeLockTests {
    @Test func `only one holds the lock, and the error names the holder`() throws {
        let first = try TestStore(.pool)
        let second = try TestStore(.pool, folder: first.folder)
        let lock = try first.store.takeNodeLock()
        for store in [first.store, second.store] {
            let error = #expect(throws: StoreError.self) { try store.takeNodeLock() }
            #expect(error?.code == .busy)
            #expect(error?.message.contains("process \(ProcessInfo.processInfo.processIdentifier)") == true)
        }
        lock.release()
        let next = try second.store.takeNodeLock()
        #expect(throws: StoreError.self) { try first.store.takeNodeLock() }
        next.release()
    }

    @Test func `a lock that nobody holds any more is free`() throws {
        let notes = try TestStore(.pool)
        _ = try notes.store.takeNodeLock()
        _ = try notes.store.takeNodeLock()
    }

    @Test func `a database in memory has no lock`() throws {
        #expect(throws: StoreError.self) { try TestStore(.memory).store.takeNodeLock() }
    }

    private static func fill(_ notes: TestStore) throws {
        for number: UInt64 in 1...60 {
            try notes.execute("INSERT INTO note (id, title) VALUES (?, hex(zeroblob(50000)))", [key(number)])
        }
    }

    private static func logBytes(_ notes: TestStore) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: notes.path + "-wal")[.size] as? Int ?? 0
    }

    @Test func `while another process holds the lock, a writer leaves the log to it`() throws {
        let writer = try TestStore(.pool)
        let node = try TestStore(.pool, folder: writer.folder)
        let lock = try node.store.takeNodeLock()
        try Self.fill(writer)
        #expect(try Self.logBytes(writer) > 5_000_000)
        // The holder moves the log, so that the next writer begins it anew.
        try node.execute("INSERT INTO note (id) VALUES (?)", [key(100)])
        let before = try Self.logBytes(writer)
        try writer.execute("INSERT INTO note (id) VALUES (?)", [key(101)])
        #expect(try Self.logBytes(writer) == before)
        let database = try FileManager.default.attributesOfItem(atPath: writer.path)[.size] as? Int ?? 0
        #expect(database > 5_000_000)
        lock.release()
    }

    @Test func `without a node, a writer keeps the log short itself`() throws {
        let writer = try TestStore(.pool)
        try Self.fill(writer)
        #expect(try Self.logBytes(writer) < 5_000_000)
    }

    /// A database with more pages in its log than ``checkpointPages``, as the app has it that has never opened a store.
    private static func longLog(_ path: String) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = \(checkpointPages)") }
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try db.execute(sql: TestStore.noteSQL)
            for number: UInt64 in 1...10 {
                try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, hex(zeroblob(60000)))", arguments: [key(number)])
            }
            try db.execute(sql: "PRAGMA wal_autocheckpoint = \(checkpointPages)")
        }
        return pool
    }

    private static let checkpointPages = 200

    /// What the database holds without its log.
    private static func databaseBytes(_ pool: DatabasePool) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: pool.path)[.size] as? Int ?? 0
    }

    @Test func `while another process holds the lock, whoever opens the store leaves the log to it`() throws {
        let folder = try TemporaryFolder()
        let pool = try Self.longLog(folder.file("app.sqlite"))
        let before = try Self.databaseBytes(pool)
        let other = try FileLock(path: pool.path + "-kith-node")
        #expect(try other.tryToTake(.exclusive))
        var migrator = DatabaseMigrator()
        // More pages than lead to a checkpoint otherwise.
        migrator.registerMigration("1") { try $0.execute(sql: "UPDATE note SET title = title || hex(zeroblob(60000))") }
        let store = try SyncedDatabase(pool, tables: [TestStore.note], migrator: migrator)
        try pool.write { try $0.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(100)]) }
        #expect(try Self.databaseBytes(pool) == before)
        other.release()
        try pool.write { try $0.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(101)]) }
        #expect(try Self.databaseBytes(pool) > before + 1_000_000)
        store.close()
    }

    @Test func `opening a store moves what it has written itself, and leaves what it finds to the next commit`() throws {
        let folder = try TemporaryFolder()
        let pool = try Self.longLog(folder.file("app.sqlite"))
        // It adopts ten rows, in fewer pages than lead to a checkpoint, and is closed.
        let before = try Self.databaseBytes(pool)
        var store = try SyncedDatabase(pool, tables: [TestStore.note])
        store.close()
        store = try SyncedDatabase(pool, tables: [TestStore.note])
        let opened = try Self.databaseBytes(pool)
        try pool.write { try $0.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(100)]) }
        let written = try Self.databaseBytes(pool)
        store.close()
        #expect(opened == before)
        #expect(written > before + 1_000_000)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: "UPDATE note SET title = title || hex(zeroblob(60000))") }
        store = try SyncedDatabase(pool, tables: [TestStore.note], migrator: migrator)
        #expect(try Self.databaseBytes(pool) > written + 1_000_000)
        store.close()
    }

    @Test func `a store that is not opened leaves the app's checkpoints as they were`() throws {
        let folder = try TemporaryFolder()
        let pool = try Self.longLog(folder.file("app.sqlite"))
        func pages() throws -> Int? { try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA wal_autocheckpoint") } }
        #expect(throws: StoreError.self) { try SyncedDatabase(pool, tables: [TrackedTable("nothing")]) }
        #expect(try pages() == Self.checkpointPages)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: "ALTER TABLE nowhere ADD COLUMN x") }
        #expect(throws: (any Error).self) { try SyncedDatabase(pool, tables: [TestStore.note], migrator: migrator) }
        #expect(try pages() == Self.checkpointPages)
    }
}
