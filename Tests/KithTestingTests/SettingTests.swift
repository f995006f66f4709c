import KithTesting
import Testing

/// Risk: a setting of the simulator that makes no sense ends the process, or lets it say that all is well though nothing was run.
@Suite struct SettingTests {
    private static func refusal(_ set: (inout KithSimulator) -> Void) throws -> String? {
        var simulator = try KithSimulator.standard
        set(&simulator)
        do {
            _ = try simulator.failures(seeds: [] as [UInt64])
            return nil
        } catch {
            #expect(throws: error) { try simulator.script(seed: 1) }
            return error.message
        }
    }

    @Test(arguments: [-1, 0, Script.nodesMax + 1, .max, .min]) func `a number of machines that there cannot be is refused`(count: Int)
        throws
    {
        #expect(try Self.refusal { $0.nodeCount = count } == "nodeCount is \(count): a number from 1 to 64 is needed.")
    }

    @Test(arguments: [-1, 0, KithSimulator.commitsMax + 1, .max, .min]) func `a number of commits that there cannot be is refused`(
        count: Int
    )
        throws
    {
        #expect(try Self.refusal { $0.commitCount = count } == "commitCount is \(count): a number from 1 to 1000000 is needed.")
    }

    @Test(arguments: [-0.1, 1.1, .nan, .infinity]) func `a rate that is no share is refused`(rate: Double) throws {
        let refusal = try Self.refusal { $0.faultRates = [.crash: 0.5, .clog: rate] }
        #expect(refusal?.hasPrefix("The rate of clog is \(rate): a number from 0 to 1 is needed") == true, "\(refusal ?? "")")
    }

    @Test func `settings at their limits are taken`() throws {
        for (nodes, commits) in [(1, 1), (Script.nodesMax, 1), (1, KithSimulator.commitsMax)] {
            let refusal = try Self.refusal {
                ($0.nodeCount, $0.commitCount) = (nodes, commits)
                $0.faultRates = [.crash: 1, .clog: 0]
            }
            #expect(refusal == nil)
        }
    }
}
