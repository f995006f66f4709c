import KithTrust
import TestSupport
import Testing

@testable import KithTesting

/// Risk: what a member signs, cuts or repeats makes honest machines disagree about who is a member, or puts one out for good, and the simulator
/// does not see it.
@Suite struct HouseholdLieTests {
    private static func simulation(seed: UInt64) throws -> Simulation {
        try Simulation(
            Script(
                parsing: """
                    nodes 4
                    seed \(seed)
                    A: insert note 1 title='one'
                    C: insert note 2 title='two'
                    wait 5000
                    \(String(repeating: "lie-records A B\nlie-records B C\nA: update note 1 title='again'\nB: insert note 3\nwait 9000\n", count: 4))
                    C: update note 2 title='later'
                    """), Workload(.standard))
    }

    /// Runs the seeds, and hands each simulation over when it is done.
    private func run(_ seeds: Range<UInt64>, _ judge: (Simulation) -> Void) throws {
        for seed in seeds {
            let simulation = try Self.simulation(seed: seed)
            defer { simulation.stop() }
            do { try simulation.run() } catch let violation as Violation { Issue.record("seed \(seed): \(violation)") }
            judge(simulation)
        }
    }

    @Test func `whatever a member shows of the household, who has heard the same names the same members, and all come together`() throws {
        var (told, machinesOut) = (0, 0)
        try run(0..<UInt64(Soak.count(6, soaking: 12))) { simulation in
            told += simulation.statistics.faults[.forgery] ?? 0
            machinesOut += simulation.nodes.count(where: \.isRevoked)
            #expect(!simulation.statistics.isPoisoned)
        }
        #expect(told > Soak.count(20, soaking: 40))
        #expect(machinesOut > 0)
    }

    @Test func `a machine that was out for a while is back under another id, and all have what it wrote meanwhile`() throws {
        var machinesBack = 0
        try run(12..<12 + UInt64(Soak.count(6, soaking: 12))) { simulation in
            for node in simulation.members where simulation.household?.belonging.round(of: node.index) ?? 0 > 0 {
                machinesBack += 1
                #expect(node.household?.roundsEnded(of: node.authority.id) ?? 0 > 0)
                #expect(simulation.ledger.lostCount == 0 || simulation.members.count < 4)
            }
        }
        #expect(machinesBack > Soak.count(0, soaking: 1))
    }

    /// What is broken if `body` befalls a run in which A has revoked C.
    private func violation(_ body: (Simulation) throws -> Void) throws -> Violation.Rule? {
        let simulation = try Simulation(Script(parsing: "nodes 3\nA: insert note 1\nrevoke C\nwait 30000"), Workload(.standard))
        defer { simulation.stop() }
        do {
            for step in simulation.script.steps { try simulation.perform(step) }
            try simulation.checkHousehold()
            try body(simulation)
            try simulation.checkHousehold()
            return nil
        } catch let violation as Violation {
            return violation.rule
        }
    }

    @Test func `a member that forgets a revocation, or believes what nobody signed, is found out`() throws {
        #expect(try violation { _ in } == nil)
        #expect(
            try violation { simulation in
                simulation.nodes[0].household = try HouseholdCourse(seed: simulation.script.seed, nodeCount: 3).share(of: 0)
            } == .wrongMembers)
        #expect(
            try violation { simulation in
                simulation.household?.belonging.forge(simulation.nodes[1].household?.membership.records.suffix(1).map(\.id) ?? [])
            } == .wrongMembers)
    }
}
