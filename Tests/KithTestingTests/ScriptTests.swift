import KithTesting
import Testing

/// Risk: a script says something else than what failed.
@Suite struct ScriptTests {
    @Test(arguments: 0..<50) func `the script of a seed reads back as it was`(seed: UInt64) throws {
        var simulator = try KithSimulator.standard
        simulator.faults = Fault.allCases
        let script = try simulator.script(seed: seed)
        #expect(try Script(parsing: script.description) == script)
    }

    @Test func `comments, empty lines and spaces say nothing`() throws {
        let script = try Script(parsing: "# two machines\n\nnodes 2\n  A:  delete note 1 ;savepoint ; undo # so\n")
        #expect(script.steps == [.commit(node: 0, [.write(RowWrite(.delete, "note", 1)), .savepoint, .undo])])
    }

    @Test(
        arguments: [
            ("nodes 0", "from 1 to 64"), ("nodes 65", "from 1 to 64"), ("jump A", "jump is no step"), ("cut A C", "no node \"C\""),
            ("A: eat note 1", "eat is no statement"), ("A: insert note x", "should be a number"),
            ("A: insert note 1 title='open", "has no value"), ("A: insert note 1 title=x'0'", "has no value"),
            ("A: insert note 1 title=nan", "has no value"), ("wait -1", "from 0"), ("wait 1 2", "is too much"),
            ("seed x", "a seed is a number"), ("topology tree", "one of mesh"), ("old", "no node"), ("old C", "no node \"C\""),
            ("latency 5 1", "from 5"),
        ])
    func `what cannot be understood is refused with its line`(line: String, part: String) {
        let error = #expect(throws: ScriptError.self) { try Script(parsing: "nodes 2\n" + line) }
        #expect(error?.line == 2)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test func `a script with Windows' line ends is read, and not passed over as one comment`() throws {
        let script = try Script(parsing: "# two machines\r\nnodes 2\r\nA: delete note 1\r\n\r\nsync A B # so\r\n")
        #expect(script.steps == [.commit(node: 0, [.write(RowWrite(.delete, "note", 1))]), .sync(0, 1)])
        let error = #expect(throws: ScriptError.self) { try Script(parsing: "nodes 2\r\nwait 1\r\nwait -1\r\n") }
        #expect(error?.line == 3)
    }

    @Test func `a setting behind a step, which may name a node that there is not, is refused`() {
        let error = #expect(throws: ScriptError.self) { try Script(parsing: "nodes 3\nC: delete note 1\nnodes 2") }
        #expect(error?.line == 3)
        #expect(error?.message == "nodes is a setting, which stands before all steps.")
    }

    @Test(
        arguments: [
            (.crash(2), "no node \"C\""), (.cut(0, 5), "no node \"F\""), (.commit(node: -1, [.rollback]), "no node \"N-1\""),
            (.carryOut(node: 0, stick: 100, to: nil), "from 0 to 99"), (.setClock(node: 0, byMilliseconds: .max), "should be a number"),
            (.commit(node: 0, [.write(RowWrite(.delete, "note", -1))]), "from 1"),
        ] as [(Step, String)])
    func `a script in Swift with a node or number that a text may not have is not run`(step: Step, part: String) throws {
        let report = try KithSimulator.standard.run(Script(seed: 1, nodeCount: 2, steps: [step]))
        #expect(report.violation?.rule == .wrongScript)
        #expect(report.violation?.message.contains(part) == true, "\(report.violation?.message ?? "")")
    }

    @Test func `names with odd characters are read back as they were`() throws {
        let simulator = try KithSimulator(
            SimulatedSchema(
                sql: #"CREATE TABLE "my table" ("the id" BLOB PRIMARY KEY NOT NULL, "a=b" TEXT, "say ""so""" INTEGER)"#,
                tables: [TrackedTable("my table")]))
        let script = try simulator.script(parsing: #"A: insert "my table" 1 "a=b"='x' "say ""so"""=5; delete "my table" 1"#)
        #expect(try simulator.script(parsing: script.description) == script)
        #expect(simulator.run(script).violation == nil)
        for line in [#"A: delete "my table 1"#, #"A: update "my table" 1 "a=b" 'x'"#] {
            #expect(throws: ScriptError.self) { try Script(parsing: line) }
        }
    }

    @Test(
        arguments: [
            ("insert nosuch 1", "there is no table nosuch that synchronises; those that do: note,"),
            ("insert note 1 nosuch=2", "note has no column nosuch that synchronises; those that do: title,"),
            ("update note 1 id=x'00'", "id is the key of note"), ("update entry 1 day='x'", "day is the key of entry"),
            ("count note 1 title=1", "title of note is a register, which is not for count"),
            ("add note 1 views='a'", "views of note is a counter, which is not for add"),
            ("delete note 1 title='x'", "delete takes no columns"),
            ("update note 1 title=5", "title of note is TEXT, in which SQLite stores another value than 5"),
            ("insert task 1 weight=1", "weight of task is REAL"), ("upsert note 1 rank='7'", "rank of note is INTEGER"),
            ("move note title 1 1 2", "is a register, which is not for move"), ("relink nosuch next 1 2", "no table nosuch"),
            ("undo; savepoint", "undo without a savepoint"),
        ])
    func `a script that names what does not synchronise is refused and not run`(statement: String, part: String) throws {
        let simulator = try KithSimulator.standard
        let text = "nodes 2\nA: insert note 1; \(statement)"
        let error = #expect(throws: ScriptError.self) { try simulator.script(parsing: text) }
        #expect(error?.line == 2)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
        let report = simulator.run(try Script(parsing: text))
        #expect(report.violation?.rule == .wrongScript)
        #expect(report.violation?.message.contains(part) == true)
        #expect(report.statistics.commits == 0)
    }

    @Test func `amounts move, rings are linked anew, and references are obeyed`() throws {
        let script = try Script(
            parsing: """
                nodes 3
                A: move purse coins 5 1 2; relink seat next 1 3
                A: insert folder 1; insert folder 2 parent=x'00000000000000000000000000000001'; insert person 1
                sync A B
                sync B C
                cut A B
                cut A C
                A: delete folder 1; move purse coins 3 2 3
                A: relink seat next 2 4; savepoint; move purse coins 9 1 3; undo
                B: insert item 1 folder=x'00000000000000000000000000000002' owner=x'00000000000000000000000000000001'
                C: delete person 1; delete person 1; move purse coins 7 1 3
                B: insert loan 1 item=x'00000000000000000000000000000001'
                join A B
                join A C
                wait 5000
                C: delete loan 1
                A: insert person 1
                wait 5000
                """)
        let report = try KithSimulator.standard.run(script)
        #expect(report.violation == nil)
        #expect(report.statistics.commits == 9)
        #expect(report.statistics.invariantsChecked > 10)
        #expect(try Script(parsing: script.description) == script)
    }

    @Test func `what a script says happens`() throws {
        let simulator = try KithSimulator.standard
        let script = try Script(
            parsing: """
                nodes 2
                A: insert note 1 title='milk'
                sync A B
                cut A B
                A: delete note 1
                B: update note 1 title='oat milk'
                sleep 24
                """)
        let report = simulator.run(script)
        #expect(report.violation == nil)
        #expect(report.statistics.commits == 3)
        #expect(report.statistics.applies >= 2)
        #expect(report.statistics.virtualMilliseconds > 24 * 3_600_000)
    }
}
