import Foundation
import Testing

@Suite("Collected rows come back, or take others' edits with them")
struct GarbageHistoryTests {
    /// Histories of a usual run; `KITH_SOAK` asks for a hundred times as many, `KITH_SEED` for others.
    private static let historyCount = ProcessInfo.processInfo.environment["KITH_SOAK"] == nil ? 40 : 4_000
    private static let firstSeed = ProcessInfo.processInfo.environment["KITH_SEED"].flatMap(UInt64.init) ?? 1
    private static let batchCount = 2

    @Test("in random months with silent and returning members nothing returns from the dead and no edit is lost", arguments: 0..<batchCount)
    func histories(batch: Int) throws {
        let size = Self.historyCount / Self.batchCount
        var (collected, listed, mended) = (0, 0, 0)
        for index in 0..<size {
            let history = try GarbageHistory(seed: Self.firstSeed &+ UInt64(batch * size + index))
            try history.run(steps: 150)
            collected += history.collectedCount
            listed += history.listingCount
            mended += history.mendedCount
        }
        // Whatever these histories are to show must have happened in them.
        #expect(collected > 0 && listed > 0 && mended > 0)
    }

    @Test("stores of which only one had collected a row that a silent member brings back are mended", arguments: [371, 602])
    func partlyCollected(seed: UInt64) throws {
        let history = try GarbageHistory(seed: seed)
        try history.run(steps: 150)
        #expect(history.differenceCount > 0)
    }

    @Test("a deleted row stays deleted when what had brought it back turns out to be deleted too")
    func broughtBackByTheDead() throws { try GarbageHistory(seed: 1139).run(steps: 150) }
}
