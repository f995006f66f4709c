import Foundation
import TestSupport
import Testing

@Suite("Versions of an app in one house lose or hide a row, in some order of updating")
struct SchemaHistoryTests {
    private static let count = Soak.count(4, soaking: 2_000)
    private static let firstSeed = Soak.firstSeed
    private static let batchCount = Soak.count(1, soaking: 4)

    @Test(arguments: 0..<batchCount)
    func `random histories of updates and writes show everywhere what the schema can show`(batch: Int) throws {
        let size = Self.count / Self.batchCount
        var (refused, compared) = (0, 0)
        for index in 0..<size {
            let history = try SchemaHistory(seed: Self.firstSeed &+ UInt64(batch * size + index))
            try history.run(steps: 36)
            compared += history.comparedCount
            refused += history.refusedCount
        }
        // A row with NULL where a newer version allows none waits until its author is updated.
        #expect(refused > 0 || size < 50)
        #expect(compared > 0 || size < 500)
    }
}
