import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Synchronization
import TestSupport
import Testing

@Suite("A store that is closed goes on writing, or a step that is known by half is taken back as if it were whole", .timeLimit(.minutes(1)))
struct LateUseTests {
    private static let sql = "CREATE TABLE IF NOT EXISTS item (id BLOB PRIMARY KEY NOT NULL, title TEXT)"
    private static let tables = [TrackedTable("item", journal: .days(30))]

    private static func open(_ folder: TemporaryFolder) throws -> (DatabasePool, SyncedDatabase) {
        let pool = try DatabasePool(path: folder.file("a.sqlite"))
        try pool.write { try $0.execute(sql: sql) }
        return (pool, try SyncedDatabase(pool, tables: tables))
    }

    private static func expectClosed(_ body: () throws -> Void) {
        let error = #expect(throws: StoreError.self) { try body() }
        #expect(error?.message.hasPrefix("The store is closed") == true, "\(String(describing: error))")
    }

    @Test func `a call that comes after the store was closed is refused, and the database can be closed`() throws {
        let folder = try TemporaryFolder()
        let (pool, store) = try Self.open(folder)
        try pool.write { try $0.execute(sql: "INSERT INTO item VALUES (?, 'gone'), (?, 'here')", arguments: [key(1), key(2)]) }
        try pool.write { try $0.execute(sql: "DELETE FROM item WHERE title = 'gone'") }
        let undo = store.undo(scope: "e")
        try undo.group("one") { try $0.execute(sql: "UPDATE item SET title = 'one'") }
        let file = try #require(AttachmentID(bytes: [UInt8](repeating: 1, count: AttachmentID.byteCount)))
        store.close()
        Self.expectClosed { try undo.group("two") { _ in } }
        Self.expectClosed { try undo.undo() }
        Self.expectClosed { try pool.write { _ = try undo.undo($0) } }
        Self.expectClosed { try pool.write { try store.setAuthor("x", $0) } }
        Self.expectClosed { try pool.write { _ = try store.emptyTrash($0) } }
        Self.expectClosed { try pool.write { try store.restore($0, table: "item", id: rowID(1)) } }
        Self.expectClosed {
            try pool.write { try store.saveValue($0, table: "item", id: rowID(2), column: "title", .text("x"), base: .null) }
        }
        Self.expectClosed { try pool.read { _ = try store.conflicts($0) } }
        Self.expectClosed { try store.fetchAttachment(file) }
        Self.expectClosed { _ = try store.verifyAttachments() }
        #expect(throws: Never.self) { try pool.close() }
        let (again, second) = try Self.open(folder)
        #expect(try second.trash().count == 1 && second.undo(scope: "e").nextUndo()?.title == "one")
        second.close()
        try again.close()
    }

    @Test(arguments: [true, false]) func `a store that is closed amid a transaction lets the database be closed`(commits: Bool) throws {
        let folder = try TemporaryFolder()
        let (pool, store) = try Self.open(folder)
        try pool.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO item VALUES (?, 'one')", arguments: [key(1)])
                store.close()
                return commits ? .commit : .rollback
            }
        }
        #expect(throws: Never.self) { try pool.close() }
        let (again, second) = try Self.open(folder)
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == (commits ? 1 : 0))
        second.close()
        try again.close()
    }

    @Test func `a second call of close waits for the first one, and the database can be closed after each`() throws {
        let folder = try TemporaryFolder()
        let (pool, store) = try Self.open(folder)
        let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isFree = Mutex(false)
        let endedEarly = Mutex(false)
        pool.unsafeReentrantWrite { _ in
            for _ in 0..<2 {
                Thread.detachNewThread {
                    begun.signal()
                    store.close()
                    if !isFree.withLock({ $0 }) { endedEarly.withLock { $0 = true } }
                    ended.signal()
                }
            }
            for _ in 0..<2 { begun.wait() }
            // Both have had the time to return, if they do not wait for this access.
            usleep(100_000)
            isFree.withLock { $0 = true }
        }
        for _ in 0..<2 { ended.wait() }
        #expect(!endedEarly.withLock { $0 })
        #expect(throws: Never.self) { try pool.close() }
        store.close()
    }

    @Test func `a closed store takes no step of the next one`() throws {
        let folder = try TemporaryFolder()
        let (pool, store) = try Self.open(folder)
        let undo = store.undo(scope: "e")
        try undo.group("one") { try $0.execute(sql: "INSERT INTO item VALUES (?, 'one')", arguments: [key(1)]) }
        store.close()
        let second = try SyncedDatabase(pool, tables: Self.tables)
        Self.expectClosed { try undo.group("two") { try $0.execute(sql: "UPDATE item SET title = 'two'") } }
        #expect(try pool.read { try String.fetchOne($0, sql: "SELECT title FROM item") } == "one")
        #expect(try second.undo(scope: "e").nextUndo()?.title == "one")
        second.close()
    }

    @Test func `a step of which one table's changes are forgotten is no step any more`() throws {
        let now = Mutex<Int64>(1_700_000_000_000)
        let options = SyncedDatabase.Options(clock: { HybridTimestamp(milliseconds: now.withLock { $0 }) })
        let queue = try DatabaseQueue()
        for table in ["a", "b"] {
            try queue.write { try $0.execute(sql: "CREATE TABLE \(table) (id BLOB PRIMARY KEY NOT NULL, t TEXT)") }
        }
        let store = try SyncedDatabase(
            queue, tables: [TrackedTable("a", journal: .days(1)), TrackedTable("b", journal: .days(30))], options: options)
        try queue.write { db in
            for table in ["a", "b"] { try db.execute(sql: "INSERT INTO \(table) VALUES (?, 'old')", arguments: [key(1)]) }
        }
        let undo = store.undo(scope: "e")
        try undo.group("alone") { try $0.execute(sql: "UPDATE b SET t = 'alone'") }
        for tables in [["a", "b"], ["b", "a"]] {
            try undo.group("both") { db in
                for table in tables { try db.execute(sql: "UPDATE \(table) SET t = t || ' new'") }
            }
        }
        now.withLock { $0 += 2 * 86_400_000 }
        try store.purgeHistory()
        // What is known as a whole is a step as before.
        let report = try #require(try undo.undo())
        #expect(report.title == "alone" && report.left.map(\.reason) == [.changedSince], "\(report)")
        #expect(try undo.nextUndo() == nil)
        #expect(try queue.read { try String.fetchOne($0, sql: "SELECT a.t || b.t FROM a, b") } == "old new newalone new new")
        store.close()
    }

    @Test func `a change of a register that became a text since is said to stay`() throws {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT, b TEXT)") }
        var store = try SyncedDatabase(queue, tables: [TrackedTable("t", journal: .days(30))], options: TestStore.options())
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (?, 'old', 'old')", arguments: [key(1)]) }
        try store.undo(scope: "e").group { try $0.execute(sql: "UPDATE t SET a = 'new', b = 'new'") }
        store.close()
        store = try SyncedDatabase(queue, tables: [TrackedTable("t", texts: ["a"], journal: .days(30))], options: TestStore.options())
        let report = try #require(try store.undo(scope: "e").undo())
        #expect(!report.isWhole && report.left.map(\.column) == ["a"], "\(report)")
        #expect(try queue.read { try String.fetchAll($0, sql: "SELECT a || b FROM t") } == ["newold"])
        store.close()
    }

    @Test func `each loop over one history has all of it, whatever becomes of the others`() async throws {
        let store = try TestStore(
            sql: "CREATE TABLE t (id BLOB PRIMARY KEY NOT NULL, a TEXT)", tables: [TrackedTable("t", journal: .days(30))])
        let sequence = store.store.liveHistory(after: nil)
        let (seen, tell) = AsyncStream.makeStream(of: String.self)
        func loop(_ name: String) -> Task<Void, Never> {
            Task {
                do { for try await _ in sequence { tell.yield(name) } } catch {}
                if !Task.isCancelled { tell.yield("\(name) ended") }
            }
        }
        var heard = seen.makeAsyncIterator()
        func hear(_ count: Int) async -> [String] {
            var names: [String] = []
            while names.count < count, let name = await heard.next() { names.append(name) }
            return names.sorted()
        }
        let (first, second) = (loop("first"), loop("second"))
        try store.execute("INSERT INTO t VALUES (?, 'x')", [key(1)])
        #expect(await hear(2) == ["first", "second"])
        first.cancel()
        await first.value
        try store.execute("INSERT INTO t VALUES (?, 'x')", [key(2)])
        #expect(await hear(1) == ["second"])
        let third = loop("third")
        #expect(await hear(2) == ["third", "third"])
        try store.execute("INSERT INTO t VALUES (?, 'x')", [key(3)])
        #expect(await hear(2) == ["second", "third"])
        second.cancel()
        third.cancel()
    }
}
