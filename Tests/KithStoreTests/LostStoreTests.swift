import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
import Testing

@Suite("A store that is gone is taken for a new one, and what it held is forgotten without a word")
struct LostStoreTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.sqlite")
    }

    private func open(refilling: Bool = false) throws -> SyncedDatabase {
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS note (id BLOB PRIMARY KEY NOT NULL, title TEXT)") }
        var options = TestStore.options()
        options.refillsLostStore = refilling
        return try SyncedDatabase(queue, tables: [TrackedTable("note")], options: options)
    }

    private func write(_ store: SyncedDatabase) throws {
        try store.database.write { try $0.execute(sql: "INSERT INTO note VALUES (randomblob(16), 'x')") }
    }

    private func remove() throws { try FileManager.default.removeItem(atPath: path) }

    @Test(arguments: [StoreLoss.missing, .emptied])
    func `a file that is missing or empty is an alarm until somebody has chosen`(_ loss: StoreLoss) throws {
        let before = try open()
        try write(before)
        let replica = try before.summary().replica
        #expect(SyncedDatabase.loss(at: path) == nil)
        before.close()
        try before.database.close()
        try remove()
        if loss == .emptied { try Data().write(to: URL(filePath: path)) }
        for _ in 0..<2 {
            // What is made of it by a mere look does not calm anybody.
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            if attributes?[.size] as? Int ?? 0 == 0 { #expect(SyncedDatabase.loss(at: path) == loss) }
            let error = #expect(throws: StoreError.self) { try open() }
            #expect(error?.code == .lost)
        }
        let new = try open(refilling: true)
        #expect(try new.summary().replica != replica && new.identityDoubt != nil)
        try write(new)
        new.close()
        try new.database.close()
        #expect(SyncedDatabase.loss(at: path) == nil)
        let again = try open()
        #expect(try again.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 1)
        again.close()
    }

    @Test func `a database that was put in the place of a store without being one is an alarm`() throws {
        let before = try open()
        try write(before)
        before.close()
        try before.database.write { db in
            for name in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'kith*'") {
                try db.execute(sql: "DROP TABLE \(name)")
            }
        }
        try before.database.close()
        #expect(SyncedDatabase.loss(at: path) == nil)
        #expect(#expect(throws: StoreError.self) { try open() }?.code == .lost)
    }

    @Test func `what others wrote is as much of a loss, and so is what a killed process wrote`() throws {
        let other = try TestStore(
            .queue, sql: "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)", tables: [TrackedTable("note")])
        try other.execute("INSERT INTO note VALUES (randomblob(16), 'from elsewhere')")
        let store = try open()
        _ = try store.apply(try other.store.delta(since: VersionVector()))
        store.close()
        try store.database.close()
        try remove()
        #expect(SyncedDatabase.loss(at: path) == .missing)
        // What is beside the database of a process that still runs is what a killed one leaves behind.
        let running = try open(refilling: true)
        try write(running)
        let copy = folder.file("b.sqlite")
        for suffix in ["-kith", "-kith-lock"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        #expect(SyncedDatabase.loss(at: copy) == .missing)
        running.close()
    }

    @Test func `a store that never held anything is no loss`() throws {
        let store = try open()
        store.close()
        try store.database.close()
        try remove()
        #expect(SyncedDatabase.loss(at: path) == nil)
        let again = try open()
        #expect(again.identityDoubt == nil)
        again.close()
    }

    @Test func `what is left is put aside whole, and not while somebody works on it`() throws {
        let store = try open()
        try write(store)
        #expect(#expect(throws: StoreError.self) { try SyncedDatabase.setAside(at: path, ending: ".lost") }?.code == .busy)
        store.close()
        try store.database.close()
        let content = try Data(contentsOf: URL(filePath: path))
        #expect(try SyncedDatabase.setAside(at: path, ending: ".lost") == [path + ".lost"])
        #expect(try Data(contentsOf: URL(filePath: path + ".lost")) == content)
        #expect(SyncedDatabase.loss(at: path) == .missing)
        #expect(try SyncedDatabase.setAside(at: path, ending: ".again") == [])
        // A backup that is put back is a store, under another id.
        try FileManager.default.moveItem(atPath: path + ".lost", toPath: path)
        let again = try open()
        #expect(try again.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 1)
        #expect(again.identityDoubt == nil)
        again.close()
    }

    @Test func `what is written while the file is gone, or another is in its place, is not said to be safe`() throws {
        let store = try open()
        try write(store)
        let safe = try store.makeDurable()
        let aside = folder.file("aside.sqlite")
        for isReplaced in [false, true] {
            try FileManager.default.moveItem(atPath: path, toPath: aside)
            if isReplaced { try Data().write(to: URL(filePath: path)) }
            let error = #expect(throws: StoreError.self) { _ = try store.makeDurable() }
            #expect(
                error?.code == .lost && error?.message.contains("was removed, moved or replaced") == true, "\(String(describing: error))")
            if isReplaced { try remove() }
            try FileManager.default.moveItem(atPath: aside, toPath: path)
            #expect(try store.makeDurable() == safe)
        }
        store.close()
        try store.database.close()
    }
}
