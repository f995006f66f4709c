import Foundation
import GRDB
import KithCausality
import KithStore
import KithSync
import TestSupport
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

    @Test func `what an old version saves again and again stands once in the text of those that have the new one`() throws {
        let old = try Machine(1, Self.asRegister)
        try old.write("INSERT INTO page (id, title, body) VALUES (?, 't', 'Milk')", [key(1)])
        let (phone, tablet) = (try Machine(2, TextStore.page), try Machine(3, TextStore.page))
        for machine in [phone, tablet] { try machine.receive(from: old) }
        for text in ["Milk, bread", "Milk, bread, eggs", "bread, eggs", "bread, eggs, honey"] {
            try old.write("UPDATE page SET body = ?", [text])
            for machine in [phone, tablet] { try machine.receive(from: old) }
            #expect(try phone.body() == text && tablet.body() == text)
            try phone.receive(from: tablet)
            try tablet.receive(from: phone)
            #expect(try phone.body() == text && tablet.body() == text)
            #expect(try phone.store.digest() == tablet.store.digest())
        }
        try old.write("UPDATE page SET body = NULL")
        try phone.receive(from: old)
        #expect(try phone.body() == nil)
        try tablet.receive(from: phone)
        #expect(try tablet.body() == nil)
        try old.write("UPDATE page SET body = 'anew'")
        for machine in [phone, tablet] { try machine.receive(from: old) }
        #expect(try phone.body() == "anew" && tablet.body() == "anew")
        #expect(try phone.store.verify().problems == [] && tablet.store.verify().problems == [])
    }

    @Test func `the commit that deletes what a save replaced reaches who is connected`() throws {
        let old = try Machine(1, Self.asRegister)
        try old.write("INSERT INTO page (id, title, body) VALUES (?, 't', 'Milk')", [key(1)])
        let phone = try Machine(2, TextStore.page)
        try phone.receive(from: old)
        try old.write("UPDATE page SET body = 'Bread'")
        let sessions = try SessionPair(old.store, phone.store)
        try sessions.wait(seconds: 5)
        #expect(try phone.body() == "Bread")
        #expect(try old.store.vector() == phone.store.vector() && phone.store.vector()[ReplicaID(high: 0, low: 2)] == 1)
    }

    @Test func `what was typed with the new version stays when an old one saves`() throws {
        let old = try Machine(1, Self.asRegister)
        try old.write("INSERT INTO page (id, title, body) VALUES (?, 't', 'Milk')", [key(1)])
        let phone = try Machine(2, TextStore.page)
        try phone.receive(from: old)
        try phone.write("UPDATE page SET body = 'Milk and honey'")
        try old.write("UPDATE page SET body = 'Milk, bread'")
        try phone.receive(from: old)
        #expect(try phone.body().map { Set([" and honeyMilk, bread", "Milk, bread and honey"]).contains($0) } == true)
        // Written with the new version, and never seen by the old one.
        try phone.write("INSERT INTO page (id, title, body) VALUES (?, 't', 'not seen')", [key(2)])
        try old.receive(from: phone)
        #expect(try old.body(2) == nil)
        try old.write("UPDATE page SET body = 'seen' WHERE id = ?", [key(2)])
        try phone.receive(from: old)
        let both = try phone.body(2) ?? ""
        #expect(both.contains("not seen") && both.count == "not seen".count + "seen".count)
        #expect(try phone.store.verify().problems == [])
    }

    @Test func `of what two old versions save in turn the text keeps what one of them has taken out`() throws {
        let (a, b) = (try Machine(1, Self.asRegister), try Machine(2, Self.asRegister))
        try a.write("INSERT INTO page (id, title, body) VALUES (?, 't', 'Milk')", [key(1)])
        try b.receive(from: a)
        let phone = try Machine(3, TextStore.page)
        try phone.receive(from: a)
        try b.write("UPDATE page SET body = 'Milk, bread'")
        try phone.receive(from: b)
        #expect(try phone.body() == "Milk, bread")
        try a.receive(from: b)
        try a.write("UPDATE page SET body = 'bread'")
        try phone.receive(from: a)
        let both = try phone.body() ?? ""
        #expect(both.contains("Milk, bread") && both.count == "Milk, bread".count + "bread".count)
        #expect(try phone.store.verify().problems == [])
    }

    @Test func `machines of both versions come to the same text, and nothing typed with the new version is lost`() throws {
        for seed in Soak.firstSeed..<Soak.firstSeed + UInt64(Soak.count(8, soaking: 400)) {
            var random = SplitMix64(seed: seed)
            var machines = try (1...4).map { try Machine($0, $0 < 3 ? Self.asRegister : TextStore.page) }
            var old: Set = [0, 1]
            var typed: [String] = []
            for step in 1...30 {
                let (machine, other) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<4, using: &random))
                if Int.random(in: 0..<3, using: &random) > 0 {
                    if machine != other {
                        _ = try machines[machine].store.apply(machines[other].store.delta(since: machines[machine].store.vector()))
                    }
                    continue
                }
                if Int.random(in: 0..<12, using: &random) == 0, old.remove(machine) != nil { try machines[machine].upgrade() }
                let text = "[\(step)]"
                if !old.contains(machine) { typed.append(text) }
                try machines[machine].write(
                    "INSERT INTO page (id, title, body) VALUES (?1, 't', ?2) ON CONFLICT DO UPDATE SET body = coalesce(body, '') || ?2",
                    [key(1), text])
            }
            for machine in old { try machines[machine].upgrade() }
            for _ in 1...3 {
                for (first, second) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
                    let sessions = try SessionPair(machines[first].store, machines[second].store)
                    try sessions.wait(seconds: 60)
                    #expect(sessions.closings.isEmpty, "seed \(seed)")
                }
            }
            let bodies = try machines.map { try $0.body() ?? "" }
            #expect(Set(bodies).count == 1, "seed \(seed): \(bodies)")
            #expect(try Set(machines.map { try $0.store.digest() }).count == 1, "seed \(seed)")
            for text in typed { #expect(bodies[0].contains(text), "seed \(seed): \(text) in \(bodies[0])") }
            for machine in machines { #expect(try machine.store.verify().problems == [], "seed \(seed)") }
        }
    }
}
