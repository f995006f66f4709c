import Testing

@testable import KithLab

@Suite("A commit is drawn on a way that was not open")
struct RouteTests {
    /// `to<from`, in the order of the hops, with the times at which it was there, could go on, and arrived.
    private func hops(
        _ arrivals: [(node: Int, at: Int64)], _ connections: [(first: Int, second: Int, from: Int64, until: Int64)]
    ) -> [String] {
        let commit = LabRecord.Commit(
            atMilliseconds: 5_000, node: 0, sequence: 1,
            arrivals: arrivals.map { .init(atMilliseconds: $0.at, node: $0.node, isMerge: false) })
        let route = Route(
            of: commit,
            over: connections.map { .init(first: $0.first, second: $0.second, fromMilliseconds: $0.from, untilMilliseconds: $0.until) })
        return route.hops.map {
            "\($0.to)<\($0.from) \($0.heldFromMilliseconds) \($0.openFromMilliseconds) \($0.arrivedMilliseconds)\($0.isOpen ? "" : " ?")"
        }
    }

    @Test func `in a chain it goes from hand to hand`() {
        let chain: [(Int, Int, Int64, Int64)] = [(0, 1, 0, 90_000), (1, 2, 0, 90_000), (2, 3, 0, 90_000)]
        #expect(
            hops([(3, 5_090), (1, 5_030), (2, 5_060)], chain)
                == ["1<0 5000 5000 5030", "2<1 5030 5030 5060", "3<2 5060 5060 5090"])
        // Within one look.
        #expect(
            hops([(2, 5_030), (3, 5_030), (1, 5_030)], chain)
                == ["1<0 5000 5000 5030", "2<1 5030 5030 5030", "3<2 5030 5030 5030"])
    }

    @Test func `it comes from the author if that is connected`() {
        let mesh: [(Int, Int, Int64, Int64)] = [(0, 1, 0, 90_000), (0, 2, 0, 90_000), (1, 2, 0, 90_000)]
        #expect(hops([(1, 5_030), (2, 5_060)], mesh) == ["1<0 5000 5000 5030", "2<0 5000 5000 5060"])
    }

    @Test func `it waits until there is a way`() {
        let away: [(Int, Int, Int64, Int64)] = [(0, 1, 0, 90_000), (1, 2, 40_000, 90_000), (0, 2, 60_000, 90_000)]
        #expect(hops([(1, 5_030), (2, 40_100)], away) == ["1<0 5000 5000 5030", "2<1 5030 40000 40100"])
    }

    @Test func `nobody passes on what it has later`() {
        let late: [(Int, Int, Int64, Int64)] = [(0, 1, 50_000, 90_000), (1, 2, 0, 90_000)]
        #expect(hops([(2, 20_000), (1, 50_100)], late) == ["1<0 5000 50000 50100", "2<0 5000 5000 20000 ?"])
    }

    @Test func `a connection may be told of somewhat later than it is used`() {
        #expect(hops([(1, 5_030)], [(0, 1, 6_000, 90_000)]) == ["1<0 5000 5030 5030"])
        #expect(hops([(1, 5_030)], [(0, 1, 6_031, 90_000)]) == ["1<0 5000 5000 5030 ?"])
        #expect(hops([(1, 5_030)], [(0, 1, 0, 4_030)]) == ["1<0 5000 5000 5030"])
        #expect(hops([(1, 5_030)], [(0, 1, 0, 4_029)]) == ["1<0 5000 5000 5030 ?"])
    }

    @Test func `every arrival has its hop`() {
        let hops = hops([(1, 5_030), (2, 5_030), (3, 5_030)], [])
        #expect(hops.count == 3)
        #expect(hops.allSatisfy { $0.contains("<0 ") && $0.hasSuffix("?") })
    }
}
