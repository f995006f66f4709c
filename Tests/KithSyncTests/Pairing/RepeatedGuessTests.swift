import Testing

@testable import KithSync

/// The risk: an attacker may try until it is lucky, or a person finds the window shut by harmless accidents.
@Suite struct RepeatedGuessTests {
    private let start = Instant(milliseconds: 1_000)

    @Test func `the third failure shuts the window`() {
        var window = PairingWindow(now: start, milliseconds: 120_000)
        for failure in 1...PairingWindow.failuresMax {
            let hasBegun = window.begin(start)
            #expect(hasBegun)
            window.end(isGuess: true)
            #expect(window.failures == failure)
        }
        #expect(!window.isOpen(start))
        #expect(window.isExhausted)
    }

    @Test func `accidents do not count as guesses`() {
        var window = PairingWindow(now: start, milliseconds: 120_000)
        for _ in 0..<10_000 {
            let hasBegun = window.begin(start)
            #expect(hasBegun)
            window.end(isGuess: false)
        }
        #expect(window.isOpen(start) && window.failures == 0 && window.running == 0)
    }

    @Test func `attempts that go on count as guesses until it is known that they were none`() {
        var window = PairingWindow(now: start, milliseconds: 120_000)
        let begun = (0..<10).map { _ in window.begin(start) }
        #expect(begun == [true, true, true] + [Bool](repeating: false, count: 7))
        window.end(isGuess: true)
        let another = window.begin(start)
        #expect(!another && window.isOpen(start))
        window.end(isGuess: false)
        let last = window.begin(start)
        #expect(last)
        for _ in 0..<2 { window.end(isGuess: true) }
        #expect(window.isExhausted && window.failures == PairingWindow.failuresMax)
    }

    @Test func `the window is open to its last millisecond`() {
        let window = PairingWindow(now: start, milliseconds: 120_000)
        #expect(window.isOpen(start.advanced(byMilliseconds: 119_999)))
        #expect(!window.isOpen(start.advanced(byMilliseconds: 120_000)))
        #expect(!window.isExhausted)
    }
}
