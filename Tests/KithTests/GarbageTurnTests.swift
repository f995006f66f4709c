import KithSync
import Testing

@testable import Kith

/// The risk: a clock that is wrong for a minute empties the trash for good; or a wrong clock somewhere keeps garbage for ever.
@Suite struct GarbageTurnTests {
    private static let (minute, hour, day) = (Int64(60_000), Int64(3_600_000), Int64(86_400_000))
    private static let epoch: Int64 = 1_800_000_000_000

    /// In which minutes since the start garbage is collected.
    private func turns(minutes: Int64, isAlone: Bool = false, _ state: (Int64) -> (leadMilliseconds: Int64, offsets: [Int64])) -> [Int64] {
        let start = Instant(milliseconds: 5_000)
        var turn = GarbageTurn(
            first: start.advanced(byMilliseconds: Self.minute), now: start,
            wallClockMilliseconds: Self.epoch + state(0).leadMilliseconds)
        return (1...minutes).filter { minute in
            let (lead, offsets) = state(minute)
            return turn.begins(
                now: start.advanced(byMilliseconds: minute * Self.minute),
                wallClockMilliseconds: Self.epoch + minute * Self.minute + lead, offsets: offsets, isAlone: isAlone)
        }
    }

    @Test func `a connected device that agrees is enough, else an hour is, and then four times a day`() {
        #expect(turns(minutes: 800) { _ in (0, [0]) } == [1, 361, 721])
        #expect(turns(minutes: 800) { _ in (0, []) } == [60, 420, 780])
        #expect(turns(minutes: 800, isAlone: true) { _ in (0, []) } == [1, 361, 721])
        #expect(turns(minutes: 100) { minute in (0, minute < 20 ? [] : [120_000]) } == [20])
    }

    @Test func `nothing is collected while others say that this clock is ahead`() {
        #expect(turns(minutes: 800) { _ in (0, [-40 * Self.day]) }.isEmpty)
        #expect(turns(minutes: 800) { _ in (0, [-40 * Self.day, 0]) }.isEmpty)
        // The clock is set right, and goes on from there.
        #expect(turns(minutes: 100) { minute in minute < 30 ? (40 * Self.day, [-40 * Self.day]) : (0, [0]) } == [30])
    }

    @Test func `one device among several with an old clock, or one that is ahead, keeps nobody from it`() {
        #expect(turns(minutes: 100) { _ in (0, [-9_000 * Self.day, 0, 0]) } == [1])
        #expect(turns(minutes: 100) { _ in (0, [400 * Self.day]) } == [1])
    }

    @Test func `a clock that leaps is waited for, also where nobody else is`() {
        let leaping = turns(minutes: 800, isAlone: true) { minute in (minute >= 350 && minute < 380 ? 40 * Self.day : 0, []) }
        #expect(leaping == [1, 440, 800])
        // A machine that slept has not leapt: its monotonic clock went on.
        #expect(turns(minutes: 400, isAlone: true) { _ in (Self.hour, []) } == [1, 361])
    }
}
