import Foundation
import GRDB
import KithStore
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
}
