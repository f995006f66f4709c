import KithSync
import TestSupport
import Testing

/// The risk: devices dial each other in step for ever, or close each other's connections until none is left.
@Suite struct RepeatedDialTests {
    @Test func `waits double up to the longest`() {
        var random = SplitMix64(seed: 31)
        for _ in 0..<1000 {
            var backoff = Backoff(firstMilliseconds: 500, longestMilliseconds: 60_000)
            for bound in [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
                #expect((bound / 2...bound).contains(backoff.nextMilliseconds(using: &random)))
            }
            #expect(backoff.failures == 9)
            backoff.reset()
            #expect((250...500).contains(backoff.nextMilliseconds(using: &random)))
        }
    }

    @Test func `the same seed waits the same`() {
        var (first, second) = (SplitMix64(seed: 32), SplitMix64(seed: 32))
        var (one, other) = (Backoff(), Backoff())
        for _ in 0..<100 {
            #expect(one.nextMilliseconds(using: &first) == other.nextMilliseconds(using: &second))
        }
    }

    @Test func `no bounds and no number of failures overflow`() {
        var random = SplitMix64(seed: 33)
        for bounds in [(Int.max, Int.max), (1, .max), (0, 0), (-5, -7), (100, 1), (.min, .max)] {
            var backoff = Backoff(firstMilliseconds: bounds.0, longestMilliseconds: bounds.1)
            for _ in 0..<100 {
                let wait = backoff.nextMilliseconds(using: &random)
                #expect((0...backoff.longestMilliseconds).contains(wait))
            }
        }
    }

    @Test func `both sides of a simultaneous dial keep the same connection`() {
        var random = SplitMix64(seed: 34)
        for _ in 0..<100 {
            let a = UInt64.random(in: 0..<1 << 32, using: &random)
            let b = UInt64.random(in: 1 << 32..<1 << 40, using: &random)
            // Each side may see either of the two connections first.
            for aSeesOwnFirst in [true, false] {
                for bSeesOwnFirst in [true, false] {
                    let atA = ConnectionChoice(own: a, peer: b, oldIsInitiator: aSeesOwnFirst, newIsInitiator: !aSeesOwnFirst)
                    let atB = ConnectionChoice(own: b, peer: a, oldIsInitiator: bSeesOwnFirst, newIsInitiator: !bSeesOwnFirst)
                    let aKeepsItsOwn = (atA == .keepOld) == aSeesOwnFirst
                    let bKeepsItsOwn = (atB == .keepOld) == bSeesOwnFirst
                    #expect(aKeepsItsOwn != bKeepsItsOwn)
                    #expect(aKeepsItsOwn == (a < b))
                }
            }
        }
    }

    @Test func `who dials again has lost the older connection`() {
        for (a, b) in [(1, 2), (2, 1)] {
            for isInitiator in [true, false] {
                #expect(ConnectionChoice(own: a, peer: b, oldIsInitiator: isInitiator, newIsInitiator: isInitiator) == .keepNew)
            }
            // Who was dialled first notices by the time that has passed.
            let age = ConnectionChoice.simultaneousMilliseconds + 1
            #expect(
                ConnectionChoice(own: a, peer: b, oldIsInitiator: true, newIsInitiator: false, oldAgeMilliseconds: age) == .keepNew)
        }
    }
}
