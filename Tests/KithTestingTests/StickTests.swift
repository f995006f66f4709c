import KithCausality
import KithTesting
import TestSupport
import Testing

/// Files that are carried from machine to machine, in the simulator.
@Suite struct StickTests {
    @Test func `seeds carry files late, twice, in any order, to third machines, and promises hold`() throws {
        var simulator = try PromiseTests.simulator()
        simulator.commitCount = 60
        simulator.faults = [.stick, .lostConnection, .crash]
        simulator.faultRates = [.stick: 0.15]
        var carried = 0
        for seed in Soak.firstSeed..<Soak.firstSeed + UInt64(Soak.count(2, soaking: 400)) {
            let report = try simulator.run(simulator.script(seed: seed))
            #expect(report.violation == nil, "seed \(seed): \(String(describing: report.violation))")
            carried += report.statistics.filesCarried
        }
        #expect(carried > 10)
    }

    @Test func `together with garbage and revocations promises hold`() throws {
        var simulator = try PromiseTests.simulator()
        simulator.commitCount = 60
        simulator.faults = [.stick, .garbage, .revocation, .oldVersion, .nap]
        simulator.faultRates = [.stick: 0.15, .garbage: 0.03, .revocation: 0.02]
        for seed in Soak.firstSeed..<Soak.firstSeed + UInt64(Soak.count(2, soaking: 400)) {
            let report = try simulator.run(simulator.script(seed: seed))
            #expect(report.violation == nil, "seed \(seed): \(String(describing: report.violation))")
        }
    }

    @Test func `a script says what is carried, by which stick and for whom`() throws {
        let text = """
            seed 3
            nodes 3
            topology mesh
            latency 1 20
            store 0 3
            bandwidth 10000000
            slice 1
            carry-out A 1 B
            carry-out C 2
            carry-in B 1
            lose-stick 2

            """
        let script = try Script(parsing: text)
        #expect(script.description == text)
        #expect(
            script.steps == [
                .carryOut(node: 0, stick: 1, to: 1), .carryOut(node: 2, stick: 2, to: nil), .carryIn(node: 1, stick: 1), .loseStick(2),
            ])
        #expect(throws: ScriptError.self) { try Script(parsing: "nodes 2\ncarry-out A 100") }
        #expect(throws: ScriptError.self) { try Script(parsing: "nodes 2\ncarry-in C 1") }
    }

    @Test func `machines that are cut off from each other have what was carried between them`() throws {
        let simulator = try PromiseTests.simulator()
        let report = simulator.run(
            try Script(
                parsing: """
                    nodes 2
                    slice 1
                    cut A B
                    A: insert note 1 title='milk'; insert note 2 title='bread'
                    A: insert note 3 title='tea'
                    carry-out A 1 B
                    carry-in B 1
                    B: update note 1 title='oat milk'
                    carry-out B 1 A
                    carry-in A 1
                    carry-in A 1
                    """))
        #expect(report.violation == nil)
        // Both files, and one of them once more.
        #expect(report.statistics.filesCarried >= 3 && report.statistics.applies >= 3, "\(report.statistics)")
    }
}
