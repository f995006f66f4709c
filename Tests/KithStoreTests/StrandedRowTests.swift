import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("Rows of a catch-up whose sender never comes back stay on one machine")
struct StrandedRowTests {
    private func count(_ store: TestStore) throws -> Int? {
        try store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") }
    }

    @Test func `they go on to everybody, from each who has them, and are forgotten as a case when the rest arrives`() throws {
        let (lost, second, third, fourth) = (try TestStore(), try TestStore(), try TestStore(), try TestStore())
        try DigestTests.fill(lost, 1...10)
        let slice = try lost.store.slice(SliceRequest(since: VersionVector()), limits: SliceLimits(rowsMax: 4))
        _ = try second.store.apply(slice)
        #expect(try second.store.ahead() == lost.store.vector())

        // Their vectors are equal: nobody lacks anything, but for the four.
        _ = try SessionPair(second.store, third.store)
        #expect(try count(third) == 4)
        #expect(try third.store.vector().isEmpty)
        try third.execute("UPDATE note SET title = 'edited' WHERE id = (SELECT min(id) FROM note)")
        _ = try SessionPair(fourth.store, third.store)
        #expect(try count(fourth) == 4)
        #expect(try fourth.database.read { try String.fetchAll($0, sql: "SELECT title FROM note WHERE title = 'edited'") }.count == 1)
        for store in [second, third, fourth] { #expect(try store.store.verify().problems == []) }

        // Had it been lost only for a while, all ends as it would have without the break.
        for store in [second, third, fourth] { _ = try SessionPair(lost.store, store.store) }
        for store in [second, third] { _ = try SessionPair(store.store, fourth.store) }
        let digest = try fourth.store.digest()
        for store in [lost, second, third, fourth] {
            _ = try SessionPair(store.store, fourth.store)
            #expect(try count(store) == 10)
            #expect(try store.store.ahead().isEmpty)
            #expect(try store.store.digest() == digest)
        }
        #expect(digest != nil)
    }

    @Test func `however many things a member says that its rows know, each is forgotten once all are covered`() throws {
        let (lost, second, third) = (try TestStore(), try TestStore(), try TestStore())
        for note in 1...120 { try DigestTests.fill(lost, note...note) }
        let all = try lost.store.vector()
        let replica = try lost.store.summary().replica
        func send(_ rows: Range<Int>) throws {
            var slice = try lost.store.slice(SliceRequest(since: VersionVector()), limits: SliceLimits(rowsMax: rows.upperBound))
            slice.rows.removeFirst(rows.lowerBound)
            slice.vector = try second.store.vector()
            for index in slice.rows.indices {
                slice.rows[index].state.context = VersionVector([Dot(replica: replica, sequence: UInt64(rows.lowerBound + index + 1))])
            }
            _ = try second.store.apply(slice)
        }
        func kept() throws -> Int? {
            try second.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kith_context") }
        }
        for rows in [0..<40, 40..<90, 90..<100] { try send(rows) }
        #expect(try kept() == 100)
        #expect(try second.store.ahead() == VersionVector([Dot(replica: replica, sequence: 100)]))
        #expect(try second.store.verify().problems == [])
        _ = try SessionPair(second.store, third.store)
        #expect(try count(third) == 100)

        try lost.execute("UPDATE note SET title = 'last' WHERE id = (SELECT min(id) FROM note)")
        _ = try SessionPair(lost.store, second.store)
        #expect(try kept() == 0 && second.store.ahead().isEmpty)
        #expect(try second.store.vector().covers(all))
        _ = try SessionPair(second.store, third.store)
        #expect(try third.store.digest() == lost.store.digest())
        #expect(
            try second.database.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM kith_meta WHERE name LIKE 'ahead%' OR name LIKE 'contexts%'")
            } == 0)
    }

    @Test func `of many things that rows know, those that are covered go when there are twice as many`() throws {
        let (lost, second) = (try TestStore(), try TestStore())
        for note in 1...200 { try DigestTests.fill(lost, note...note) }
        let replica = try lost.store.summary().replica
        let whole = try lost.store.slice(SliceRequest(since: VersionVector()), limits: SliceLimits(rowsMax: 199))
        func send(_ rows: Range<Int>, first: UInt64) throws {
            var slice = whole
            slice.rows = Array(slice.rows[rows])
            slice.vector = try second.store.vector()
            for index in slice.rows.indices {
                slice.rows[index].state.context = VersionVector([Dot(replica: replica, sequence: first + UInt64(index))])
            }
            _ = try second.store.apply(slice)
        }
        func kept() throws -> Int? {
            try second.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kith_context") }
        }
        // Of these, the first are covered as soon as all is there that the lost one has; the others are lies.
        try send(0..<100, first: 150)
        #expect(try kept() == 100)
        for _ in 0..<2 { _ = try SessionPair(lost.store, second.store) }
        #expect(try kept() == 49)
        try send(100..<199, first: 5_000)
        try lost.execute("UPDATE note SET title = 'last' WHERE id = (SELECT min(id) FROM note)")
        _ = try SessionPair(lost.store, second.store)
        #expect(try kept() == 49 + 99 - 1)
    }
}
