import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("Bodies written before the column was a text are lost or doubled")
struct RegisterMadeTextTests {
    private static let asRegister = TrackedTable("page")

    private struct Machine {
        let database: DatabaseQueue
        let number: UInt64
        var store: SyncedDatabase

        init(_ number: UInt64, _ table: TrackedTable) throws {
            database = try DatabaseQueue()
            try database.write { try $0.execute(sql: TextStore.sql) }
            self.number = number
            store = try SyncedDatabase(database, tables: [table], options: TestStore.options(ReplicaID(high: 0, low: number)))
        }

        /// Opens the store with the body as a text.
        mutating func upgrade() throws {
            store.close()
            store = try SyncedDatabase(
                database, tables: [TextStore.page], options: TestStore.options(ReplicaID(high: 0, low: number)))
        }

        func write(_ sql: String, _ arguments: StatementArguments = []) throws {
            try database.write { try $0.execute(sql: sql, arguments: arguments) }
        }

        func body(_ row: UInt64 = 1) throws -> String? {
            try database.read { try String.fetchOne($0, sql: "SELECT body FROM page WHERE id = ?", arguments: [key(row)]) }
        }

        func receive(from other: Machine) throws {
            guard case .applied = try store.apply(try other.store.delta(since: try store.vector())) else {
                throw StoreError(.failed, "refused")
            }
        }
    }

    private func machines() throws -> (Machine, Machine) {
        let (a, b) = (try Machine(1, Self.asRegister), try Machine(2, Self.asRegister))
        try a.write("INSERT INTO page (id, title, body) VALUES (?, 't', 'body one')", [key(1)])
        try a.write("INSERT INTO page (id, title, body) VALUES (?, 't', NULL)", [key(2)])
        try a.write("INSERT INTO page (id, title, body) VALUES (?, 't', 'short')", [key(3)])
        try a.write("UPDATE page SET body = 'body three' WHERE id = ?", [key(3)])
        try a.write("INSERT INTO page (id, title, body) VALUES (?, 't', 'deleted')", [key(4)])
        try a.write("DELETE FROM page WHERE id = ?", [key(4)])
        try b.receive(from: a)
        return (a, b)
    }

    @Test func `two machines that both take the column for a text have each body once, and edits merge`() throws {
        var (a, b) = try machines()
        #expect(try a.store.digest() == b.store.digest())
        try a.upgrade()
        try b.upgrade()
        for machine in [a, b] {
            #expect(try [1, 2, 3].map { try machine.body($0) } == ["body one", nil, "body three"])
            #expect(try machine.store.verify().problems == [])
        }
        #expect(try a.store.digest() == b.store.digest())
        try a.write("UPDATE page SET body = 'a body one' WHERE id = ?", [key(1)])
        try b.write("UPDATE page SET body = 'body one b' WHERE id = ?", [key(1)])
        try a.receive(from: b)
        try b.receive(from: a)
        #expect(try a.body() == "a body one b" && b.body() == "a body one b")
        #expect(try a.store.digest() == b.store.digest())
        try a.store.restore(table: "page", id: rowID(4))
        #expect(try a.body(4) == "deleted")
        var fresh = try Machine(3, TextStore.page)
        try fresh.receive(from: a)
        #expect(try fresh.body(3) == "body three" && fresh.body(1) == "a body one b")
        try fresh.upgrade()
        #expect(try fresh.body(1) == "a body one b")
        #expect(try a.store.verify().problems == [] && b.store.verify().problems == [])
    }

    @Test func `an edit that reached a machine before it took the column for a text is there afterwards`() throws {
        var (a, b) = try machines()
        try a.upgrade()
        try a.write("UPDATE page SET body = 'body one, edited' WHERE id = ?", [key(1)])
        try b.receive(from: a)
        #expect(try b.body() == "body one")
        try b.upgrade()
        #expect(try b.body() == "body one, edited")
        try a.receive(from: b)
        #expect(try a.store.digest() == b.store.digest())
        #expect(try b.store.verify().problems == [])
    }

    @Test func `what two machines wrote at once before is all in the text`() throws {
        var (a, b) = try machines()
        try a.write("UPDATE page SET body = 'from a. ' WHERE id = ?", [key(1)])
        try b.write("UPDATE page SET body = 'from b. ' WHERE id = ?", [key(1)])
        try a.upgrade()
        try b.upgrade()
        try a.receive(from: b)
        try b.receive(from: a)
        #expect(try a.body() == "from a. from b. " && b.body() == a.body())
        #expect(try a.store.digest() == b.store.digest())
        #expect(try a.store.verify().problems == [] && b.store.verify().problems == [])
    }

    @Test func `a store whose column holds something else is refused`() throws {
        var machine = try Machine(1, Self.asRegister)
        try machine.write("INSERT INTO page (id, body) VALUES (?, x'ff')", [key(1)])
        let error = #expect(throws: StoreError.self) { try machine.upgrade() }
        #expect(error?.code == .tableRejected)
    }

    @Test func `an old version's edit of a row that was deleted makes the same text everywhere`() throws {
        let old = try Machine(1, Self.asRegister)
        try old.write("INSERT INTO page (id, title, body) VALUES (?, 't', 'one')", [key(1)])
        let (deleting, keeping) = (try Machine(2, TextStore.page), try Machine(3, TextStore.page))
        for machine in [deleting, keeping] { try machine.receive(from: old) }
        try deleting.write("DELETE FROM page")
        // All columns: the row travels whole.
        try old.write("UPDATE page SET title = 'u', body = 'two'")
        for machine in [deleting, keeping] { try machine.receive(from: old) }
        try deleting.receive(from: keeping)
        try keeping.receive(from: deleting)
        #expect(try deleting.body() == keeping.body())
        #expect(try deleting.store.digest() == keeping.store.digest())
        #expect(try deleting.store.verify().problems == [])
    }
}
