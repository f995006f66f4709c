import KithTesting
import TestSupport
import Testing

/// Risk: power fails, or a disk does, in the middle of something, and takes more with it than it must.
@Suite struct BadDiskTests {
    private static func simulator(_ faults: [Fault]) throws -> KithSimulator {
        var simulator = try PromiseTests.simulator()
        simulator.nodeCount = 3
        simulator.faults = faults
        return simulator
    }

    @Test func `what is durable survives a loss of power, and what is lost is taken for a new replica's past`() throws {
        let simulator = try Self.simulator([.powerLoss])
        var (powerLosses, commitsLost) = (0, 0)
        for seed in 0..<8 as Range<UInt64> where Soak.isAsked || seed < 3 || powerLosses <= 4 || commitsLost == 0 {
            let report = try simulator.run(simulator.script(seed: seed))
            #expect(report.violation == nil, "seed \(seed)")
            powerLosses += report.statistics.faults[.powerLoss] ?? 0
            commitsLost += report.statistics.commitsLost
        }
        // A disk that forgets nothing would prove nothing.
        #expect(powerLosses > 4)
        #expect(commitsLost > 0)
    }

    @Test(arguments: ["", "wait 1000\nupdate A\nA: update note 1 title='new'"])
    func `a first loss of power, and one after an update, take what was not synced`(steps: String) throws {
        let simulator = try Self.simulator([.powerLoss])
        let reports = try (0..<Soak.count(6, soaking: 16)).map { seed in
            simulator.run(try Script(parsing: "seed \(seed)\nnodes 1\nA: insert note 1 title='old'\n\(steps)\npower A 0\nstart A"))
        }
        #expect(reports.allSatisfy { $0.violation == nil }, "\(reports.compactMap(\.violation))")
        let losses = reports.map(\.statistics.commitsLost)
        #expect(losses.contains(1) && losses.allSatisfy { $0 < 2 }, "\(losses)")
    }

    @Test func `a disk that answers with errors loses nothing, and the store goes on when it works again`() throws {
        let failures = try Self.simulator([.brokenDisk]).failures(seeds: 0..<UInt64(Soak.count(2, soaking: 5)))
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test func `disks fill, fail, lose power and are restored in one run`() throws {
        let failures = try Self.simulator([.powerLoss, .brokenDisk, .fullDisk, .restore, .crash]).failures(
            seeds: 0..<UInt64(Soak.count(2, soaking: 4)))
        #expect(failures.isEmpty, "\(failures)")
    }
}
