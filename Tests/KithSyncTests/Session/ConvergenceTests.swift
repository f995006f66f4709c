import Foundation
import KithCausality
import KithSync
import TestSupport
import Testing

/// Risk: something that was committed does not reach everybody, or reaches them as something else.
@Suite struct ConvergenceTests {
    private static let seeds: Range<UInt64> = 0..<UInt64(Soak.count(40, soaking: 5_000))

    @Test(arguments: seeds) func `random commits, delays and cuts end with the same at every node and no write lost`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let count = Int.random(in: 2...4, using: &random)
        let network = VirtualNetwork(nodes: count, seed: seed)
        network.delayMilliseconds = 1...(.random(in: 1...400, using: &random))
        network.storeDelayMilliseconds = 1...(.random(in: 1...100, using: &random))
        // Half of them say what they know as stores do that know thousands of replicas.
        network.configuration.headsSpelledMax = seed.isMultiple(of: 2) ? 8 : 0
        var ledger = WriteLedger()
        for node in 0..<count {
            network.edit(node) {
                $0.store.sliceRowsMax = .random(in: 1...4, using: &random)
                $0.wallClockSkewMilliseconds = [0, 50, -50, 1_000_000].randomElement(using: &random) ?? 0
            }
        }
        network.connectAll()
        for _ in 0..<Int.random(in: 10...50, using: &random) {
            network.run(forMilliseconds: .random(in: 0...600, using: &random))
            if Int.random(in: 0..<4, using: &random) > 0 {
                let node = Int.random(in: 0..<count, using: &random)
                let before = network.nodes[node].store
                network.commit(node, Operation.random(rowCount: 8, isVisible: before.isVisible, using: &random))
                ledger.note(from: before, to: network.nodes[node].store)
            } else {
                let link = Int.random(in: network.links.indices, using: &random)
                if Bool.random(using: &random) { network.cut(link, reconnects: Bool.random(using: &random)) } else { network.dial(link) }
            }
        }
        for link in network.links.indices { network.dial(link) }
        network.run(forMilliseconds: 60_000)
        #expect(network.hasConverged)
        #expect(ledger.survivors == WriteLedger.kept(in: network.nodes[0].store))
        #expect(network.closings.isEmpty)
        #expect(!network.nodes.contains { $0.store.rows.values.contains { !$0.context.isEmpty } })
        for link in network.links.indices {
            #expect(network.status(link, 0)?.isInSync == true)
            #expect(network.status(link, 0)?.durable == network.nodes[0].store.vector)
        }
    }

    @Test func `the same seed gives the same trace`() {
        func trace() -> [String] {
            var random = SplitMix64(seed: 9)
            let network = VirtualNetwork(nodes: 3, seed: 9)
            network.connectAll()
            for step in 0..<30 {
                network.run(forMilliseconds: 50)
                let node = Int.random(in: 0..<3, using: &random)
                network.commit(node, Operation.random(rowCount: 8, isVisible: network.nodes[node].store.isVisible, using: &random))
                if step % 10 == 9 { network.cut(step % 3, reconnects: true) }
            }
            network.run(forMilliseconds: 60_000)
            return network.framesSent.sorted { $0.key < $1.key }.map { "\($0)" } + network.nodes.map { "\($0.store.summary)" }
        }
        #expect(trace() == trace())
    }

    @Test func `a commit passes through a node in the middle, in both directions`() {
        let network = VirtualNetwork(nodes: 3, seed: 1)
        network.connect(0, 1)
        network.connect(1, 2)
        network.run(forMilliseconds: 1_000)
        network.insert(0, row: 1)
        network.insert(2, row: 2)
        network.run(forMilliseconds: 1_000)
        #expect(network.hasConverged)
        #expect(network.nodes[2].store.isVisible(RowID(high: 0, low: 1)))
        #expect(network.nodes[0].store.isVisible(RowID(high: 0, low: 2)))
    }

    @Test func `equal stores exchange two hellos, two digests, and nothing else`() {
        let network = VirtualNetwork(nodes: 2, seed: 1)
        network.insert(0, row: 1)
        let full = network.nodes[0].store
        network.edit(1) { $0.store.pull(from: full) }
        network.forgetCounts()
        network.connect(0, 1)
        network.run(forMilliseconds: 10_000)
        #expect(network.framesSent == [1: 2, 144: 2])
        #expect(network.status(0, 0)?.isInSync == true)
    }

    @Test func `nothing comes back to where it came from`() {
        let network = VirtualNetwork(nodes: 3, seed: 1)
        network.connect(0, 1)
        network.connect(1, 2)
        network.run(forMilliseconds: 1_000)
        network.forgetCounts()
        network.insert(0, row: 1)
        network.run(forMilliseconds: 10_000)
        // One slice per hop.
        #expect(network.framesSent[2] == 2)
        #expect(network.rowsSent == 2)
    }

    @Test func `commits made while a push is under way travel together`() {
        let network = VirtualNetwork(nodes: 2, seed: 1)
        network.delayMilliseconds = 100...100
        network.connect(0, 1)
        network.run(forMilliseconds: 1_000)
        network.edit(0) { $0.store.sliceRowsMax = 2_000 }
        network.forgetCounts()
        for row in 0..<50 as Range<UInt64> {
            network.insert(0, row: row)
            network.run(forMilliseconds: 2)
        }
        network.run(forMilliseconds: 5_000)
        #expect(network.hasConverged)
        #expect(network.framesSent[2] == 2)
        #expect(network.rowsSent == 50)
    }

    @Test func `a delta without rows still moves the vector`() {
        let network = VirtualNetwork(nodes: 2, seed: 1)
        network.connect(0, 1)
        network.run(forMilliseconds: 1_000)
        network.commit(0, [])
        network.run(forMilliseconds: 1_000)
        #expect(network.hasConverged)
        #expect(network.nodes[1].store.vector[network.nodes[0].store.replica] == 1)
    }

    @Test func `a catch-up that breaks off is resumed where it was, also with another peer`() {
        for resumesWithOther in [false, true] {
            let network = VirtualNetwork(nodes: 3, seed: 1)
            for row in 0..<300 as Range<UInt64> { network.insert(0, row: row) }
            let full = network.nodes[0].store
            network.edit(1) { $0.store.pull(from: full) }
            for node in 0...1 { network.edit(node) { $0.store.sliceRowsMax = 10 } }
            let direct = network.connect(0, 2)
            while network.nodes[2].store.rows.count < 150 { network.run(forMilliseconds: 5) }
            let before = network.nodes[2].store
            #expect(before.resumption != nil)
            #expect(before.vector.isEmpty)
            network.cut(direct, reconnects: false)
            network.forgetCounts()
            if resumesWithOther { network.connect(1, 2) } else { network.dial(direct) }
            network.run(forMilliseconds: 30_000)
            #expect(network.nodes[2].store.rows == network.nodes[0].store.rows)
            #expect(network.rowsSent == 300 - before.rows.count)
        }
    }

    @Test func `both directions catch up at once`() {
        let network = VirtualNetwork(nodes: 2, seed: 1)
        for row in 0..<100 as Range<UInt64> {
            network.insert(0, row: row)
            network.insert(1, row: 1_000 + row)
        }
        network.connect(0, 1)
        network.run(forMilliseconds: 200)
        for side in 0...1 { #expect((network.status(0, side)?.rowsReceived ?? 0) > 0) }
        network.run(forMilliseconds: 20_000)
        #expect(network.hasConverged)
    }

    @Test func `progress counts rows until none are left`() {
        let network = VirtualNetwork(nodes: 2, seed: 1)
        for row in 0..<30 as Range<UInt64> { network.insert(0, row: row) }
        network.connect(0, 1)
        while (network.status(0, 1)?.rowsReceived ?? 0) < 9 { network.run(forMilliseconds: 1) }
        #expect((network.status(0, 1)?.rowsToReceive ?? 0) > 0)
        #expect((network.status(0, 0)?.rowsToSend ?? 0) > 0)
        network.run(forMilliseconds: 5_000)
        #expect(network.status(0, 1)?.rowsReceived == 30)
        #expect(network.status(0, 0)?.rowsSent == 30)
        #expect(network.status(0, 1)?.rowsToReceive == 0)
        #expect(network.status(0, 0)?.rowsToSend == 0)
    }
}
