import KithCausality
import Testing

@testable import KithSync

/// The risk: a peer that was promised something is left without it for ever, because promises never stop coming; or it is sent what is on its way.
@Suite struct RecentPromisesTests {
    private func vector(_ sequence: UInt64) -> VersionVector {
        VersionVector([Dot(replica: ReplicaID(high: 1, low: 1), sequence: sequence)])
    }

    @Test func `a promise is due after half to all of the time, however many others are made`() {
        var promises = RecentPromises()
        for step in 0..<100 {
            let now = Instant(milliseconds: Int64(step) * 100)
            promises.add(vector(UInt64(step + 1)), now, dueAfterMilliseconds: 1_000)
            let due = promises.due(now)
            if step >= 10 { #expect(due.covers(vector(UInt64(step - 9))), "promised 1,000 ms ago") }
            if step >= 4 { #expect(!due.covers(vector(UInt64(step - 3))), "promised 400 ms ago") }
        }
    }

    @Test func `a single promise is due at the end, and not before the half`() {
        var promises = RecentPromises()
        promises.add(vector(1), Instant(milliseconds: 50_000), dueAfterMilliseconds: 1_000)
        #expect(promises.due(Instant(milliseconds: 50_499)) == VersionVector())
        #expect(promises.due(Instant(milliseconds: 51_000)) == vector(1))
        promises.add(vector(2), Instant(milliseconds: 90_000), dueAfterMilliseconds: 1_000)
        #expect(promises.due(Instant(milliseconds: 90_400)) == vector(1))
        #expect(promises.due(Instant(milliseconds: 200_000)) == vector(2))
    }
}
