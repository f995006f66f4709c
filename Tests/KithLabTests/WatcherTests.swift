import KithCausality
import Testing

@testable import KithLab

@Suite("Looks at stores tell who wrote what and when it arrived")
struct WatcherTests {
    private func look(_ node: Int, _ sequences: Int...) -> StoreLook {
        let dots = sequences.enumerated().filter { $0.element > 0 }.map { Dot(replica: replica($0.offset), sequence: UInt64($0.element)) }
        return StoreLook(replica: replica(node), vector: VersionVector(dots))
    }

    private func replica(_ node: Int) -> ReplicaID { ReplicaID(high: 7, low: UInt64(node)) }

    @Test func `commits and arrivals are seen once each`() {
        var watcher = Watcher(nodes: 2)
        watcher.take([look(0, 2, 0), look(1, 0, 0)], at: 10)
        #expect(!watcher.isConverged)
        watcher.take([look(0, 2, 0), look(1, 2, 0)], at: 20)
        watcher.take([look(0, 2, 0), look(1, 2, 0)], at: 30)
        #expect(watcher.isConverged)
        #expect(watcher.commits.map(\.dot.sequence) == [1, 2])
        #expect(watcher.commits.map(\.atMilliseconds) == [10, 10])
        #expect(watcher.arrivals.map(\.atMilliseconds) == [20, 20])
        #expect(watcher.arrivals.allSatisfy { $0.node == 1 && !$0.isMerge })
    }

    @Test func `what meets writes that its author did not know is a merge`() {
        var watcher = Watcher(nodes: 2)
        watcher.take([look(0, 1, 0), look(1, 0, 1)], at: 10)
        watcher.take([look(0, 1, 1), look(1, 1, 1)], at: 20)
        #expect(watcher.arrivals.map(\.isMerge) == [true, true])
    }

    @Test func `what comes back to a refilled store is no news`() {
        var watcher = Watcher(nodes: 2)
        watcher.take([look(0, 2, 1), look(1, 2, 1)], at: 10)
        let (commits, arrivals) = (watcher.commits.count, watcher.arrivals.count)
        // The second node has a new identity, and gets all again, what it wrote itself included.
        let refilled = Dot(replica: replica(2), sequence: 1)
        watcher.take([look(0, 2, 1), StoreLook(replica: nil, vector: VersionVector())], at: 20)
        watcher.take([look(0, 2, 1), StoreLook(replica: replica(2), vector: look(0, 2, 1).vector.joined(with: .init([refilled])))], at: 30)
        #expect(watcher.commits.count == commits + 1 && watcher.commits.last?.dot == refilled)
        #expect(watcher.arrivals.count == arrivals)
    }

    @Test func `what its author lost before anybody had it is not waited for`() {
        var watcher = Watcher(nodes: 2)
        let (kept, gone) = (Dot(replica: replica(0), sequence: 1), Dot(replica: replica(1), sequence: 1))
        watcher.take([look(0, 1, 0), look(1, 1, 0)], at: 10)
        #expect(watcher.knowsAll([kept], perhapsGone: []))
        #expect(!watcher.knowsAll([kept, gone], perhapsGone: [kept]))
        #expect(watcher.knowsAll([kept, gone], perhapsGone: [kept, gone]))
        watcher.take([look(0, 1, 1), look(1, 1, 0)], at: 20)
        #expect(!watcher.knowsAll([kept, gone], perhapsGone: [kept, gone]))
    }

    @Test func `a store that cannot be read right now is read later`() {
        var watcher = Watcher(nodes: 2)
        watcher.take([look(0, 1, 0), nil], at: 10)
        watcher.take([nil, look(1, 1, 0)], at: 20)
        watcher.take([look(0, 3, 0), nil], at: 30)
        #expect(watcher.commits.count == 3)
        #expect(watcher.arrivals.count == 1)
    }
}
