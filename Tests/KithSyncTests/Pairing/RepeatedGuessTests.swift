import Testing

@testable import KithSync

/// The risk: an attacker may try until it is lucky, or a person finds the window shut by harmless accidents.
@Suite struct RepeatedGuessTests {
    private let start = Instant(milliseconds: 1_000)

    @Test func `the third failure shuts the window`() {
        var window = PairingWindow(now: start, milliseconds: 120_000)
        for failure in 1...PairingWindow.failuresMax {
            #expect(window.isOpen(start))
            window.fail(isGuess: true)
            #expect(window.failures == failure)
        }
        #expect(!window.isOpen(start))
        #expect(window.isExhausted)
    }

    @Test func `accidents do not count as guesses`() {
        var window = PairingWindow(now: start, milliseconds: 120_000)
        for _ in 0..<10_000 { window.fail(isGuess: false) }
        #expect(window.isOpen(start) && window.failures == 0)
    }

    @Test func `the window is open to its last millisecond`() {
        let window = PairingWindow(now: start, milliseconds: 120_000)
        #expect(window.isOpen(start.advanced(byMilliseconds: 119_999)))
        #expect(!window.isOpen(start.advanced(byMilliseconds: 120_000)))
        #expect(!window.isExhausted)
    }
}
