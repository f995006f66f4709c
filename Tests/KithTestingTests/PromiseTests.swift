import Foundation
import KithTesting
import TestSupport
import Testing

/// Risk: something that a user wrote is lost, changed, or comes back from the dead when machines and networks fail.
@Suite struct PromiseTests {
    /// Small runs, so that many of them fit into a test.
    static func simulator() throws -> KithSimulator {
        var simulator = try KithSimulator.standard
        simulator.nodeCount = 4
        simulator.commitCount = 40
        return simulator
    }

    @Test(arguments: 0..<UInt64(Soak.count(1, soaking: 6))) func `five seeds keep every promise`(batch: UInt64) throws {
        let failures = try Self.simulator().failures(seeds: batch * 5..<batch * 5 + 5)
        #expect(failures.isEmpty, "\(failures)")
    }

    /// Thousands of replicas are not needed for that: a hello has the hash of the first head on.
    @Test func `seeds keep every promise if sessions say what they know as those of large stores do`() throws {
        var simulator = try Self.simulator()
        simulator.saysHashes = true
        let failures = try simulator.failures(seeds: 0..<UInt64(Soak.count(3, soaking: 8)))
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func `a pair, a lone machine and a dozen keep every promise`() throws {
        for (nodes, seeds) in [(1, Soak.count(1, soaking: 3)), (2, Soak.count(2, soaking: 4)), (12, 1)] {
            var simulator = try Self.simulator()
            simulator.nodeCount = nodes
            let failures = try simulator.failures(seeds: 0..<UInt64(seeds))
            #expect(failures.isEmpty, "\(failures)")
        }
    }

    @Test func `whatever bytes a peer sends, no machine traps`() throws {
        var simulator = try Self.simulator()
        for fault in [Fault.damage, .forgery] {
            simulator.faults = [fault]
            // What cannot be read is refused, and contents are compared to the end; what can be read is in doubt.
            var (isRefused, isInDoubt) = (false, false)
            for seed in 0..<6 as Range<UInt64> where Soak.isAsked || seed < 1 || !isInDoubt || !isRefused && fault == .damage {
                let report = try simulator.run(simulator.script(seed: seed))
                #expect(report.violation == nil, "\(fault), seed \(seed)")
                if report.statistics.framesAltered == 0 { continue }
                if report.statistics.isPoisoned { isInDoubt = true } else { isRefused = true }
            }
            #expect(isInDoubt)
            #expect(fault == .forgery || isRefused)
        }
    }

    @Test func `deleted rows that are thrown away for good stay deleted, whoever was away and whatever crashed`() throws {
        var simulator = try Self.simulator()
        simulator.faults = [.garbage]
        simulator.commitCount = 60
        var collected = 0
        for seed in 10..<16 as Range<UInt64> where Soak.isAsked || seed < 11 || collected == 0 {
            let report = try simulator.run(simulator.script(seed: seed))
            #expect(report.violation == nil, "seed \(seed)")
            collected += report.statistics.rowsCollected
        }
        #expect(collected > 0)
        let script = try Script(
            parsing: """
                nodes 3
                A: insert note 1 title='gone'; insert note 2 title='stays'
                sync A B
                sync B C
                C: delete note 1
                wait 5000
                sleep 1000
                wait 5000
                crash C
                collect A
                start C
                collect B
                B: insert note 1 title='new life'
                cut A C
                C: update note 2 title='edited'
                """)
        let report = simulator.run(script)
        #expect(report.violation == nil)
        #expect(report.statistics.rowsCollected == 2)
    }

    /// A's edit reaches C, which collects the row at once, and D, which passes it on to C with the row as it was.
    @Test(arguments: ["", "C: insert task 1 label='new'; type task 1 body=0"])
    func `a deleted row with a text, collected and sent once more, stays away, and out of its successor`(next: String) throws {
        let simulator = try KithSimulator(
            SimulatedSchema(
                sql: """
                    CREATE TABLE task (id BLOB PRIMARY KEY NOT NULL, label TEXT, body TEXT NOT NULL DEFAULT '');
                    CREATE TABLE page (id BLOB PRIMARY KEY NOT NULL, color INTEGER);
                    """,
                tables: [TrackedTable("task", texts: ["body"], deletePolicy: .deleteWins), TrackedTable("page")]))
        let script = try simulator.script(
            parsing: """
                seed 503633
                nodes 4
                latency 0 20
                store 0 50
                clog D B
                A: upsert task 1 label='a'; type task 1 body=0
                cut A B
                cut A C
                cut A D
                wait 3
                C: upsert page 2 color=9
                wait 9
                sleep 264
                C: upsert task 1 label='v41'; type task 1 body=0
                drop C A
                B: upsert task 1 label='b'; type task 1 body=0
                sleep 264
                C: delete task 1
                D: replace page 1 color=49
                wait 5000
                sleep 744
                wait 5000
                wait 1
                C: delete page 2
                B: upsert page 2 color=1
                join A B
                join A C
                join A D
                wait 5000
                collect C
                \(next)
                D: delete page 2
                """)
        let report = simulator.run(script)
        #expect(report.violation == nil)
        #expect(report.statistics.rowsCollected == 1)
    }

    @Test func `scripts that once found a fault keep every promise`() throws {
        let simulator = try Self.simulator()
        for (name, script) in try Self.scripts() {
            let violation = simulator.run(script).violation
            #expect(violation == nil, "\(name)")
        }
    }

    private static func scripts() throws -> [(name: String, script: Script)] {
        let folder = try #require(Bundle.module.url(forResource: "Fixtures/seeds", withExtension: nil))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(!names.isEmpty)
        return try names.map { ($0, try Script(parsing: try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))) }
    }
}

/// The long run: `make soak`, of which `KITH_PORTION` names an eighth, and `KITH_SEED` one seed.
@Suite(.enabled(if: Soak.isAsked)) struct SimulationSoakTests {
    private static let batches = SoakSeeds.batches(
        seed: ProcessInfo.processInfo.environment["KITH_SEED"],
        portion: ProcessInfo.processInfo.environment["KITH_PORTION"].flatMap { Int($0) })

    @Test(arguments: batches)
    func `a hundred seeds of five machines and two hundred commits keep every promise`(batch: ClosedRange<UInt64>?) throws {
        let seeds = try #require(batch, "KITH_SEED is no number from 0 to \(UInt64.max)")
        let failures = try KithSimulator.standard.failures(seeds: seeds)
        #expect(failures.isEmpty, "\(failures)")
    }
}

/// The seeds of the long run.
enum SoakSeeds {
    static let portions = 1...8

    /// All, in batches of a hundred; those of one portion; or `seed` alone, whichever it is. `nil` stands for a seed that is none.
    static func batches(seed: String?, portion: Int? = nil) -> [ClosedRange<UInt64>?] {
        if let portion, !portions.contains(portion) { return [nil] }
        guard let seed else {
            let size: UInt64 = 200 / UInt64(portions.count)
            let numbers = portion.map { UInt64($0 - 1) * size..<UInt64($0) * size } ?? 0..<200
            return numbers.map { $0 * 100...$0 * 100 + 99 }
        }
        return [UInt64(seed).map { $0...$0 }]
    }
}

/// Risk: somebody repeats a seed, nothing is run, and it passes.
@Suite struct SoakSeedsTests {
    @Test func `every seed is a run, and what is no seed is none`() {
        for seed in [0, 99, 19_999, 20_000, 123_456_789, .max] as [UInt64] {
            #expect(SoakSeeds.batches(seed: "\(seed)") == [seed...seed])
        }
        #expect(SoakSeeds.batches(seed: "x") == [nil])
        let all = SoakSeeds.batches(seed: nil).compactMap(\.self)
        #expect(all.flatMap(Array.init) == Array(0..<20_000))
    }

    @Test func `the portions together are all seeds`() {
        let all = SoakSeeds.portions.flatMap { SoakSeeds.batches(seed: nil, portion: $0) }.compactMap(\.self)
        #expect(all.flatMap(Array.init) == Array(0..<20_000))
    }
}
