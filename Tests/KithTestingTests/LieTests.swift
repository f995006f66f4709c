import KithStore
import KithTesting
import TestSupport
import Testing

/// Risk: after the first lie the simulator looks away, and anything may break behind it.
@Suite struct LieTests {
    private static func simulator(trigger: String = "") throws -> KithSimulator {
        var schema = SimulatedSchema(
            sql: """
                CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT);
                CREATE TABLE task (id BLOB PRIMARY KEY NOT NULL, label TEXT);
                \(trigger)
                """,
            tables: [TrackedTable("note"), TrackedTable("task")])
        schema.takesTriggersForFaults = true
        return try KithSimulator(schema)
    }

    /// Among the frames with which B hears of `note 1` some are lies.
    private static func lies(seed: UInt64) -> String {
        """
        nodes 3
        seed \(seed)
        A: insert task 1 label='true'
        sync A B
        sync B C
        wait 5000
        forge A B
        forge A B
        A: insert note 1 title='said'
        wait 5000
        A: update task 1 label='later'
        """
    }

    private static let trigger = """
        CREATE TRIGGER meddle AFTER UPDATE OF label ON task WHEN new.label = 'later'
            BEGIN UPDATE task SET label = 'meddled' WHERE id = new.id; END;
        """

    @Test func `rows that no lie was about are judged as before`() throws {
        var (poisoned, found) = (0, 0)
        let (simulator, meddling) = (try Self.simulator(), try Self.simulator(trigger: Self.trigger))
        for seed in 0..<12 as Range<UInt64> {
            let script = try Script(parsing: Self.lies(seed: seed))
            let honest = simulator.run(script)
            #expect(honest.violation == nil, "seed \(seed)")
            if !honest.statistics.isPoisoned { continue }
            poisoned += 1
            if meddling.run(script).violation?.rule == .wrongState { found += 1 }
        }
        #expect(poisoned > 4)
        #expect(2 * found > poisoned, "\(found) of \(poisoned)")
    }

    /// B tells C lies of every kind, of which some are refused and others are about rows of A.
    private static func deliberate(seed: UInt64) -> String {
        """
        nodes 3
        seed \(seed)
        topology chain
        A: insert note 1 title='one'; insert note 2 title='two'; insert task 1 label='three'
        C: insert note 3 title='four'
        sync A B
        sync B C
        \(String(repeating: "lie B C\nB: update task 1 label='again'\nwait 90000\n", count: 5))
        A: update note 1 title='later'
        """
    }

    @Test func `whatever a member makes up, what was shown stays shown or is in the trash, and nobody becomes another`() throws {
        var told = 0
        let simulator = try Self.simulator()
        for seed in 0..<8 as Range<UInt64> {
            let report = simulator.run(try Script(parsing: Self.deliberate(seed: seed)))
            #expect(report.violation == nil, "seed \(seed)")
            told += report.statistics.faults[.forgery] ?? 0
        }
        #expect(told > 20)
    }

    @Test func `some rows are in doubt after lies, others are judged, and everybody comes together`() throws {
        var simulator = try PromiseTests.simulator()
        simulator.faults = [.forgery]
        var (poisoned, inDoubt, checked) = (0, 0, 0)
        // Stores refuse most lies, which name commits that no machine has made. The last seed shows all; a long run tries the others, too.
        for seed in (0..<30 as Range<UInt64>).reversed() where Soak.isAsked || poisoned == 0 || inDoubt == 0 {
            let report = try simulator.run(simulator.script(seed: seed))
            #expect(report.violation == nil, "seed \(seed)")
            if !report.statistics.isPoisoned { continue }
            poisoned += 1
            inDoubt += report.statistics.rowsInDoubt
            checked += report.statistics.rowsChecked
        }
        #expect(poisoned > (Soak.isAsked ? 2 : 0))
        #expect(inDoubt > 0, "\(poisoned) of 30")
        #expect(checked > 0)
    }
}
