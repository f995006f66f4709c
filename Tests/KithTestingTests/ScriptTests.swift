import KithTesting
import Testing

/// Risk: a script says something else than what failed.
@Suite struct ScriptTests {
    @Test(arguments: 0..<50) func `the script of a seed reads back as it was`(seed: UInt64) throws {
        var simulator = try KithSimulator(.standard)
        simulator.faults = Fault.allCases
        let script = simulator.script(seed: seed)
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
            ("seed x", "a seed is a number"), ("topology tree", "one of mesh"), ("latency 5 1", "from 5"),
        ])
    func `what cannot be understood is refused with its line`(line: String, part: String) {
        let error = #expect(throws: ScriptError.self) { try Script(parsing: "nodes 2\n" + line) }
        #expect(error?.line == 2)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
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
        let report = try KithSimulator(.standard).run(script)
        #expect(report.violation == nil)
        #expect(report.statistics.commits == 9)
        #expect(report.statistics.invariantsChecked > 10)
        #expect(try Script(parsing: script.description) == script)
    }

    @Test func `what a script says happens`() throws {
        let simulator = try KithSimulator(.standard)
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
