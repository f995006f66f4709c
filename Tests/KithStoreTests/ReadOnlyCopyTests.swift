import Foundation
import GRDB
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

@Suite("A store that cannot be written cannot be read either, or shows something else than what it holds")
struct ReadOnlyCopyTests {
    private static let sql = "CREATE TABLE IF NOT EXISTS note (id BLOB PRIMARY KEY NOT NULL, title TEXT)"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Rows of any table; `nil` if the database cannot be read.
    private func content(_ database: any DatabaseReader) -> [String]? {
        try? database.read { db in
            let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            return try tables + tables.flatMap { try Row.fetchAll(db, sql: "SELECT * FROM \"\($0)\" ORDER BY 1").map { "\($0)" } }
        }
    }

    @Test(arguments: [512, 4_096, 65_536])
    func `the copy holds what SQLite finds in a log that ends anywhere or is damaged`(pageBytes: Int) throws {
        let path = folder.file("log.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA page_size = \(pageBytes); PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: Self.sql) }
        var random = SplitMix64(seed: UInt64(pageBytes))
        for round in 0..<30 {
            try queue.write { db in
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let title = String(repeating: "x", count: Int.random(in: 0...3_000, using: &random))
                    try db.execute(sql: "INSERT INTO note VALUES (randomblob(16), ?)", arguments: [title])
                }
                if round % 5 == 4 { try db.execute(sql: "DELETE FROM note WHERE rowid % 3 = 0") }
            }
            // The log of the next rounds begins anew over what an older one left.
            if round == 12 { try queue.writeWithoutTransaction { _ = try $0.checkpoint(.passive) } }
        }
        let database = try Data(contentsOf: URL(filePath: path))
        let log = [UInt8](try Data(contentsOf: URL(filePath: path + "-wal")))
        #expect(try content(SyncedDatabase.copyInMemory(ofDatabaseAt: path)) == content(queue))
        for trial in 0..<Soak.count(6, soaking: 600) {
            var changed = log
            switch trial % 3 {
            case 0: changed = Array(log.prefix(Int.random(in: 0...log.count, using: &random)))
            case 1: changed[Int.random(in: 0..<log.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            default: changed += log.prefix(Int.random(in: 0...10_000, using: &random))
            }
            let copy = folder.file("copy\(trial).sqlite")
            try database.write(to: URL(filePath: copy))
            try Data(changed).write(to: URL(filePath: copy + "-wal"))
            let ours = try content(SyncedDatabase.copyInMemory(ofDatabaseAt: copy))
            #expect([UInt8](try Data(contentsOf: URL(filePath: copy + "-wal"))) == changed, "nothing is written")
            let theirs = try content(DatabaseQueue(path: copy))
            #expect(ours == theirs, "trial \(trial)")
        }
        try queue.close()
    }

    /// A transaction that is larger than the cache is written to the log before it is committed.
    @Test func `a copy is one of the commits while another connection writes to the log and brings it into the database`() throws {
        let path = folder.file("busy.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 5")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: Self.sql) }
        let before = try Data(contentsOf: URL(filePath: path))
        let readers = try DatabasePool(path: path)
        let isOver = Mutex(false)
        let (hasBegun, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let writing = Thread {
            // Who reads the newest commit lets all of the log be brought into the database, and keeps it from beginning anew.
            var reader: DatabaseSnapshot?
            for round in 0..<60 where !isOver.withLock({ $0 }) {
                try? queue.write { db in
                    try db.execute(sql: "DELETE FROM note")
                    for number in 0..<60 {
                        let title = String(repeating: "\(round % 10)", count: 900)
                        try db.execute(
                            sql: "INSERT INTO note VALUES (?, ?)", arguments: [Data(repeating: UInt8(number), count: 16), title])
                    }
                }
                reader = try? readers.makeSnapshot()
                try? queue.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
                hasBegun.signal()
            }
            withExtendedLifetime(reader) {}
            isDone.signal()
        }
        writing.start()
        defer {
            isOver.withLock { $0 = true }
            isDone.wait()
        }
        hasBegun.wait()
        for trial in 0..<Soak.count(30, soaking: 3_000) {
            let copy = try SyncedDatabase.copyInMemory(ofDatabaseAt: path)
            let titles = try copy.read { try String.fetchAll($0, sql: "SELECT title FROM note") }
            #expect(titles.count == (titles.isEmpty ? 0 : 60) && Set(titles).count <= 1, "trial \(trial)")
            #expect(try copy.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok", "trial \(trial)")
        }
        #expect(try Data(contentsOf: URL(filePath: path)) != before, "nothing was brought into the database")
    }

    @Test func `everything can be read, attachments too, and nothing can be written`() throws {
        let path = folder.file("store.sqlite")
        let table = TrackedTable("note", attachments: ["title"])
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: Self.sql) }
        let store = try SyncedDatabase(queue, tables: [table])
        let id = try store.attach([1, 2, 3])
        try queue.write { try $0.execute(sql: "INSERT INTO note VALUES (randomblob(16), ?)", arguments: [id.description]) }
        let vector = try store.vector()
        let before = try Data(contentsOf: URL(filePath: path))
        let copy = try SyncedDatabase.copyInMemory(ofDatabaseAt: path)
        var options = TestStore.options()
        options.copy = SyncedDatabase.Options.Copy(of: path, because: "The disk is full.")
        let readOnly = try SyncedDatabase(copy, tables: [table], options: options)
        #expect(try readOnly.vector() == vector && readOnly.verify().isSound)
        #expect(try readOnly.trash().isEmpty && readOnly.heldAttachments().map(\.id) == [id])
        let count = try copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note WHERE kith_attachment_state(title) = 'present'") }
        #expect(count == 1)
        let error = #expect(throws: StoreError.self) { try copy.write { try $0.execute(sql: "DELETE FROM note") } }
        #expect(error?.code == .readOnly && error?.message.contains("The disk is full.") == true)
        #expect(throws: StoreError.self) { try readOnly.setMembers([[1]]) }
        #expect(throws: (any Error).self) { try copy.writeWithoutTransaction { try $0.execute(sql: "UPDATE note SET title = 'x'") } }
        #expect(try copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note WHERE title <> 'x'") } == 1)
        readOnly.close()
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        store.close()
    }

    @Test func `what is no database is refused`() throws {
        let path = folder.file("letter")
        #expect(#expect(throws: StoreError.self) { try SyncedDatabase.copyInMemory(ofDatabaseAt: path) }?.code == .notFound)
        try Data("Dear Ada, this is a letter".utf8).write(to: URL(filePath: path))
        #expect(#expect(throws: StoreError.self) { try SyncedDatabase.copyInMemory(ofDatabaseAt: path) }?.code == .notAStore)
        try Data().write(to: URL(filePath: path))
        #expect(
            try SyncedDatabase.copyInMemory(ofDatabaseAt: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
                == 0)
    }
}
