import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

@Suite("One replica id names two stores")
struct IdentityTests {
    private static let here = HostIdentity(machine: "here", boot: "1")

    /// A store that is opened and closed like that of an app.
    private struct Session {
        let database: DatabasePool
        let store: SyncedDatabase

        init(
            _ path: String, host: HostIdentity = IdentityTests.here, synchronizeLog: (@Sendable (_ path: String) throws -> Void)? = nil
        ) throws {
            database = try DatabasePool(path: path)
            try database.write { try $0.execute(sql: TestStore.noteSQL) }
            var options = TestStore.options()
            options.host = host
            if let synchronizeLog { options.synchronizeLog = synchronizeLog }
            store = try SyncedDatabase(database, tables: [TestStore.note], options: options)
        }

        func add(_ number: UInt64) throws {
            try database.write { try $0.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(number)]) }
        }

        @discardableResult
        func close() throws -> StoreSummary {
            let summary = try store.summary()
            store.close()
            try database.close()
            return summary
        }
    }

    /// Opens, writes one note and closes.
    private static func visit(_ path: String, _ number: UInt64, host: HostIdentity = here) throws -> StoreSummary {
        let session = try Session(path, host: host)
        try session.add(number)
        return try session.close()
    }

    private static func doubt(_ path: String, host: HostIdentity = here) throws -> IdentityDoubt? {
        let session = try Session(path, host: host)
        defer { session.store.close() }
        return session.store.identityDoubt
    }

    /// A database that is closed is its file and, perhaps, the log beside it.
    private static func copy(_ source: String, to target: String) throws {
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: target + suffix)
            guard FileManager.default.fileExists(atPath: source + suffix) else { continue }
            try FileManager.default.copyItem(atPath: source + suffix, toPath: target + suffix)
        }
    }

    /// Leaves the sentinel as a killed process would.
    private static func markUnclean(_ path: String) throws {
        let text = try String(contentsOfFile: path + "-kith", encoding: .utf8)
        #expect(text.contains("\"isClean\" : true"))
        try text.replacingOccurrences(of: "\"isClean\" : true", with: "\"isClean\" : false")
            .write(toFile: path + "-kith", atomically: true, encoding: .utf8)
    }

    @Test func `a store that is closed and opened again is the same replica`() throws {
        let folder = try TemporaryFolder()
        let first = try Self.visit(folder.file("a"), 1)
        let second = try Self.visit(folder.file("a"), 2)
        #expect(first.replica == second.replica)
        #expect(second.vector[second.replica] == 2)
        #expect(try Self.doubt(folder.file("a")) == nil)
    }

    @Test func `a clean store may see its machine start again`() throws {
        let folder = try TemporaryFolder()
        let first = try Self.visit(folder.file("a"), 1)
        let second = try Self.visit(folder.file("a"), 2, host: HostIdentity(machine: "here", boot: "2"))
        #expect(first.replica == second.replica)
    }

    @Test func `a killed process leaves the same replica, for the machine has lost nothing`() throws {
        let folder = try TemporaryFolder()
        _ = try Self.visit(folder.file("a"), 1)
        try Self.markUnclean(folder.file("a"))
        #expect(try Self.doubt(folder.file("a")) == nil)
    }

    @Test func `a machine that stopped while the store was open makes it a new replica`() throws {
        let folder = try TemporaryFolder()
        let first = try Self.visit(folder.file("a"), 1)
        try Self.markUnclean(folder.file("a"))
        let session = try Session(folder.file("a"), host: HostIdentity(machine: "here", boot: "2"))
        #expect(session.store.identityDoubt == .uncleanStop)
        let summary = try session.close()
        #expect(summary.replica != first.replica)
        #expect(summary.vector[first.replica] == 1)
    }

    @Test(arguments: [true, false]) func `a copy is a new replica, with or without the file beside it`(withSentinel: Bool) throws {
        let folder = try TemporaryFolder()
        let first = try Self.visit(folder.file("a"), 1)
        try Self.copy(folder.file("a"), to: folder.file("b"))
        if withSentinel { try Self.copy(folder.file("a-kith"), to: folder.file("b-kith")) }
        let session = try Session(folder.file("b"))
        #expect(session.store.identityDoubt == (withSentinel ? .otherFile : .unknown))
        try session.add(2)
        let summary = try session.close()
        #expect(summary.replica != first.replica)
        #expect(summary.vector == VersionVector([Dot(replica: first.replica, sequence: 1), Dot(replica: summary.replica, sequence: 1)]))
        #expect(try Self.doubt(folder.file("b")) == nil)
        #expect(try Self.doubt(folder.file("a")) == nil)
    }

    @Test(arguments: [true, false])
    func `a file put back from a backup is a new replica, also in the very same file`(sameInode: Bool) throws {
        let folder = try TemporaryFolder()
        _ = try Self.visit(folder.file("a"), 1)
        try Self.copy(folder.file("a"), to: folder.file("backup"))
        let newest = try Self.visit(folder.file("a"), 2)
        if sameInode {
            for suffix in ["", "-wal"] {
                let backup = FileManager.default.contents(atPath: folder.file("backup" + suffix)) ?? Data()
                let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("a" + suffix)))
                try file.truncate(atOffset: 0)
                try file.write(contentsOf: backup)
                try file.close()
            }
        } else {
            try Self.copy(folder.file("backup"), to: folder.file("a"))
        }
        let session = try Session(folder.file("a"))
        #expect(session.store.identityDoubt == .otherDatabase)
        #expect(try session.close().replica != newest.replica)
    }

    @Test func `a backup put back after a process was killed that had just committed is a new replica`() throws {
        let folder = try TemporaryFolder()
        let session = try Session(folder.file("a"))
        try session.add(1)
        _ = try session.store.makeDurable()
        let backup = try ["", "-wal", "-kith"].map { try Data(contentsOf: URL(fileURLWithPath: folder.file("a" + $0))) }
        try session.add(2)
        let newest = try session.close()
        // As a kill leaves them: the sentinel has not heard of the second commit.
        for (suffix, content) in zip(["", "-wal", "-kith"], backup) {
            let file = folder.file("a" + suffix)
            if !FileManager.default.fileExists(atPath: file) { try Data().write(to: URL(fileURLWithPath: file)) }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: content)
            try handle.close()
        }
        let restored = try Session(folder.file("a"))
        #expect(restored.store.identityDoubt == .olderDatabase)
        let summary = try restored.close()
        #expect(summary.replica != newest.replica)
        #expect(summary.vector[newest.replica] == 1)
    }

    @Test func `a store that moved to another machine is a new replica`() throws {
        let folder = try TemporaryFolder()
        _ = try Self.visit(folder.file("a"), 1)
        #expect(try Self.doubt(folder.file("a"), host: HostIdentity(machine: "there", boot: "1")) == .otherMachine)
    }

    @Test(arguments: ["", "{}", "{\"format\":99}", "\u{0}\u{1}"])
    func `a file beside the database that cannot be read makes a new replica`(text: String) throws {
        let folder = try TemporaryFolder()
        _ = try Self.visit(folder.file("a"), 1)
        try text.write(toFile: folder.file("a-kith"), atomically: true, encoding: .utf8)
        #expect(try Self.doubt(folder.file("a")) == .unknown)
    }

    @Test func `while one process has the store open, others neither judge it nor mark it clean`() throws {
        let folder = try TemporaryFolder()
        let long = try Session(folder.file("a"))
        let first = try long.store.summary().replica
        for number: UInt64 in 1...3 {
            let short = try Session(folder.file("a"))
            #expect(short.store.identityDoubt == nil)
            try short.add(number)
            try short.close()
            #expect(try String(contentsOfFile: folder.file("a-kith"), encoding: .utf8).contains("\"isClean\" : false"))
        }
        let summary = try long.close()
        #expect(summary.replica == first)
        #expect(try String(contentsOfFile: folder.file("a-kith"), encoding: .utf8).contains("\"isClean\" : true"))
        #expect(try Self.doubt(folder.file("a")) == nil)
    }

    @Test func `the last of several to close marks the store clean, whoever opened it first`() throws {
        let folder = try TemporaryFolder()
        let first = try Session(folder.file("a"))
        let second = try Session(folder.file("a"))
        try first.close()
        try second.add(1)
        try second.close()
        #expect(try Self.doubt(folder.file("a"), host: HostIdentity(machine: "here", boot: "2")) == nil)
    }

    @Test func `a store that SQLite does not bring to the disk is never clean, and nothing in it durable`() throws {
        let folder = try TemporaryFolder()
        let session = try Session(folder.file("a"))
        try session.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        try session.add(1)
        #expect(try session.store.makeDurable().isEmpty)
        try session.close()
        #expect(try Self.doubt(folder.file("a"), host: HostIdentity(machine: "here", boot: "2")) == .uncleanStop)
    }

    @Test func `after a flush that failed nothing is durable until it was written anew`() throws {
        let folder = try TemporaryFolder()
        let failures = Mutex(1)
        let flushes = Mutex(0)
        let session = try Session(folder.file("a")) { path in
            flushes.withLock { $0 += 1 }
            let fails = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            if fails { throw StoreError(.diskFull, "The disk is full.") }
        }
        try session.add(1)
        #expect(throws: StoreError.self) { try session.store.makeDurable() }
        // As long as somebody reads an earlier state, the log cannot be moved as a whole.
        try session.database.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM note")
            try session.add(2)
            #expect(throws: StoreError.self) { try session.store.makeDurable() }
        }
        #expect(flushes.withLock { $0 } == 1)
        #expect(try session.store.makeDurable() == session.store.vector())
        #expect(flushes.withLock { $0 } == 2)
        // Whatever the disk has of the log, the database itself has all.
        try FileManager.default.copyItem(atPath: folder.file("a"), toPath: folder.file("b"))
        #expect(try DatabaseQueue(path: folder.file("b")).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 2)
        try session.close()
        #expect(try Self.doubt(folder.file("a"), host: HostIdentity(machine: "here", boot: "2")) == nil)
    }

    @Test func `a store whose last flush failed is not clean`() throws {
        let folder = try TemporaryFolder()
        let session = try Session(folder.file("a")) { _ in throw StoreError(.diskFull, "The disk is full.") }
        try session.add(1)
        #expect(throws: StoreError.self) { try session.store.makeDurable() }
        try session.close()
        #expect(try Self.doubt(folder.file("a"), host: HostIdentity(machine: "here", boot: "2")) == .uncleanStop)
    }

    @Test func `what is made durable is what was committed`() throws {
        let notes = try TestStore(.pool)
        #expect(try notes.store.makeDurable().isEmpty)
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        #expect(try notes.store.makeDurable() == notes.store.vector())
        #expect(try notes.store.makeDurable() == notes.store.vector())
        #expect(try TestStore(.memory).store.makeDurable().isEmpty)
    }

    @Test func `a peer that holds more of this replica than it has written makes it a new one`() throws {
        let notes = try TestStore(.pool)
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        let before = try notes.store.summary()
        let head = try #require(before.head(of: before.replica))
        #expect(try notes.store.verifyIdentity(head) == before)
        let other = Head(dot: Dot(replica: ReplicaID(high: 1, low: 1), sequence: 9), timestamp: head.timestamp)
        #expect(try notes.store.verifyIdentity(other) == before)

        let later = Head(dot: Dot(replica: before.replica, sequence: 2), timestamp: head.timestamp.next)
        let after = try notes.store.verifyIdentity(later)
        #expect(after.replica != before.replica)
        #expect(after.vector == before.vector)
        #expect(try notes.store.verifyIdentity(later) == after)
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(2)])
        #expect(try notes.store.vector()[after.replica] == 1)
        #expect(try notes.store.vector()[before.replica] == 1)
        try notes.expectSound()
    }

    @Test(arguments: [1, 2])
    func `a peer that holds another commit under the same number makes the store a new replica`(sequence: UInt64) throws {
        let notes = try TestStore(.memory)
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        try notes.execute("INSERT INTO note (id) VALUES (?)", [key(2)])
        let before = try notes.store.summary()
        let head = Head(dot: Dot(replica: before.replica, sequence: sequence), timestamp: HybridTimestamp(rawValue: 77))
        #expect(try notes.store.verifyIdentity(head).replica != before.replica)
    }

    @Test func `the new id is that of every process that has the store open`() throws {
        let first = try TestStore(.pool)
        let second = try TestStore(.pool, folder: first.folder)
        try first.execute("INSERT INTO note (id) VALUES (?)", [key(1)])
        let old = try first.store.summary().replica
        let head = Head(dot: Dot(replica: old, sequence: 5), timestamp: .zero)
        let new = try first.store.verifyIdentity(head).replica
        #expect(try second.store.verifyIdentity(head).replica == new)
        try second.execute("INSERT INTO note (id) VALUES (?)", [key(2)])
        #expect(try second.store.vector()[new] == 1)
        first.store.close()
        second.store.close()
        let again = try TestStore(.pool, folder: first.folder)
        #expect(try again.store.summary().replica == new)
    }
}
