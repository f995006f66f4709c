import GRDB
import KithStore
import KithTesting
import Testing

/// Risk: the simulator says that all is well whatever happens.
@Suite struct OracleTests {
    /// A schema whose triggers do, behind the users' backs, what no user asked for.
    private static func sabotaged(_ trigger: String) throws -> KithSimulator {
        var schema = SimulatedSchema(
            sql: """
                CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, views INTEGER NOT NULL DEFAULT 0);
                \(trigger)
                """,
            tables: [TrackedTable("note", counters: ["views"])])
        schema.takesTriggersForFaults = true
        var simulator = try KithSimulator(schema)
        simulator.nodeCount = 2
        simulator.commitCount = 20
        return simulator
    }

    @Test func `an honest schema passes`() throws {
        let failures = try Self.sabotaged("").failures(seeds: 0..<10)
        #expect(failures.isEmpty, "\(failures)")
    }

    private static let liar = liar(value: 9)

    private static func liar(value: Int) -> String {
        "CREATE TRIGGER lie AFTER UPDATE OF title ON note BEGIN UPDATE note SET title = 'lost' WHERE id = new.id AND title = 'v\(value)'; END;"
    }

    @Test(
        arguments: [
            liar,
            "CREATE TRIGGER lie AFTER UPDATE OF views ON note BEGIN UPDATE note SET views = views + 1 WHERE id = new.id; END;",
            "CREATE TRIGGER lie AFTER INSERT ON note BEGIN DELETE FROM note WHERE id = new.id AND new.views > 3; END;",
        ])
    func `what users did not write is found`(trigger: String) throws {
        let simulator = try Self.sabotaged(trigger)
        #expect(try (0..<100).contains { try simulator.run(simulator.script(seed: $0)).violation != nil })
    }

    @Test func `a failure is cut down and can be repeated`() throws {
        var simulator = try Self.sabotaged(Self.liar(value: 2))
        // Few are enough for the second value: each step is tried whether the failure needs it.
        simulator.commitCount = 4
        simulator.nodeCount = 3
        simulator.faults = []
        // The first seed that fails with so few commits.
        let failure = try #require(try simulator.failures(seeds: 99..<300, failuresMax: 1).first)
        #expect(failure.script.commitCount <= 2, "\(failure)")
        let repeated = try simulator.run(Script(parsing: failure.script.description))
        #expect(repeated.violation == failure.violation)
        #expect(failure.description.contains("simulator.trace(simulator.script(parsing: text))"))
        #expect(failure.description(howToRepeat: "With this.").contains("\nWith this.\n\n\(failure.script)"))
    }

    @Test(
        arguments: [
            (
                "CREATE TRIGGER lie AFTER UPDATE OF coins ON purse WHEN new.coins > 9 AND new.coins % 2 = 0 BEGIN UPDATE purse SET coins = coins + 1 WHERE id = new.id; END;",
                Violation.Rule.brokenInvariant
            ),
            ("CREATE TRIGGER lie AFTER DELETE ON folder BEGIN DELETE FROM item WHERE folder IS NULL; END;", .wrongState),
            ("CREATE TRIGGER lie AFTER INSERT ON item BEGIN UPDATE item SET owner = NULL; END;", .wrongState),
        ])
    func `what triggers do to amounts that are only moved, and to rows that refer to others, is found`(
        trigger: String, rule: Violation.Rule
    ) throws {
        var schema = SimulatedSchema(
            sql: """
                CREATE TABLE purse (id BLOB PRIMARY KEY NOT NULL, coins INTEGER NOT NULL DEFAULT 0);
                CREATE TABLE folder (id BLOB PRIMARY KEY NOT NULL, parent BLOB REFERENCES folder ON DELETE CASCADE);
                CREATE TABLE item (
                    id BLOB PRIMARY KEY NOT NULL, label TEXT, folder BLOB REFERENCES folder ON DELETE CASCADE,
                    owner BLOB REFERENCES folder ON DELETE SET NULL);
                \(trigger)
                """,
            tables: [TrackedTable("purse", counters: ["coins"]), TrackedTable("folder"), TrackedTable("item")])
        schema.takesTriggersForFaults = true
        schema.invariants = [.sum(table: "purse", column: "coins")]
        var simulator = try KithSimulator(schema)
        simulator.nodeCount = 2
        simulator.commitCount = 40
        simulator.faults = []
        var found: Violation?
        for seed in 0..<60 as Range<UInt64> where found == nil { found = try simulator.run(simulator.script(seed: seed)).violation }
        #expect(found?.rule == rule, "\(String(describing: found))")
    }

    /// SQLite lets go of the shelf before it deletes the row with its folder, or does not come to it: that depends on which column is
    /// declared last. Seed 1 of a schema with both took the first for a fault.
    @Test(arguments: [
        ["folder BLOB REFERENCES folder ON DELETE CASCADE", "shelf BLOB REFERENCES folder ON DELETE SET NULL"],
        ["shelf BLOB REFERENCES folder ON DELETE SET NULL", "folder BLOB REFERENCES folder ON DELETE CASCADE"],
    ])
    func `a row that goes with what it refers to twice holds what SQLite has left in it`(columns: [String]) throws {
        let schema = SimulatedSchema(
            sql: """
                CREATE TABLE folder (id BLOB PRIMARY KEY NOT NULL, name TEXT);
                CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, label TEXT, \(columns.joined(separator: ", ")));
                """,
            tables: [TrackedTable("folder"), TrackedTable("item")])
        let report = try KithSimulator(schema).run(
            Script(
                parsing: """
                    seed 1
                    nodes 2
                    A: insert folder 1 name='v1'; insert item 1
                    A: update item 1 folder=x'00000000000000000000000000000001' shelf=x'00000000000000000000000000000001'; delete folder 1
                    B: insert folder 1 name='v2'
                    B: insert item 1 label='v3'
                    sync A B
                    A: update item 1 label='v4'
                    sync A B
                    """))
        #expect(report.violation == nil)
        #expect(report.statistics.commits == 5)
    }
}
