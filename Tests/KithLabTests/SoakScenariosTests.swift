#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import KithLab

/// Every scenario that ships, to its verdict: about a quarter of an hour on two cores. `KITH_SOAK` asks for it.
@Suite(
    "A scenario that ships ends with a broken promise", .serialized,
    .enabled(if: Soak.isAsked, "runs for long; KITH_SOAK is not set"),
    .enabled(if: PrivateWorld.obstacle() == nil, "no lab on this machine; it needs root and namespaces"))
struct SoakScenariosTests {
    /// An older kith for the scenarios that ask for a second version, from `KITH_OLD`; `nil` if none was given.
    private static let older = ProcessInfo.processInfo.environment["KITH_OLD"].flatMap { $0.isEmpty ? nil : $0 }

    @Test(.enabled(if: older != nil, "the scenario `versions` runs with one version only; KITH_OLD is not set"))
    func `Two versions are two programs`() throws {
        let older = try #require(Self.older)
        #expect(!FileManager.default.contentsEqual(atPath: older, andPath: LabProgram.path), "KITH_OLD is the kith that is tested")
    }

    @Test(arguments: ShippedScenario.all.map(\.name)) func `Every promise is kept`(name: String) throws {
        let scenario = try ScenarioReader.read(#require(ShippedScenario.named(name)).text, name: name)
        let others = Self.older.map { older in scenario.binaries.keys.sorted().flatMap { ["--binary", "\($0)=\(older)"] } } ?? []
        try LabProgram.withFolder { folder in
            let result = try LabProgram.run(["lab", "run", name, "--json"] + others, in: folder)
            #expect(result.status == 0, "\(result.errors)")
            let record = try JSONDecoder().decode(LabRecord.self, from: Data(result.output.utf8))
            #expect(record.findings == [])
            let hasLosses = scenario.events.contains { if case .lose = $0.action { true } else { false } }
            #expect(record.checks.count == 6 + (scenario.hasAttachments ? 1 : 0) + (hasLosses ? 1 : 0))
            #expect(record.checks.filter { $0.outcome != .passed } == [])
            // A run with one version only says so itself.
            #expect(record.remarks == (Self.older == nil ? scenario.notTried : []))
            // What is kept is not nothing: most of the plan was written, and every commit reached everybody.
            let planned = Plan(scenario).steps.count {
                if case .write = $0.action { true } else { false }
            }
            #expect(record.writes.count == planned)
            #expect(record.writes.count { $0.outcome == "acknowledged" } > planned / 2)
            #expect(record.commits.allSatisfy { Set($0.arrivals.map(\.node)).count == record.nodes.count - 1 })
        }
    }
}
#endif
