import GRDB
import Testing

@testable import KithTesting

/// Risk: an app goes on showing what is there no more, because nobody told it.
@Suite struct LiveQueryTests {
    private static func violation(_ script: String, sabotage: (Simulation) throws -> Void) throws -> Violation? {
        let simulation = try Simulation(Script(parsing: script), Workload(.standard))
        defer { simulation.stop() }
        do {
            try sabotage(simulation)
            try simulation.run()
            return nil
        } catch {
            return error as? Violation
        }
    }

    private static let script = """
        nodes 2
        A: insert note 1 title='one'
        sync A B
        A: update note 1 title='two'
        """

    @Test func `live queries show what is there, on who writes and on who receives`() throws {
        let report = try KithSimulator.standard.run(Script(parsing: Self.script))
        #expect(report.violation == nil)
        #expect(report.statistics.liveQueriesChecked > 20)
    }

    @Test(arguments: [0, 1]) func `an observer that is not told is found out`(node: Int) throws {
        let broken = try Self.violation(Self.script) { simulation in
            for probe in simulation.nodes[node].probes { simulation.nodes[node].database.remove(transactionObserver: probe) }
            try simulation.checkLiveQueries(simulation.nodes[node])
        }
        #expect(broken?.rule == .wrongObservation, "\(String(describing: broken))")
    }

    @Test(
        arguments: [
            "A: insert note 1 title='one'\nA: resolve note 1 title='two'",
            "A: insert page 1 body='一丁'\nA: open page 1 body=72203\nA: save page 1 body=72203",
        ])
    func `who observes a table is told when somebody resolves a value or saves a text by version`(steps: String) throws {
        #expect(try KithSimulator.standard.run(Script(parsing: "nodes 1\n" + steps)).violation == nil)
    }

    @Test func `a table that changes behind the back of those who observe it is found out at the end`() throws {
        let broken = try Self.violation("nodes 1\nA: insert note 1 title='one'\nwait 10") { simulation in
            simulation.nodes[0].database.add(transactionObserver: Meddler(simulation.nodes[0].probes[0]), extent: .databaseLifetime)
        }
        #expect(broken?.rule == .wrongObservation, "\(String(describing: broken))")
    }

    /// Makes a probe forget what it was told.
    private final class Meddler: TransactionObserver {
        private let probe: ObservationProbe

        init(_ probe: ObservationProbe) { self.probe = probe }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidRollback(_ db: Database) {}
        func databaseDidCommit(_ db: Database) { _ = probe.takeNews() }
    }
}
