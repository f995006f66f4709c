import Foundation
import Testing

@Suite("Versions of an app in one house lose or hide a row, in some order of updating")
struct SchemaHistoryTests {
    /// Histories of a usual run; `KITH_SOAK` asks for more, `KITH_SEED` for others.
    private static let count = ProcessInfo.processInfo.environment["KITH_SOAK"] == nil ? 20 : 2_000
    private static let firstSeed = ProcessInfo.processInfo.environment["KITH_SEED"].flatMap(UInt64.init) ?? 1
    private static let batchCount = 4

    @Test("random histories of updates and writes show everywhere what the schema can show", arguments: 0..<batchCount)
    func histories(batch: Int) throws {
        let size = Self.count / Self.batchCount
        var refused = 0
        for index in 0..<size {
            let history = try SchemaHistory(seed: Self.firstSeed &+ UInt64(batch * size + index))
            try history.run(steps: 36)
            refused += history.refusedCount
        }
        // A row with NULL where a newer version allows none waits until its author is updated.
        #expect(refused > 0 || size < 50)
    }
}
