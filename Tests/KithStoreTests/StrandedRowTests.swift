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
}
