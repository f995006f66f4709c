import Foundation
import Testing

@Suite("A commit number is used twice, or a note is lost with a machine")
struct IdentityHistoryTests {
    /// Histories of a usual run; `KITH_SOAK` asks for all.
    private static let historyCount = ProcessInfo.processInfo.environment["KITH_SOAK"] == nil ? 60 : 2_000
    private static let firstSeed = ProcessInfo.processInfo.environment["KITH_SEED"].flatMap(UInt64.init) ?? 1
    private static let batchCount = 4

    @Test("stores that are copied, restored, rolled back and lose power keep every note that somebody still had", arguments: 0..<batchCount)
    func histories(batch: Int) throws {
        let size = Self.historyCount / Self.batchCount
        var newReplicas = 0
        for index in 0..<size {
            let history = try IdentityHistory(seed: Self.firstSeed &+ UInt64(batch * size + index))
            try history.run(steps: 40)
            newReplicas += history.newReplicaCount
        }
        #expect(newReplicas > 0)
    }
}
