import GRDB
import KithCausality
import KithStore
import KithSync
import Testing

@Suite("A large exchange goes on without a word, or says something wrong")
struct ProgressTests {
    @Test("both sides tell rows, bytes and the total, which is right for a new store")
    func bothSides() throws {
        let (first, second) = (try TestStore(), try TestStore())
        try DigestTests.fill(first, 1...6_500)
        let sessions = try SessionPair(first.store, second.store)
        #expect(try second.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 6_500)
        for progresses in [sessions.sending[0], sessions.receiving[1]] {
            #expect(progresses.contains { $0.rows == 2_000 } && progresses.contains { $0.rows == 6_000 })
            #expect(progresses.allSatisfy { $0.rowsTotal == 6_500 })
            #expect(zip(progresses, progresses.dropFirst()).allSatisfy { $0.rows <= $1.rows && $0.bytes <= $1.bytes })
            #expect(progresses.allSatisfy { $0.bytes > 10 * $0.rows })
        }
        #expect(sessions.statuses.allSatisfy { $0?.sending == nil && $0?.receiving == nil && $0?.isInSync == true })
    }
    @Test("a part of a catch-up that comes when all of it has come another way is not the beginning of one")
    func lateSlice() throws {
        let (first, second) = (try TestStore(), try TestStore())
        try DigestTests.fill(first, 1...3)
        let late = try first.store.slice(SliceRequest(since: VersionVector()), limits: SliceLimits(rowsMax: 2))
        #expect(!late.isLast)
        try second.receive(from: first)
        _ = try second.store.apply(late)
        #expect(try second.store.summary().resumption == nil)
        try second.expectSound()
        // One that brings more is.
        try DigestTests.fill(first, 4...6)
        _ = try second.store.apply(first.store.slice(SliceRequest(since: second.store.vector()), limits: SliceLimits(rowsMax: 2)))
        #expect(try second.store.summary().resumption != nil)
    }
}
