import KithCausality
import TestSupport
import Testing

/// Risk: a clock that jumps makes a later write look earlier than one its author had seen.
@Suite struct HybridClockTests {
    @Test func `timestamps grow whatever the wall clock does`() {
        var random = SplitMix64(seed: 1)
        var clock = HybridClock()
        var last = HybridTimestamp.zero
        for _ in 0..<10_000 {
            let next = clock.tick(reading: HybridTimestamp(milliseconds: .random(in: 0...4_000_000_000_000, using: &random)))
            #expect(next > last)
            last = next
        }
    }

    @Test func `a timestamp is later than everything its author has seen`() {
        var random = SplitMix64(seed: 2)
        var clock = HybridClock()
        for _ in 0..<1_000 {
            let seen = HybridTimestamp(rawValue: .random(in: 0..<HybridTimestamp.limit.rawValue / 2, using: &random))
            clock.observe(seen)
            #expect(clock.tick(reading: .zero) > seen)
        }
    }

    @Test func `a wall clock that is ahead is followed`() {
        var clock = HybridClock()
        let reading = HybridTimestamp(milliseconds: 1_700_000_000_000)
        #expect(clock.tick(reading: reading) == reading)
        #expect(clock.tick(reading: reading) == reading.next)
    }

    @Test func `a counter that overflows advances the millisecond`() {
        let last = HybridTimestamp(rawValue: 7 << 16 | 0xffff)
        #expect(last.counter == .max)
        #expect(last.next.milliseconds == 8)
        #expect(last.next.counter == 0)
    }

    @Test func `no timestamp given out is one that peers refuse`() {
        var clock = HybridClock()
        clock.observe(HybridTimestamp(rawValue: .max))
        for _ in 0..<3 { #expect(clock.tick(reading: HybridTimestamp(milliseconds: .max)) < .limit) }
    }

    @Test(
        arguments: [(-1, 0), (.min, 0), (0, 0), (1 << 48 - 1, 1 << 48 - 1), (1 << 48, 1 << 48 - 1), (.max, 1 << 48 - 1)] as [(Int64, Int64)]
    )
    func `a reading is bounded to 48 bits`(reading: Int64, bounded: Int64) {
        #expect(HybridTimestamp(milliseconds: reading).milliseconds == bounded)
    }

    @Test func `the last timestamp of all has no next`() {
        #expect(HybridTimestamp(rawValue: .max).next.rawValue == .max)
    }
}
