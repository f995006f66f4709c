import Foundation
import KithTesting
import TestSupport
import Testing

/// Risk: a lie or a damaged frame does, once in many thousand seeds, what it must not. The long run: `KITH_SOAK=1`, and `KITH_SEED=N` for one seed.
@Suite(.enabled(if: Soak.isAsked)) struct HostileSoakTests {
    private static let seed = ProcessInfo.processInfo.environment["KITH_SEED"].flatMap(UInt64.init)

    @Test(arguments: 0..<40) func `fifty seeds with lies and damage among all other faults keep every promise`(batch: UInt64) throws {
        if let seed = Self.seed, seed / 50 != batch { return }
        var simulator = try KithSimulator.standard
        simulator.commitCount = 100
        simulator.faults = Fault.allCases
        let failures = try simulator.failures(seeds: Self.seed.map { $0..<$0 + 1 } ?? batch * 50..<batch * 50 + 50)
        #expect(failures.isEmpty, "\(failures)")
    }
}
