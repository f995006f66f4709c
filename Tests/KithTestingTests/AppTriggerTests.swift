import KithStore
import TestSupport
import Testing

@testable import KithTesting

/// Risk: triggers of the app, which know nothing of merges, stop them, or make of them what nobody is told of.
@Suite struct AppTriggerTests {
    /// Triggers that count, that keep a log, and that refuse.
    private static let sql = """
        CREATE TABLE box (id BLOB PRIMARY KEY NOT NULL, label TEXT NOT NULL DEFAULT '');
        CREATE TABLE thing (
            id BLOB PRIMARY KEY NOT NULL, name TEXT, box BLOB REFERENCES box (id) ON DELETE CASCADE, uses INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE box_size (box BLOB, things INTEGER);
        CREATE TABLE box_log (box BLOB, label TEXT);
        CREATE TRIGGER thing_in AFTER INSERT ON thing BEGIN
            DELETE FROM box_size; INSERT INTO box_size SELECT box, count(*) FROM thing GROUP BY box;
        END;
        CREATE TRIGGER thing_changed AFTER UPDATE OF box ON thing BEGIN
            DELETE FROM box_size; INSERT INTO box_size SELECT box, count(*) FROM thing GROUP BY box;
        END;
        CREATE TRIGGER thing_out AFTER DELETE ON thing BEGIN
            DELETE FROM box_size; INSERT INTO box_size SELECT box, count(*) FROM thing GROUP BY box;
        END;
        CREATE TRIGGER box_in AFTER INSERT ON box BEGIN INSERT INTO box_log VALUES (new.id, new.label); END;
        CREATE TABLE list (id BLOB PRIMARY KEY NOT NULL, name TEXT, state INTEGER NOT NULL DEFAULT 0);
        CREATE TRIGGER list_kept BEFORE DELETE ON list WHEN old.state % 3 = 1 BEGIN SELECT RAISE(ABORT, 'a list in use stays'); END;
        CREATE TRIGGER list_named BEFORE UPDATE ON list WHEN new.state % 3 = 2 AND new.name IS NULL BEGIN
            SELECT RAISE(ABORT, 'a list has a name');
        END;
        """

    private static func simulator(sizes: String = "SELECT box, count(*) FROM thing GROUP BY box") throws -> KithSimulator {
        var schema = SimulatedSchema(
            sql: sql, tables: [TrackedTable("box"), TrackedTable("thing", counters: ["uses"]), TrackedTable("list")])
        schema.filled = [FilledTable("box_size", holds: sizes)]
        var simulator = try KithSimulator(schema)
        simulator.nodeCount = 3
        simulator.commitCount = 40
        return simulator
    }

    @Test func `what triggers fill and refuse keeps every promise`() throws {
        let simulator = try Self.simulator()
        var refused = 0
        for seed in 0..<8 as Range<UInt64> where Soak.isAsked || seed < 3 || refused == 0 {
            let report = try simulator.run(simulator.script(seed: seed))
            #expect(report.violation == nil, "seed \(seed): \(String(describing: report.violation))")
            refused += report.statistics.rowsRefused
        }
        #expect(refused > 0)
    }

    @Test(
        arguments: [
            "CREATE TABLE seen (name TEXT UNIQUE)", "CREATE TABLE seen (name TEXT NOT NULL)", "CREATE VIRTUAL TABLE seen USING fts5(name)",
        ])
    func `a statement that another table's constraint refuses is no fault`(seen: String) throws {
        let sql = """
            CREATE TABLE item (id BLOB PRIMARY KEY NOT NULL, name TEXT);
            \(seen);
            CREATE TRIGGER item_in AFTER INSERT ON item BEGIN
                INSERT INTO seen (rowid, name) VALUES (CASE new.name WHEN 'y' THEN 1 ELSE new.rowid END, new.name);
            END;
            """
        let simulator = try KithSimulator(SimulatedSchema(sql: sql, tables: [TrackedTable("item")]))
        let report = simulator.run(
            try simulator.script(
                parsing: """
                    nodes 2
                    A: insert item 1 name='x'
                    A: insert item 2 name='y'
                    A: insert item 3 name='x'
                    B: insert item 4 name='x'; insert item 5
                    sync A B
                    """))
        #expect(report.violation == nil, "\(String(describing: report.violation))")
    }

    @Test func `a deletion that a trigger refuses elsewhere leaves the rest as it must be, and is listed`() throws {
        let simulator = try Self.simulator()
        let report = simulator.run(
            try simulator.script(
                parsing: """
                    nodes 2
                    A: insert list 1 name='x' state=0; insert box 1 label='y'
                    sync A B
                    cut A B
                    A: update list 1 state=1
                    B: delete list 1; update box 1 label='z'
                    A: update list 1 name='w'
                    sync A B
                    """))
        #expect(report.violation == nil)
    }

    @Test func `a table that triggers fill otherwise than was said is found out`() throws {
        let simulator = try Self.simulator(sizes: "SELECT box, count(*) FROM thing WHERE name IS NOT NULL GROUP BY box")
        let report = simulator.run(try simulator.script(parsing: "nodes 1\nA: insert thing 1 name='x'; insert thing 2"))
        #expect(report.violation?.rule == .wrongFilledTable, "\(String(describing: report.violation))")
    }

    @Test(
        arguments: [
            ("SELECT nosuch FROM thing", "no such column"), ("SELEKT", "syntax error"), ("", "empty"), ("SELECT 1", "has 1 columns"),
            ("DELETE FROM thing RETURNING box, 1", "no query"), ("SELECT 1, 2; SELECT 1, 2", "Multiple statements"),
        ])
    func `what a table is said to hold must be a query for its rows`(rule: String, part: String) {
        let error = #expect(throws: SchemaError.self) { try Self.simulator(sizes: rule) }
        #expect(error?.message.contains("box_size") == true && error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test func `tables that triggers fill are watched, and rules are known`() throws {
        let workload = try Workload(Self.simulator().schema)
        #expect(workload.filled == ["box_log", "box_size"])
        #expect(workload.tables.map(\.mayRefuse) == [false, false, true])
        #expect(try Workload(.standard).filled == ["task_label"])
        #expect(try !Workload(.standard).hasRules)
    }
}
