import KithTesting
import TestSupport
import Testing

/// Risk: what stood in an app's tables before it began to synchronise is lost, counted twice, or wins over what users write.
@Suite struct FoundRowTests {
    private static func report(_ steps: String) throws -> RunReport {
        let simulator = try KithSimulator.standard
        return simulator.run(try simulator.script(parsing: steps))
    }

    @Test(
        arguments: [
            "found A note 1 title='x' tags='[\"a\"]'\nfound B note 1 title='x' tags='[\"a\"]'\nA: update note 1 title='y' tags='[]'",
            "found A note 1 title='x' views=10\nfound B note 1 title='y' views=12\nA: count note 1 views=3",
            "found A note 1 title='x'\nfound B note 1 title='y'\nfound B note 2 title='z'\nA: delete note 1",
            "found A entry 1 mood='x' hours=5\nfound B entry 1 mood='x' hours=5\nB: count entry 1 hours=2",
            "found A page 1 body='abc'\nfound B page 1 body='abd'\nA: update page 1 body='abcd'",
            "found A folder 1\nfound A item 1 folder=x'00000000000000000000000000000001'\nfound B item 1 label='x'\nB: delete item 1",
        ])
    func `rows that machines find keep every promise, whether they are equal or not`(rows: String) throws {
        let rest = "\nsync A B\nC: insert note 1 title='w'; insert page 1 body='w'\nsync B C"
        let report = try Self.report("seed 1\nnodes 3\n" + rows + rest)
        #expect(report.violation == nil)
        #expect(report.statistics.rowsFound >= 2)
    }

    @Test func `a machine that begins later with a backup only adds to what others have`() throws {
        let report = try Self.report(
            """
            nodes 3
            found C note 1 title='backup' tags='["a","b"]' views=4
            found C note 2 title='deleted since'
            found C note 3 title='only here'
            A: insert note 1 title='x' tags='["a"]' views=5; insert note 2 title='y'
            sync A B
            A: remove note 1 tags='a'; delete note 2
            sync A B
            begin C
            sync A C
            B: update note 1 title='z'
            """)
        #expect(report.violation == nil)
        #expect(report.statistics.rowsFound == 3)
        #expect(report.statistics.faults[.foundRows] == 1)
    }

    @Test func `a set that was found goes on in the new life that an older version of the app gives its row`() throws {
        let report = try Self.report(
            """
            nodes 2
            found A task 1 weight=-1.0 owners='["b"]'
            A: delete task 1
            wait 30
            B: insert task 1 label=0.0 weight=-0.0
            A: insert task 1 weight=1.0 owners='["c"]'
            update B
            sync A B
            """)
        #expect(report.violation == nil)
        #expect(report.statistics.rowsFound == 1)
    }

    @Test(
        arguments: [
            // What was found is in the new life, and not what was collected.
            """
            nodes 2
            A: insert task 1 label='x' weight=236.25; delete task 1
            B: insert task 1 label=251 weight=252.25 owners='["a"]'
            wait 5000
            sleep 744
            collect A
            A: insert task 1
            update A
            """,
            // A version of a text that was found is none of the text that its row begins anew.
            """
            nodes 1
            found A page 1 body='㐀㐁㐂' remark='㐄㐅㐆㐇㐈㐉' color=null
            A: save page 1 body=51304
            A: delete page 1; insert page 1 body='专且丕世丗' remark='丙业丛东丝' color=194
            A: save page 1 body=7777
            """,
        ])
    func `a row that is inserted anew keeps its earlier life as far as the store does`(script: String) throws {
        #expect(try Self.report(script).violation == nil)
    }

    @Test func `rows of a table that an update brings are found then, beside what peers had sent of them`() throws {
        let report = try Self.report(
            """
            nodes 2
            found A account 1 balance=7
            found A account 2 balance=8
            found A account 3 balance=9
            B: insert account 1 balance=5; insert account 2 balance=6
            sync A B
            B: delete account 2
            sync A B
            update A
            sync A B
            """)
        #expect(report.violation == nil)
        #expect(report.statistics.rowsFound == 3)
    }

    @Test func `seeds begin with rows, equal and different ones, and some of their machines begin later`() throws {
        var simulator = try PromiseTests.simulator()
        simulator.faults = [.foundRows, .lostConnection, .crash, .oldVersion]
        simulator.faultRates = [.foundRows: 1]
        var (found, late) = (0, 0)
        for seed in 0..<6 as Range<UInt64> where Soak.isAsked || seed < 2 || found <= 20 || late == 0 {
            let script = try simulator.script(seed: seed)
            let report = simulator.run(script)
            #expect(report.violation == nil, "seed \(seed)")
            found += report.statistics.rowsFound
            late += script.steps.count { if case .begin = $0 { true } else { false } }
        }
        #expect(found > 20)
        #expect(late > 0)
    }

    @Test func `a script with found rows is read back as it was printed`() throws {
        let text = "nodes 2\nfound A note 1 title='x y' tags='[]'\nbegin A\n"
        let script = try Script(parsing: text)
        #expect(try Script(parsing: script.description) == script)
        #expect(throws: ScriptError.self) { try KithSimulator.standard.script(parsing: "nodes 1\nfound A note 1 nothing='x'") }
    }
}
