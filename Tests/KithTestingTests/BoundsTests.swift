import GRDB
import KithCausality
import KithSync
import Testing

@testable import KithTesting

/// Risk: something grows that nobody bounds, until a machine that runs for years is full of it.
@Suite struct BoundsTests {
    private static let workload = Result { try Workload(.standard) }

    @Test(
        arguments: [
            "INSERT INTO kith_context (vector) VALUES (x'00')",
            "INSERT INTO kith_text_aside (tbl, id, col, doc, replica, sequence, change) VALUES (1, x'00', 1, 0, 1, 1, x'00')",
            "INSERT INTO kith_text_portion (tbl, id, col, doc, number, count, span, changes) VALUES (1, x'00', 1, 0, 1, 1, x'00', x'00')",
            "INSERT INTO kith_text_turn (tbl, id, col, doc, parent, parent_sequence) VALUES (1, x'00', 1, 0, 0, 0)",
            "WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 9) "
                + "INSERT INTO kith_hidden (tbl, id, state, reason, since) SELECT 1, i, x'00', 1, 0 FROM n",
            "WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 99) INSERT INTO kith_dot SELECT 1, i, 1, i FROM n",
            "WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 99) INSERT INTO kith_waiting SELECT 1, i, 1, 1, i FROM n",
            "WITH n (i) AS (VALUES (7) UNION ALL SELECT i + 1 FROM n WHERE i < 99) INSERT INTO kith_clock_1 SELECT i, i, 1, 1, 1, 1, NULL, NULL FROM n",
        ])
    func `what waits for nothing, or is more than was written, is found out`(sql: String) throws {
        let simulation = try Simulation(
            Script(parsing: "nodes 2\nA: insert note 1 title='one'\nB: insert note 2 title='two'\nwait 5000"), Self.workload.get())
        defer { simulation.stop() }
        try simulation.run()
        try simulation.nodes[1].database.write { db in try db.execute(sql: sql) }
        let broken = #expect(throws: Violation.self) { try simulation.checkSizes() }
        #expect(broken?.rule == .storeTooLarge)
    }

    @Test func `a slice is known for one`() throws {
        let simulation = try Simulation(Script(parsing: "A: insert note 1 title='one'"), Self.workload.get())
        defer { simulation.stop() }
        try simulation.run()
        let slice = try #require(simulation.nodes[0].store).delta(since: VersionVector())
        #expect(!slice.rows.isEmpty && SliceWindow.isSlice(FrameCodec.encode(.slice(slice, alsoSentTo: []))))
    }

    @Test func `a window is full at its limit, and too large one past it, until the other side answers`() {
        var window = SliceWindow()
        let slice: [UInt8] = [2, 0, 0]
        for _ in 0..<WireLimits.slicesInFlightMax {
            window.sent(slice)
            #expect(window.isBounded)
        }
        window.sent(slice)
        #expect(!window.isBounded)
        window.received(FrameCodec.encode(.acknowledge(Acknowledgement(slices: 1, durable: VersionVector()))))
        #expect(window.isBounded && window.slices == WireLimits.slicesInFlightMax)
        window.received(FrameCodec.encode(.want(Want(slices: 4, since: VersionVector(), resumption: nil))))
        #expect(window.slices == 1)
        var large = SliceWindow()
        large.sent([UInt8](repeating: 2, count: WireLimits.sliceBytesInFlightMax + 1))
        #expect(large.isBounded)
        large.sent(slice)
        #expect(!large.isBounded)
    }
}
