import KithCausality
import KithSync
import TestSupport
import Testing

@Suite("Peers do not notice that they differ, or a comparison never ends")
struct ComparisonTests {
    /// Two nodes with `count` rows each, connected and in step.
    private static func network(rows count: UInt64, seed: UInt64) -> VirtualNetwork {
        let network = VirtualNetwork(nodes: 2, seed: seed)
        for row in 0..<count { network.insert(0, row: row, x: Int64(row)) }
        network.edit(0) { $0.store.sliceRowsMax = 500 }
        network.connect(0, 1)
        network.run(forMilliseconds: 3_000)
        return network
    }

    private static func write(_ network: VirtualNetwork, _ node: Int, _ row: UInt64, _ value: Int64?) {
        network.edit(node) { node in
            let id = RowID(high: 0, low: row)
            guard let value, var state = node.store.rows[id], case .register(var register)? = state[ModelColumn.x] else {
                return node.store.overwrite(id, with: nil)
            }
            register.writes[0].value = .integer(value)
            state[ModelColumn.x] = .register(register)
            node.store.overwrite(id, with: state)
        }
    }

    @Test func `peers that hold the same say so, once a minute, and when something has changed`() {
        let network = Self.network(rows: 20, seed: 1)
        network.run(forMilliseconds: 55_000)
        #expect(network.framesSent[144] == 2)
        network.run(forMilliseconds: 60_000)
        #expect(network.framesSent[144] == 4 && network.framesSent[145] == nil)
        #expect((0...1).allSatisfy { network.status(0, $0)?.isIdentical == true })
        network.insert(1, row: 99)
        network.run(forMilliseconds: 40_000)
        #expect(network.framesSent[144] == 6)
        #expect(network.closings.isEmpty)
    }

    @Test(arguments: 0..<3)
    func `a row that was damaged is mended although nobody writes, and so with those who had agreed before`(damaged: Int) {
        let network = VirtualNetwork(nodes: 3, seed: 5)
        for row: UInt64 in 0..<20 { network.insert(0, row: row, x: Int64(row)) }
        for (left, right) in [(0, 1), (1, 2)] { network.connect(left, right) }
        network.run(forMilliseconds: 30_000)
        Self.write(network, damaged, 7, nil)
        network.run(forMilliseconds: 200_000)
        #expect(network.nodes.allSatisfy { $0.store.rows.count == 20 })
        #expect(network.hasConverged && network.closings.isEmpty)
    }

    /// Node 0 compares again and again with 1 alone, the next of its peers, and node 2 with 3.
    @Test func `a row that is mended with one peer is mended with those who had agreed without it`() {
        let network = VirtualNetwork(nodes: 4, seed: 5)
        for row: UInt64 in 0..<20 { network.insert(0, row: row, x: Int64(row)) }
        for (left, right) in [(0, 1), (0, 2), (2, 3)] { network.connect(left, right) }
        network.run(forMilliseconds: 30_000)
        for node in 0...2 { Self.write(network, node, 7, nil) }
        network.run(forMilliseconds: 200_000)
        #expect(network.nodes.allSatisfy { $0.store.rows.count == 20 })
        #expect(network.hasConverged && network.closings.isEmpty)
    }

    @Test(arguments: 0..<6) func `rows that differ are found among many, named, and mended on both sides`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let network = Self.network(rows: 300, seed: seed)
        var damaged: Set<UInt64> = []
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            let row = UInt64.random(in: 0..<300, using: &random)
            guard damaged.insert(row).inserted else { continue }
            Self.write(network, Int.random(in: 0...1, using: &random), row, Bool.random(using: &random) ? nil : -Int64(row) - 1)
        }
        // Something new, so that they compare again.
        network.insert(0, row: 1_000)
        network.run(forMilliseconds: 900_000)
        #expect(network.closings.isEmpty)
        #expect(network.hasConverged)
        #expect(network.nodes[0].store.rows.count == 301)
        for row in 0..<UInt64(300) {
            guard case .register(let x)? = network.nodes[1].store.rows[RowID(high: 0, low: row)]?[ModelColumn.x] else {
                Issue.record("row \(row) is gone")
                continue
            }
            #expect(x.writes.contains { $0.value == .integer(Int64(row)) }, "row \(row) has lost its value")
            #expect(damaged.contains(row) || x.writes.count == 1)
        }
        let named = (0...1).flatMap { network.status(0, $0)?.mended ?? [] }.map(\.row.low)
        #expect(!named.isEmpty && named.allSatisfy(damaged.contains))
        #expect((0...1).allSatisfy { network.status(0, $0)?.isIdentical == true })
    }

    @Test func `life goes on while rows are mended`() {
        let network = Self.network(rows: 300, seed: 3)
        for row: UInt64 in stride(from: 0, to: 300, by: 9) { Self.write(network, 1, row, -1) }
        for step in 0..<400 {
            let row = RowID(high: 0, low: UInt64(step * 7 % 300))
            network.commit(step % 2, [Operation(row: row, change: .set(column: ModelColumn.x, Int64(1_000 + step)))])
            network.run(forMilliseconds: 40)
        }
        network.run(forMilliseconds: 120_000)
        #expect(network.hasConverged)
        #expect(network.closings.isEmpty)
    }

    // MARK: A peer that lies

    private static let different = DigestSum(count: 1_000_000, value: 12_345)

    /// Plays a follower that always differs, in everything it is asked.
    private static func play(_ probe: inout SessionProbe, _ effects: [PeerSession.Effect], frames: inout Int) {
        var effects = effects
        var answers: [Frame] = []
        while !effects.isEmpty {
            for effect in effects {
                switch effect {
                case .digest(let task):
                    let result = probe.store.perform(task)
                    effects = probe.handle(.digest(result))
                    play(&probe, effects, frames: &frames)
                case .send(let bytes):
                    guard let frame = try? FrameCodec.decode(bytes) else { continue }
                    switch frame {
                    case .digest(let digest, _):
                        frames += 1
                        answers.append(.digest(StoreDigest(vector: digest.vector, rows: different), wantsAnswer: false))
                    case .digestQuestion(let vector, let range, let wantsRows):
                        frames += 1
                        answers.append(wantsRows ? .digestParts(vector, range, []) : .digestParts(vector, range, parts(of: range)))
                    default: break
                    }
                default: break
                }
            }
            effects = []
            if !answers.isEmpty { effects = probe.receive(answers.removeFirst()) }
        }
    }

    /// Cuts any range into two that are said to be full.
    private static func parts(of range: DigestRange) -> [DigestPart] {
        let table = ModelColumn.table.name
        let low = range.after?.row.low ?? 0
        let high = range.through?.row.low ?? .max
        guard high > low + 1 else { return [DigestPart(through: range.through, rows: different)] }
        let middle = SlicePosition(table: table, row: RowID(high: 0, low: low + (high - low) / 2))
        return [DigestPart(through: middle, rows: different), DigestPart(through: range.through, rows: different)]
    }

    @Test func `a peer that says it differs, wherever it is asked, costs a bounded number of questions`() {
        var probe = SessionProbe()
        probe.store.commit(now: 1 << 16, [Operation(row: RowID(high: 0, low: 5), change: .insert(x: 1, tags: [], count: 0))])
        var hello = probe.hello(probe.store.heads)
        hello.capabilities = .digest
        var frames = 0
        Self.play(&probe, probe.open(with: hello), frames: &frames)
        for _ in 0..<1_000 {
            let ping = Pulse(nonce: 1, wallClockMilliseconds: 0, vector: probe.store.vector, durable: VersionVector())
            Self.play(&probe, probe.receive(.ping(ping)), frames: &frames)
            Self.play(&probe, probe.wait(1_000), frames: &frames)
        }
        #expect(frames > 8)
        #expect(frames <= 8 * 257)
        #expect(probe.session.nextDeadline != nil, "the session goes on")
    }

    @Test func `a peer that asks without end, or asks again before it was answered, is sent away`() {
        for waits in [true, false] {
            var probe = SessionProbe { $0.group = Array("home".utf8) }
            probe.store.take(ReplicaID(high: 3, low: 0))
            probe.store.commit(now: 1 << 16, [Operation(row: RowID(high: 0, low: 5), change: .insert(x: 1, tags: [], count: 0))])
            var hello = probe.hello(probe.store.heads)
            hello.capabilities = .digest
            _ = probe.open(with: hello)
            var reason: CloseReason?
            var count = 0
            while reason == nil, count < 1_000 {
                count += 1
                let effects = probe.receive(.digestQuestion(probe.store.vector, DigestRange(), wantsRows: false))
                reason = effects.closeReason
                for case .digest(let task) in effects where waits { reason = probe.handle(.digest(probe.store.perform(task))).closeReason }
            }
            #expect(reason?.code == .protocolError)
            #expect(count == (waits ? 257 : 2))
        }
    }

    @Test func `a peer without the ability is never asked`() {
        var probe = SessionProbe()
        probe.store.commit(now: 1 << 16, [Operation(row: RowID(high: 0, low: 5), change: .insert(x: 1, tags: [], count: 0))])
        var effects = probe.open(with: probe.hello(probe.store.heads))
        for _ in 0..<60 { effects += probe.wait(500) }
        #expect(!effects.contains { if case .digest = $0 { true } else { false } })
    }
}
