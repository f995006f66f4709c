import Testing

@testable import KithTesting

/// Risk: a machine that was revoked goes on bringing in what its user writes, and the simulator takes it for what members had before.
@Suite struct RevocationTests {
    private static func simulation(_ script: String) throws -> Simulation {
        try Simulation(Script(parsing: script), Workload(.standard))
    }

    /// What a run says is broken.
    private func violation(_ simulation: Simulation, _ body: () throws -> Void) -> Violation? {
        defer { simulation.stop() }
        do {
            try body()
            return nil
        } catch {
            return error as? Violation
        }
    }

    private static let revoked = """
        nodes 3
        A: insert note 1 title='kept'
        C: insert note 2 title='before'
        sync A B
        sync B C
        revoke C
        wait 30000
        C: insert note 3 title='after'
        """

    @Test func `what members had taken stays, and what the revoked machine writes afterwards is known to nobody`() throws {
        let simulation = try Self.simulation(Self.revoked)
        #expect(violation(simulation) { try simulation.run() } == nil)
        #expect(simulation.statistics.commitsLost == 1)
    }

    @Test func `a member that has heard of it and connects all the same is found out`() throws {
        let simulation = try Self.simulation(Self.revoked)
        let broken = violation(simulation) {
            let paired = simulation.household
            for step in simulation.script.steps { try simulation.perform(step) }
            // They hold what they held before.
            for node in simulation.nodes { node.household = paired?.share(of: node.index) }
            for node in simulation.nodes { simulation.dialAgain(node) }
            try simulation.runEvents(until: simulation.now + 30_000)
        }
        #expect(broken?.rule == .revokedContent, "\(String(describing: broken))")
    }

    @Test func `a commit of the revoked machine that gets in by another way is found out`() throws {
        let simulation = try Self.simulation(Self.revoked)
        let broken = violation(simulation) {
            for step in simulation.script.steps { try simulation.perform(step) }
            for probe in simulation.nodes[0].probes { probe.reset() }
            // Somebody carries what C has to A, past all connections.
            guard let carried = try simulation.nodes[2].store?.delta(since: simulation.nodes[0].summary.vector),
                case .applied(let summary)? = try simulation.nodes[0].store?.apply(carried)
            else { return }
            try simulation.checkApplied(carried, summary, simulation.nodes[0])
            try simulation.checkNothingRevoked(simulation.nodes[0])
        }
        #expect(broken?.rule == .revokedContent, "\(String(describing: broken))")
    }

    @Test func `a member that has not heard of it may take and pass on`() throws {
        let simulation = try Self.simulation(
            """
            seed 4
            nodes 4
            topology ring
            A: insert note 1 title='kept'
            wait 5000
            revoke D
            D: insert note 2 title='known to one'
            wait 30000
            D: insert note 3 title='known to none'
            """)
        #expect(violation(simulation) { try simulation.run() } == nil)
        #expect(simulation.statistics.commitsLost == 1)
    }
}
