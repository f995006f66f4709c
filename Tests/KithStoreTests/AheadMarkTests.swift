import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

@Suite("A store spends a new id on each loss of power, or reuses the number of a commit that others know")
struct AheadMarkTests {
    /// How a disk takes it that the log is to be brought to it.
    private final class Disk: Sendable {
        let flushes = Mutex(0)
        let fails = Mutex(false)
        /// What happens during the next flush, on the thread that waits for it.
        nonisolated(unsafe) var meanwhile: (() throws -> Void)?

        func flush() throws {
            flushes.withLock { $0 += 1 }
            let work = meanwhile
            meanwhile = nil
            try work?()
            if fails.withLock({ $0 }) { throw StoreError(.failed, "The disk is broken.") }
        }
    }

    /// A machine with one store, which speaks for a device.
    private final class Machine {
        let folder: TemporaryFolder
        let disk = Disk()
        var boot = 1
        var path: String { folder.file("a") }
        private let suffixes = ["", "-wal", "-kith", "-kith-ahead"]

        init() throws { folder = try TemporaryFolder() }

        func open() throws -> Session {
            let database = try DatabasePool(path: path)
            try database.write { try $0.execute(sql: TestStore.noteSQL) }
            var options = TestStore.options()
            options.host = HostIdentity(machine: "here", boot: "\(boot)")
            options.synchronizeLog = { [disk] _ in try disk.flush() }
            let store = try SyncedDatabase(database, tables: [TestStore.note], options: options)
            return Session(database: database, store: store, book: try store.bind(to: TestDevice(1)))
        }

        /// What the files hold now.
        func files() -> [String: Data] {
            suffixes.reduce(into: [:]) { files, suffix in files[suffix] = FileManager.default.contents(atPath: path + suffix) }
        }

        /// The process ends without closing the store: the files are left as they were, but for those that the disk has otherwise.
        func kill(_ session: Session, leaving others: [String: Data] = [:]) throws {
            let left = files().merging(others) { $1 }
            session.store.close()
            try session.database.close()
            for suffix in suffixes {
                // In place, so that the database keeps its inode.
                guard let content = left[suffix] else {
                    if FileManager.default.fileExists(atPath: path + suffix) { try FileManager.default.removeItem(atPath: path + suffix) }
                    continue
                }
                if !FileManager.default.fileExists(atPath: path + suffix) { try Data().write(to: URL(filePath: path + suffix)) }
                let handle = try FileHandle(forWritingTo: URL(filePath: path + suffix))
                try handle.truncate(atOffset: 0)
                try handle.write(contentsOf: content)
                try handle.close()
            }
            try? FileManager.default.removeItem(atPath: path + "-shm")
        }
    }

    /// The machine loses its power, of the files the disk has `others` in place of those that were there, and the store is opened again.
    private func losePower(_ machine: Machine, _ session: Session, leaving others: [String: Data] = [:]) throws -> Session {
        try machine.kill(session, leaving: others)
        machine.boot += 1
        return try machine.open()
    }

    private struct Session {
        let database: DatabasePool
        let store: SyncedDatabase
        let book: any ProofBook

        @discardableResult
        func add(_ number: UInt64) throws -> Dot {
            try database.write { try $0.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(number)]) }
            let summary = try store.summary()
            return Dot(replica: summary.replica, sequence: summary.vector[summary.replica])
        }
    }

    /// The database and its log, as they are on a disk that has no more than these.
    private func onDisk(_ files: [String: Data]) -> [String: Data] { files.filter { ["", "-wal"].contains($0.key) } }

    @Test func `a machine that loses its power, and commits of which nobody was told, keeps its id and gives their numbers anew`() throws {
        let machine = try Machine()
        var session = try machine.open()
        try session.add(1)
        _ = try session.store.makeDurable()
        let disk = machine.files()
        let lost = try session.add(2)
        session = try losePower(machine, session, leaving: onDisk(disk))
        #expect(session.store.identityDoubt == nil)
        #expect(try session.add(3) == lost)
    }

    @Test func `a machine that loses its power as soon as it has opened a store keeps its id`() throws {
        let machine = try Machine()
        var session = try machine.open()
        let dot = try session.add(1)
        _ = try session.store.makeDurable()
        session.store.close()
        try session.database.close()
        let disk = machine.files()
        session = try machine.open()
        session = try losePower(machine, session, leaving: onDisk(disk))
        #expect(session.store.identityDoubt == nil)
        #expect(try session.store.summary().replica == dot.replica)
    }

    @Test func `a machine that loses its power while others may know what was not on its disk goes on under a new id`() throws {
        let machine = try Machine()
        var session = try machine.open()
        try session.add(1)
        _ = try session.store.makeDurable()
        let disk = machine.files()
        let told = try session.add(2)
        _ = try session.book.proof(of: told)
        session = try losePower(machine, session, leaving: onDisk(disk))
        #expect(session.store.identityDoubt == .uncleanStop)
        #expect(try session.store.summary().replica != told.replica)
    }

    @Test func `a machine keeps its id if all that it told was on the disk when the power went`() throws {
        let machine = try Machine()
        var session = try machine.open()
        let told = try session.add(1)
        _ = try session.book.proof(of: told)
        _ = try session.store.makeDurable()
        let disk = machine.files()
        try session.add(2)
        session = try losePower(machine, session, leaving: onDisk(disk))
        #expect(session.store.identityDoubt == nil)
        #expect(try session.store.summary().replica == told.replica)
    }

    @Test func `signing a commit before it is brought to the disk tells nobody of it`() throws {
        let machine = try Machine()
        var session = try machine.open()
        try session.add(1)
        try session.store.signAll()
        session = try losePower(machine, session)
        #expect(session.store.identityDoubt == nil)
    }

    @Test(arguments: [true, false]) func `the mark of a killed process is there until what it told is on the disk`(isFlushed: Bool) throws {
        let machine = try Machine()
        var session = try machine.open()
        let told = try session.add(1)
        _ = try session.book.proof(of: told)
        try machine.kill(session)
        session = try machine.open()
        #expect(session.store.identityDoubt == nil)
        if isFlushed { _ = try session.store.makeDurable() }
        session = try losePower(machine, session)
        #expect(session.store.identityDoubt == (isFlushed ? nil : .uncleanStop))
    }

    @Test func `the mark stays for a commit that is told while earlier ones are brought to the disk`() throws {
        let machine = try Machine()
        var session = try machine.open()
        try session.add(1)
        let disk = machine.files()
        machine.disk.meanwhile = { [session] in
            _ = try session.book.proof(of: try session.add(2))
        }
        _ = try session.store.makeDurable()
        #expect(machine.files()["-kith-ahead"]?.first == UInt8(ascii: "1"))
        session = try losePower(machine, session, leaving: onDisk(disk))
        #expect(session.store.identityDoubt == .uncleanStop)
    }

    @Test func `as long as commits follow each other the mark stays, and goes when they end`() throws {
        let machine = try Machine()
        var session = try machine.open()
        for number in 1...3 {
            _ = try session.book.proof(of: try session.add(UInt64(number)))
            _ = try session.store.makeDurable(isResting: false)
            #expect(machine.files()["-kith-ahead"]?.first == UInt8(ascii: "1"))
        }
        // Nothing is left to bring to the disk.
        _ = try session.store.makeDurable()
        #expect(machine.disk.flushes.withLock { $0 } == 3)
        #expect(machine.files()["-kith-ahead"]?.first == UInt8(ascii: "0"))
        session = try losePower(machine, session)
        #expect(session.store.identityDoubt == nil)
    }

    @Test func `a store that rests while others may know what its disk has not keeps the mark`() throws {
        let machine = try Machine()
        let session = try machine.open()
        _ = try session.book.proof(of: try session.add(1))
        machine.disk.fails.withLock { $0 = true }
        #expect(throws: StoreError.self) { try session.store.makeDurable() }
        #expect(machine.files()["-kith-ahead"]?.first == UInt8(ascii: "1"))
    }

    @Test func `while one process tells, another brings its commits to the disk before it tells them`() throws {
        let machine = try Machine()
        let (first, second) = (try machine.open(), try machine.open())
        _ = try first.book.proof(of: try first.add(1))
        #expect(machine.disk.flushes.withLock { $0 } == 0)
        let dot = try second.add(2)
        _ = try second.book.proof(of: dot)
        #expect(machine.disk.flushes.withLock { $0 } == 1)
        // The first one's word still stands.
        #expect(machine.files()["-kith-ahead"]?.first == UInt8(ascii: "1"))
        _ = try first.store.makeDurable()
        #expect(machine.files()["-kith-ahead"]?.first == UInt8(ascii: "0"))
    }

    @Test func `after a loss of power, an older copy of the database is told by what was on the disk`() throws {
        let machine = try Machine()
        var session = try machine.open()
        try session.add(1)
        _ = try session.store.makeDurable()
        let backup = machine.files()
        let told = try session.add(2)
        _ = try session.book.proof(of: told)
        _ = try session.store.makeDurable()
        // Of the file that says which database this is, the disk has an older state, too.
        session = try losePower(machine, session, leaving: backup.filter { $0.key != "-kith-ahead" })
        #expect(session.store.identityDoubt == .olderDatabase)
        #expect(try session.store.summary().replica != told.replica)
    }

    @Test func `a store that cannot note what it tells brings it to the disk, and if that fails tells it to nobody`() throws {
        let machine = try Machine()
        try FileManager.default.createDirectory(atPath: machine.path + "-kith-ahead", withIntermediateDirectories: false)
        let session = try machine.open()
        let dot = try session.add(1)
        machine.disk.fails.withLock { $0 = true }
        #expect { try session.book.proof(of: dot) } throws: { ($0 as? CloseReason)?.code == .storeFailed }
        machine.disk.fails.withLock { $0 = false }
        #expect(try session.book.proof(of: dot).head.dot == dot)
    }
}
