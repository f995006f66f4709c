import GRDB
import TestSupport
import Testing

@testable import KithTesting

/// Risk: a journal, a live list, an undo or an order by hand is wrong under faults, and the simulator does not see it.
@Suite(.timeLimit(.minutes(10))) struct HistoryJudgeTests {
    private static let script = """
        nodes 2
        A: insert note 1 title='one'
        sync A B
        A: update note 1 title='two'; update note 1 title='three'
        B: add note 1 tags='x'
        A: place rank position 1 2; place rank position 2 1
        B: place rank position 1 3
        sync A B
        B: delete note 1
        """

    private static func violation(_ script: String, sabotage: (Simulation) throws -> Void) throws -> Violation? {
        let simulation = try Simulation(Script(parsing: script), Workload(.history))
        defer { simulation.stop() }
        do {
            try sabotage(simulation)
            try simulation.run()
            return nil
        } catch {
            return error as? Violation
        }
    }

    @Test func `journals, lists, undo and positions hold under all faults`() throws {
        var simulator = try KithSimulator.history
        simulator.nodeCount = 4
        simulator.commitCount = 40
        let first = Soak.firstSeed
        var (histories, undos) = (0, 0)
        let count = Soak.count(2, soaking: 2_000)
        for seed in first..<first + UInt64(count) {
            let script = try simulator.script(seed: seed)
            let report = simulator.run(script)
            #expect(report.violation == nil, "seed \(seed)\n\(script)")
            histories += report.statistics.historiesChecked
            undos += report.statistics.undosChecked
        }
        #expect(histories > 60 * count && undos > 3 * count, "\(histories) \(undos)")
    }

    @Test func `a history of two machines is judged on both`() throws {
        let report = try KithSimulator.history.run(Script(parsing: Self.script))
        #expect(report.violation == nil)
        #expect(report.statistics.historiesChecked > 10)
    }

    /// Seed 104: the undo of a deletion brings back a row into which others have written, which no journal says. The judge took it for a fault.
    @Test func `an undo brings back a deleted row with what others have written into it`() throws {
        let report = try KithSimulator.history.run(
            Script(
                parsing: """
                    seed 104
                    nodes 3
                    topology mesh
                    latency 1 1
                    store 0 0
                    bandwidth 10000000
                    slice 2000
                    B: insert task 2 weight=53.25
                    B: delete task 2
                    B: delete task 1
                    C: insert task 2 label=x'623535'
                    A: insert task 2 label='v56'
                    """))
        #expect(report.violation == nil)
        #expect(report.statistics.undosChecked > 0)
    }

    /// Seed 1: while a folder is deleted on one machine, another one puts a row beneath it. It is shown when an undo brings the folder back.
    @Test func `an undo brings back a deleted row with rows that others have put beneath it`() throws {
        let report = try KithSimulator.history.run(
            Script(
                parsing: """
                    seed 1
                    nodes 3
                    topology mesh
                    latency 0 1
                    store 0 50
                    bandwidth 10000000
                    slice 2000
                    wait 17
                    B: upsert task 1 label='v1' weight=-1.0
                    wait 26
                    A: insert task 1 label=x'6231' weight=1.0
                    wait 42
                    A: insert folder 1 parent=x'00000000000000000000000000000001'
                    wait 50
                    wait 40
                    C: replace folder 1 name='v0' parent=x'00000000000000000000000000000001'
                    wait 39
                    B: replace item 1 folder=x'00000000000000000000000000000001' owner=null
                    C: delete folder 1
                    C: update item 1 shelf=x'00000000000000000000000000000001' owner=x'00000000000000000000000000000001' uses=3
                    """))
        #expect(report.violation == nil)
        #expect(report.statistics.undosChecked > 0)
    }

    @Test(arguments: [
        "UPDATE kith_journal SET tbl = NULL WHERE number = new.number",
        "UPDATE kith_journal SET kind = 1 - kind WHERE number = new.number AND kind < 2",
    ])
    func `a journal that says something else is found out`(sabotage: String) throws {
        let broken = try Self.violation(Self.script) { simulation in
            try simulation.nodes[1].database.writeWithoutTransaction { db in
                try db.execute(
                    sql: "CREATE TEMP TRIGGER sabotage AFTER INSERT ON main.kith_journal BEGIN \(sabotage); END")
            }
        }
        #expect(broken?.rule == .wrongHistory, "\(String(describing: broken))")
    }

    @Test func `a row that does not stand where it was put is found out`() throws {
        let broken = try Self.violation("nodes 1\nA: place rank position 1 2; place rank position 2 1\nA: place rank position 3 1") {
            simulation in
            try simulation.nodes[0].database.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        CREATE TEMP TRIGGER sabotage AFTER UPDATE OF position ON main.rank WHEN new.position > 'A' OR new.position < 'A' BEGIN
                            UPDATE rank SET position = 'zz' WHERE id = new.id AND position <> 'zz';
                        END
                        """)
            }
        }
        #expect(broken?.rule == .brokenInvariant, "\(String(describing: broken))")
    }

    @Test func `a table without a journal is not judged by one`() throws {
        let sql = """
            CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT);
            CREATE TABLE purse (id BLOB PRIMARY KEY NOT NULL, coins INTEGER NOT NULL DEFAULT 0);
            """
        var schema = SimulatedSchema(
            sql: sql, tables: [TrackedTable("note", journal: .days(30)), TrackedTable("purse", counters: ["coins"])])
        schema.judgesHistory = true
        let simulator = try KithSimulator(schema)
        let report = simulator.run(
            try simulator.script(
                parsing: """
                    nodes 2
                    A: insert note 1 title='a'; count purse 1 coins=5; insert purse 1
                    A: count purse 1 coins=5; update note 1 title='b'
                    sync A B
                    B: count purse 1 coins=3; delete note 1
                    B: delete purse 1
                    """))
        #expect(report.violation == nil)
        #expect(report.statistics.historiesChecked > 0)
    }
}
