import KithTesting
import TestSupport
import Testing

/// Risk: somebody asks for a fault, and it hardly ever occurs.
@Suite struct FaultRateTests {
    private static func script(_ rates: [Fault: Double], faults: [Fault] = [], seed: UInt64) throws -> Script {
        var simulator = try PromiseTests.simulator()
        simulator.faults = faults
        simulator.faultRates = rates
        return try simulator.script(seed: seed)
    }

    private static func count(_ script: Script, _ isMeant: (Step) -> Bool) -> Int { script.steps.count(where: isMeant) }

    private static func isDrop(_ step: Step) -> Bool { if case .drop = step { true } else { false } }

    @Test(arguments: 0..<6) func `a fault with a rate occurs in every run, as often as it says`(seed: UInt64) throws {
        #expect(Self.count(try Self.script([.lostConnection: 1], seed: seed), Self.isDrop) == 40)
        #expect((8...32).contains(Self.count(try Self.script([.lostConnection: 0.5], seed: seed), Self.isDrop)))
        #expect(Self.count(try Self.script([.lostConnection: 0], faults: [.lostConnection], seed: seed), Self.isDrop) == 0)
    }

    @Test func `what users do is the same with a rate and without`() throws {
        let commits = try [[:], [.lostConnection: 0.5, .crash: 0.2]].map { rates in
            try Self.script(rates, faults: [.clog, .crash], seed: 3).steps.filter { if case .commit = $0 { true } else { false } }
        }
        #expect(commits[0] == commits[1])
    }

    @Test func `what confuses garbage is never in a run with it`() throws {
        for seed in 0..<6 as Range<UInt64> {
            let script = try Self.script([.garbage: 0.3, .restore: 0.3], faults: Fault.honest, seed: seed)
            #expect(Self.count(script) { if case .collect = $0 { true } else { false } } > 0)
            #expect(Self.count(script) { if case .restore = $0 { true } else { false } } == 0)
            let other = try Self.script([.restore: 0.3], faults: Fault.honest, seed: seed)
            #expect(Self.count(other) { if case .collect = $0 { true } else { false } } == 0)
        }
    }

    @Test func `promises are kept with rates, too`() throws {
        var simulator = try PromiseTests.simulator()
        simulator.faults = []
        simulator.faultRates = [.lostConnection: 0.5, .crash: 0.2, .partition: 0.1]
        let failures = try simulator.failures(seeds: 0..<UInt64(Soak.count(2, soaking: 4)))
        #expect(failures.isEmpty, "\(failures)")
    }
}
