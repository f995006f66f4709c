import KithTesting
import Testing

@testable import KithLab

@Suite("Options of the simulator are taken for something else, and a green run proves nothing")
struct SimulatorOptionsTests {
    @Test func `every option is read and has its default`() throws {
        let plain = try SimulatorOptions([])
        #expect(plain.nodeCount == 5 && plain.seedCount == 100 && plain.firstSeed == 0 && plain.commitCount == 200)
        #expect(plain.faults == nil && plain.schemaPath == nil && plain.scriptPath == nil)
        let line =
            "--schema a.sql --update b.sql --set a.b --counter=a.c --text a.d --key a.e --key a.f --delete-wins a --nodes 64 --seeds 3 --first 7 --ops 9 --faults crash,clog --hash --stop"
        let options = try SimulatorOptions(line.split(separator: " ").map(String.init))
        #expect(options.schemaPath == "a.sql" && options.sets == ["a.b"] && options.counters == ["a.c"] && options.texts == ["a.d"])
        #expect(options.updatePath == "b.sql" && options.keys == ["a.e", "a.f"])
        #expect(options.deleteWins == ["a"] && options.nodeCount == 64 && options.seedCount == 3 && options.firstSeed == 7)
        #expect(options.commitCount == 9 && options.faults?.map(\.rawValue) == ["crash", "clog"])
        #expect(options.printsHashes && options.stopsAtFirst)
        #expect(try SimulatorOptions(["--faults", "none"]).faults == [])
        let rated = try SimulatorOptions(["--faults=lost-connection=0.5,crash"])
        #expect(rated.faults == [.lostConnection, .crash] && rated.faultRates == [.lostConnection: 0.5])
    }

    @Test(
        arguments: [
            ("--nodes 65", "from 1 to 64"), ("--nodes 1000", "from 1 to 64"), ("--nodes 0", "from 1 to 64"), ("--seeds x", "from 1 to"),
            ("--first -1", "from 0 to"), ("--ops 0", "from 1 to"), ("--nodes", "--nodes needs a value"), ("app.sql", "no argument app.sql"),
            ("--node 5", "no option --node"), ("--faults crash,flood", "no fault \"flood\""), ("--faults none,crash", "none alone"),
            ("--faults ", "no fault"), ("--faults crash=2", "a rate is a number from 0 to 1"), ("--faults crash=", "a rate is"),
            ("--faults garbage=0.1,restore=0.1", "garbage and restore cannot both have a rate"),
            ("--set a.b", "--schema, which is not given"), ("--delete-wins a", "--schema, which is not given"),
            ("--update a.sql --key a.b", "--update, --key speaks of the tables of --schema"),
            ("--script s --seeds 5 --nodes 3", "leave out --seeds, --nodes"), ("--script s --faults crash", "leave out --faults"),
            ("--trace --seeds 5", "leave out --seeds"), ("--report --nodes 5", "leave out --nodes"),
            ("--schema a.sql --faults old-version", "Give with --update what an update runs"),
        ])
    func `what makes no sense is refused as wrong use`(line: String, part: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let error = #expect(throws: LabError.self) { try SimulatorOptions(words, of: "kith lab sim") }
        #expect(error?.code == .usage)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
        #expect(error?.message.hasSuffix("See `kith lab sim --help`.") == true)
    }

    @Test func `the command that repeats names the schema as it was given`() throws {
        let words = [
            "--schema", "my app.sql", "--counter", "memo.views", "--set", "memo.it's", "--delete-wins", "memo", "--update", "b.sql",
            "--key", "day.date", "--nodes", "3",
        ]
        #expect(
            try SimulatorOptions(words, of: "kith lab sim").commandRepeating(script: "failure.script")
                == #"kith lab sim --schema 'my app.sql' --update b.sql --set 'memo.it'\''s' --counter memo.views --key day.date --delete-wins memo --script failure.script --trace"#
        )
        #expect(try SimulatorOptions([]).commandRepeating(script: "a") == "kith-sim --script a --trace")
    }

    @Test func `the usage names the command and every option`() {
        let usage = SimulatorOptions.synopsis(of: "kith lab sim") + "\n" + SimulatorOptions.explanation
        #expect(SimulatorOptions.Option.allCases.allSatisfy { usage.contains($0.rawValue) })
        #expect(!usage.contains("kith-sim"))
        #expect(usage.split(separator: "\n").allSatisfy { $0.count <= 82 })
        // The parser of arguments breaks longer lines.
        #expect(SimulatorOptions.explanation.split(separator: "\n").allSatisfy { $0.count < 80 })
    }
}
