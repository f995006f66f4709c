import Foundation
import TestSupport
import Testing

@Suite("Collected rows come back, or take others' edits with them")
struct GarbageHistoryTests {
    private static let historyCount = Soak.count(20, soaking: 4_000)
    /// Fewer are enough, if whatever they are to show has happened in them.
    private static let usualCount = 8
    private static let firstSeed = Soak.firstSeed
    private static let batchCount = Soak.count(1, soaking: 2)

    @Test(arguments: 0..<batchCount)
    func `in random months with silent and returning members nothing returns from the dead and no edit is lost`(batch: Int) throws {
        let size = Self.historyCount / Self.batchCount
        var (collected, listed, mended) = (0, 0, 0)
        for index in 0..<size {
            if !Soak.isAsked, index >= Self.usualCount, collected > 0, listed > 0, mended > 0 { break }
            let history = try GarbageHistory(seed: Self.firstSeed &+ UInt64(batch * size + index))
            try history.run(steps: 150)
            collected += history.collectedCount
            listed += history.listingCount
            mended += history.mendedCount
        }
        // Whatever these histories are to show must have happened in them.
        #expect(collected > 0 && listed > 0 && mended > 0)
    }

    @Test(arguments: [371, 602])
    func `stores of which only one had collected a row that a silent member brings back are mended`(seed: UInt64) throws {
        let history = try GarbageHistory(seed: seed)
        try history.run(steps: 150)
        #expect(history.differenceCount > 0)
    }

    @Test func `a deleted row stays deleted when what had brought it back turns out to be deleted too`() throws {
        try GarbageHistory(seed: 1139).run(steps: 150)
    }
}
