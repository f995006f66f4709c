import GRDB
import KithTesting
import Testing

/// Risk: what an app states of its rows does not hold, and the simulator says that all is well, or does not say where.
@Suite struct StatedInvariantTests {
    /// A table whose rows a trigger counts, which forgets that they are deleted.
    private static let sql = """
        CREATE TABLE entry (id BLOB PRIMARY KEY NOT NULL, day TEXT);
        CREATE TABLE entry_count (n INTEGER NOT NULL);
        INSERT INTO entry_count VALUES (0);
        CREATE TRIGGER entry_in AFTER INSERT ON entry BEGIN UPDATE entry_count SET n = n + 1; END;
        """
    private static let counts = Invariant.always("entries are counted") { db in
        let (counted, there) = try (count(db, "SELECT n FROM entry_count"), count(db, "SELECT count(*) FROM entry"))
        return counted == there ? nil : "\(counted) are counted, and \(there) are there."
    }
    private static let days = Invariant.converged("a day has one entry") { db in
        try String.fetchOne(db, sql: "SELECT day FROM entry GROUP BY day HAVING count(*) > 1").map { "\($0) has several." }
    }

    private static func count(_ db: Database, _ sql: String) throws -> Int { try Int.fetchOne(db, sql: sql) ?? 0 }

    private static func simulator(_ invariants: [Invariant]) throws -> KithSimulator {
        var schema = SimulatedSchema(sql: sql, tables: [TrackedTable("entry")])
        schema.invariants = invariants
        var simulator = try KithSimulator(schema)
        simulator.nodeCount = 2
        simulator.commitCount = 20
        return simulator
    }

    private static func violation(_ invariants: [Invariant], _ script: String) throws -> Violation? {
        let simulator = try simulator(invariants)
        return try simulator.run(simulator.script(parsing: script)).violation
    }

    @Test func `what holds always is asked after each commit, and the machine and the step are named`() throws {
        let broken = try Self.violation([Self.counts], "nodes 2\nA: insert entry 1\nB: insert entry 2\nB: delete entry 2")
        #expect(broken?.rule == .brokenInvariant && broken?.invariant == "entries are counted")
        #expect(
            broken?.message
                == "\u{201C}entries are counted\u{201D} does not hold on B in step 3 (B: delete entry 2): 1 are counted, and 0 are there.")
    }

    @Test func `what holds always is asked after each merge and opening`() throws {
        let none = Invariant.always("B has no entry") { db in
            try Self.count(db, "SELECT count(*) FROM entry") < 2 ? nil : "It has."
        }
        let merged = try Self.violation([none], "nodes 2\ncut A B\nA: insert entry 1\nB: insert entry 2\nsync A B")
        #expect(merged?.message.contains("in step 4 (sync A B)") == true, "\(String(describing: merged))")
        let found = try Self.violation([none], "nodes 1\nfound A entry 1\nfound A entry 2")
        #expect(found?.message.contains("on A before the first step") == true, "\(String(describing: found))")
    }

    @Test func `what holds once all know the same is asked then, and not before`() throws {
        let script = "nodes 2\nA: insert entry 1 day='x'; insert entry 2 day='x'\nsync A B\n"
        let broken = try Self.violation([Self.days], script)
        #expect(broken?.message == "\u{201C}a day has one entry\u{201D} does not hold on A once all know the same: x has several.")
        #expect(try Self.violation([Self.days], script + "B: update entry 2 day='y'") == nil)
    }

    @Test func `a failure is cut down to one that breaks the same invariant`() throws {
        let many = Invariant.always("there are few entries") { db in
            try Self.count(db, "SELECT count(*) FROM entry") < 3 ? nil : "There are three."
        }
        let none = Invariant.converged("no entry is left") { db in
            try Self.count(db, "SELECT count(*) FROM entry") == 0 ? nil : "There are some."
        }
        var simulator = try Self.simulator([many, none])
        simulator.commitCount = 8
        simulator.faults = []
        let seed = try #require(
            try (0..<50 as Range<UInt64>).first {
                try simulator.run(simulator.script(seed: $0)).violation?.invariant == "there are few entries"
            })
        let failure = try #require(try simulator.failures(seeds: [seed]).first)
        #expect(failure.violation.invariant == "there are few entries")
        #expect(failure.description.hasPrefix("Seed \(seed) breaks a promise. brokenInvariant: \u{201C}there are few entries\u{201D}"))
    }

    @Test func `an invariant that is asked changes no run`() throws {
        let asked = Invariant.always("anything") { db in
            _ = try Self.count(db, "SELECT count(*) FROM entry")
            return nil
        }
        let hashes = try [[], [asked], [asked, .converged("anything, too") { _ in nil }]].map { invariants in
            let simulator = try Self.simulator(invariants)
            return try (0..<3 as Range<UInt64>).map { try simulator.run(simulator.script(seed: $0)).traceHash }
        }
        #expect(hashes[1] == hashes[0] && hashes[2] == hashes[0])
    }

    @Test(
        arguments: [
            (.always("never", { _ in "It does not." }), "It does not."), (.converged("late", { _ in "It does not." }), "It does not."),
            (.always("misspelled", { db in try String.fetchOne(db, sql: "SELECT nosuch FROM entry") }), "no such column: nosuch"),
            (
                .always("writes") { db in
                    try db.execute(sql: "DELETE FROM entry_count")
                    return nil
                }, "readonly"
            ),
        ] as [(Invariant, String)])
    func `an invariant that does not hold of empty tables, cannot be asked or writes is refused`(invariant: Invariant, part: String) {
        let error = #expect(throws: SchemaError.self) { try Self.simulator([invariant]) }
        #expect(
            error?.message.contains("does not hold of empty tables") == true && error?.message.contains(part) == true,
            "\(error?.message ?? "")")
    }

    @Test func `a machine with an older version of the app is not asked`() throws {
        var schema = SimulatedSchema(
            sql: "CREATE TABLE entry (id BLOB PRIMARY KEY NOT NULL, day TEXT)", olderTables: [TrackedTable("entry")],
            update: "CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, body TEXT)", tables: [TrackedTable("entry"), TrackedTable("page")])
        schema.invariants = [.always("pages can be counted") { db in try Self.count(db, "SELECT count(*) FROM page") == 0 ? nil : "Some." }]
        let simulator = try KithSimulator(schema)
        let script = try simulator.script(parsing: "nodes 2\nold B\nB: insert entry 1\nsync A B")
        #expect(simulator.run(script).violation == nil)
    }

    /// An app with a set, a counter, a text, a natural key, and a search that triggers keep, which is a virtual table.
    private static func app(updating columns: String) throws -> KithSimulator {
        var schema = SimulatedSchema(
            sql: """
                CREATE TABLE note (
                    id BLOB PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', tags TEXT NOT NULL DEFAULT '[]',
                    views INTEGER NOT NULL DEFAULT 0);
                CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, body TEXT NOT NULL DEFAULT '');
                CREATE TABLE day (id BLOB PRIMARY KEY NOT NULL, date TEXT NOT NULL UNIQUE, mood TEXT);
                CREATE VIRTUAL TABLE note_search USING fts5(title, content='note', content_rowid='rowid');
                CREATE TRIGGER note_in AFTER INSERT ON note BEGIN
                    INSERT INTO note_search (rowid, title) VALUES (new.rowid, new.title);
                END;
                CREATE TRIGGER note_out AFTER DELETE ON note BEGIN
                    INSERT INTO note_search (note_search, rowid, title) VALUES ('delete', old.rowid, old.title);
                END;
                CREATE TRIGGER note_changed AFTER UPDATE OF \(columns) ON note BEGIN
                    INSERT INTO note_search (note_search, rowid, title) VALUES ('delete', old.rowid, old.title);
                    INSERT INTO note_search (rowid, title) VALUES (new.rowid, new.title);
                END;
                """,
            tables: [
                TrackedTable("note", sets: ["tags"], counters: ["views"]), TrackedTable("page", texts: ["body"]),
                TrackedTable("day", key: ["date"]),
            ])
        schema.invariants = [
            .always("the search finds each title") { db in
                for row in try Row.fetchAll(db, sql: "SELECT rowid, title FROM note") {
                    let title: String = row["title"]
                    guard title.allSatisfy(\.isASCII), let pattern = FTS5Pattern(matchingPhrase: title) else { continue }
                    let found = try Int64.fetchAll(db, sql: "SELECT rowid FROM note_search WHERE note_search MATCH ?", arguments: [pattern])
                    if !found.contains(row["rowid"]) { return "It does not find \(title)." }
                }
                return nil
            },
            .converged("a day is one row") { db in
                try Self.count(db, "SELECT count(*) - count(DISTINCT date) FROM day") == 0 ? nil : "It is not."
            },
        ]
        var simulator = try KithSimulator(schema)
        simulator.nodeCount = 3
        simulator.commitCount = 40
        return simulator
    }

    @Test func `a search that triggers keep is judged, and one that misses an edit is found out`() throws {
        let failures = try Self.app(updating: "title").failures(seeds: 0..<2)
        #expect(failures.isEmpty, "\(failures)")
        let careless = try Self.app(updating: "views")
        let script = try careless.script(parsing: "nodes 2\nA: insert note 1 title='milk'\nsync A B\nA: update note 1 title='tea'")
        #expect(careless.run(script).violation?.invariant == "the search finds each title")
    }
}
