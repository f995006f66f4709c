import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: in a group where everybody knows everybody, each commit costs the square of the members; or, saving that, one of
/// them never hears of it.
@Suite struct MeshTests {
    private func mesh(_ count: Int, seed: UInt64 = 1) -> VirtualNetwork {
        let network = VirtualNetwork(nodes: count, seed: seed)
        network.connectAll()
        network.run(forMilliseconds: 2_000)
        network.forgetCounts()
        return network
    }

    private func link(_ a: Int, _ b: Int, in network: VirtualNetwork) -> Int {
        network.links.firstIndex { $0.nodes == [min(a, b), max(a, b)] } ?? -1
    }

    @Test(arguments: [3, 8, 16]) func `a commit costs messages in proportion to the members`(count: Int) {
        let network = mesh(count)
        network.insert(0, row: 1)
        network.run(forMilliseconds: 10_000)
        #expect(network.hasConverged)
        let others = count - 1
        // One push each and nothing sent twice; one acknowledgement of the apply and one of the durability; one question and
        // answer along the ring of receivers; a digest and its answer from each to the next.
        let digests: UInt8 = 144
        #expect(
            network.framesSent == [2: others, 3: 2 * others, 5: others, 6: others, digests: 2 * others].filter { $0.value > 0 })
    }

    @Test(arguments: [3, 8, 16]) func `commits of all members at once cost messages in proportion to their number`(count: Int) {
        let network = mesh(count)
        for node in 0..<count { network.insert(node, row: UInt64(node)) }
        network.run(forMilliseconds: 10_000)
        #expect(network.hasConverged)
        #expect(network.framesSent.values.reduce(0, +) <= 8 * count * (count - 1))
    }

    @Test(arguments: [3, 4, 8], 0..<10) func `a member whom the author cannot reach hears of it from another`(count: Int, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let network = mesh(count, seed: seed)
        // All but one receiver are cut off from the author, who does not know.
        let reached = Int.random(in: 1..<count, using: &random)
        for node in 1..<count where node != reached { network.swallow(link(0, node, in: network), from: 0) }
        network.insert(0, row: 1)
        // Hop by hop: each takes the time that the ring waits, a question, its answer and a push.
        network.run(forMilliseconds: Int64(count - 1) * 2_000)
        #expect(network.hasConverged)
    }

    @Test(arguments: 0..<20) func `a member hears of it even if those who should ask cannot`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let network = mesh(5, seed: seed)
        // The author reaches some; of the other connections, random ones swallow everything, but the rest still joins all.
        let lost = Int.random(in: 1..<5, using: &random)
        let helper = (1..<5).filter { $0 != lost }.randomElement(using: &random) ?? 0
        for node in 0..<5 where node != lost && node != helper {
            let link = link(node, lost, in: network)
            for side in 0...1 { network.swallow(link, from: side) }
        }
        network.insert(0, row: 1)
        network.run(forMilliseconds: 35_000)
        #expect(network.nodes[lost].store.isVisible(RowID(high: 0, low: 1)))
    }

    @Test func `an author that vanishes in the middle of its pushes leaves nobody behind`() {
        let network = mesh(6)
        for node in 2..<6 { network.swallow(link(0, node, in: network), from: 0) }
        network.insert(0, row: 1)
        network.run(forMilliseconds: 100)
        for node in 1..<6 { network.cut(link(0, node, in: network), reconnects: false) }
        network.run(forMilliseconds: 10_000)
        for node in 1..<6 { #expect(network.nodes[node].store.isVisible(RowID(high: 0, low: 1))) }
    }
}
