import Foundation
import GRDB
import GRDBSQLite
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("The disk fails and takes more with it than it must")
struct DiskFaultTests {
    private static func limit(_ notes: TestStore, extraPages: Int?) throws {
        try notes.database.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(extraPages.map { pages + $0 } ?? 1_000_000)")
        }
    }

    /// Tries `body` on a disk with ever more room until it succeeds; before that, nothing may change.
    private static func onEverFullerDisk(_ notes: TestStore, checking: Bool = true, _ body: () throws -> Void) throws -> Int {
        for extraPages in 0..<400 {
            let before = try notes.store.summary()
            try limit(notes, extraPages: extraPages)
            do {
                try body()
                try limit(notes, extraPages: nil)
                return extraPages
            } catch let error as StoreError {
                #expect(error.code == .diskFull)
                #expect(error.sqliteCode == SQLITE_FULL)
                #expect(error.underlyingError != nil)
            } catch let error as DatabaseError {
                #expect(error.resultCode == .SQLITE_FULL)
            }
            try limit(notes, extraPages: nil)
            #expect(try notes.store.summary() == before)
            if checking, extraPages % 7 == 0 { try notes.expectSound() }
        }
        return 400
    }

    @Test(arguments: Backend.allCases)
    func `a local transaction on a full disk changes nothing, wherever it fails`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'a')", [key(1)])
        let pages = try Self.onEverFullerDisk(notes) {
            try notes.database.write { db in
                for number: UInt64 in 2...40 {
                    try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, hex(zeroblob(1000)))", arguments: [key(number)])
                }
                try db.execute(sql: "UPDATE note SET color = 1")
                try db.execute(sql: "DELETE FROM note WHERE title = 'a'")
            }
        }
        #expect(pages > 10 && pages < 400)
        #expect(try notes.sequence() == 2)
        try notes.expectSound()
    }

    @Test(arguments: Backend.allCases)
    func `a delta that does not fit changes nothing, and is applied when there is room`(backend: Backend) throws {
        let sender = try TestStore()
        try sender.database.write { db in
            for number: UInt64 in 1...40 {
                try db.execute(sql: "INSERT INTO note (id, title) VALUES (?, hex(zeroblob(1000)))", arguments: [key(number)])
            }
        }
        try sender.execute("DELETE FROM note WHERE rowid % 4 = 0")
        let notes = try TestStore(backend)
        try notes.execute("INSERT INTO note (id, title) VALUES (?, 'mine')", [key(100)])
        let pages = try Self.onEverFullerDisk(notes) { try notes.receive(from: sender) }
        #expect(pages > 10 && pages < 400)
        #expect(try notes.store.vector().covers(sender.store.vector()))
        try notes.expectSound()
    }

    @Test(arguments: [Backend.memory, .pool])
    func `clocks of a bulk insert that do not fit on the disk are stored when there is room`(backend: Backend) throws {
        let notes = try TestStore(backend)
        try notes.database.write { db in
            for number: UInt64 in 1...600 { try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(number)]) }
        }
        var rows = 0
        let pages = try Self.onEverFullerDisk(notes, checking: false) { rows = try notes.store.delta(since: VersionVector()).rows.count }
        #expect(pages > 2 && pages < 400)
        #expect(rows == 600)
        try notes.expectSound()
    }

    @Test func `a database that may only be read is refused with a clear error`() throws {
        let notes = try TestStore(.queue)
        notes.store.close()
        try notes.database.close()
        var configuration = Configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(path: notes.path, configuration: configuration)
        let error = #expect(throws: StoreError.self) { try SyncedDatabase(database, tables: [TestStore.note]) }
        #expect(error?.code == .readOnly)
        #expect(error?.message.contains("cannot be written") == true)
    }

    @Test(arguments: [100, 5_000]) func `a file that is not a database is refused and left alone`(byteCount: Int) throws {
        let folder = try TemporaryFolder()
        let text = Data(String(repeating: "not a database. ", count: byteCount / 16).utf8)
        try text.write(to: URL(fileURLWithPath: folder.file("x")))
        do {
            let database = try DatabaseQueue(path: folder.file("x"))
            let store = try SyncedDatabase(database, tables: [])
            store.close()
            Issue.record("a text file was opened as a store")
        } catch let error as StoreError {
            #expect(error.code == .notAStore)
        } catch let error as DatabaseError {
            #expect(error.resultCode == .SQLITE_NOTADB)
        }
        #expect(FileManager.default.contents(atPath: folder.file("x")) == text)
    }

    @Test(arguments: 0..<4) func `a damaged file gives errors, never a crash`(batch: UInt64) throws {
        let notes = try TestStore(.queue)
        for number: UInt64 in 1...60 {
            try notes.execute("INSERT INTO note (id, title, tags) VALUES (?, 'title', '[\"a\"]')", [key(number)])
        }
        try notes.execute("DELETE FROM note WHERE rowid % 5 = 0")
        let other = try TestStore()
        try other.receive(from: notes)
        try other.execute("UPDATE note SET title = 'theirs', views = 3, tags = '[\"b\"]'")
        try notes.execute("UPDATE note SET title = 'mine', views = 2 WHERE rowid % 2 = 0")
        try notes.receive(from: other)
        let delta = try other.store.delta(since: VersionVector())
        try notes.database.write { db in
            for number: UInt64 in 101...140 { try db.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [key(number)]) }
        }
        notes.store.close()
        try notes.database.close()
        let sound = try #require(FileManager.default.contents(atPath: notes.path))
        var random = SplitMix64(seed: batch)
        var errors = 0
        for round in 0..<Soak.count(5, soaking: 600) {
            var damaged = sound
            for _ in 0...Int.random(in: 0...3, using: &random) {
                damaged[Int.random(in: 100..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            // `verify` may not read the few damaged bytes. SQLite reads the kind of each page that it visits.
            if round % 2 == 0 { damaged[4_096 * Int.random(in: 1..<damaged.count / 4_096, using: &random)] ^= 0x55 }
            let path = notes.folder.file("damaged\(round)")
            try damaged.write(to: URL(fileURLWithPath: path))
            do {
                let database = try DatabaseQueue(path: path)
                let store = try SyncedDatabase(database, tables: [TestStore.note], options: TestStore.options())
                defer { store.close() }
                if try !store.verify().isSound { errors += 1 }
                _ = try store.delta(since: VersionVector())
                _ = try store.apply(delta)
                try database.write { try $0.execute(sql: "UPDATE note SET color = 1; DELETE FROM note") }
            } catch {
                errors += 1
            }
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(errors > 0)
    }
}
