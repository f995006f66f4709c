import Foundation
import TestSupport
import Testing

@Suite("A commit number is used twice, or a note is lost with a machine")
struct IdentityHistoryTests {
    private static let historyCount = Soak.count(4, soaking: 2_000)
    private static let firstSeed = Soak.firstSeed
    private static let batchCount = Soak.count(1, soaking: 4)

    @Test(arguments: 0..<batchCount)
    func `stores that are copied, restored, rolled back and lose power keep every note that somebody still had`(batch: Int) throws {
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
