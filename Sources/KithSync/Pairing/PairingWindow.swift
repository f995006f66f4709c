/// How long, and how often, a device lets others try to pair. A pure value.
///
/// An attacker gets one guess an attempt; after ``failuresMax`` of them nobody may try until a person opens the next window.
/// Each attempt takes one of them when it begins, however many go on at once and however long their connections take to close. It
/// gives it back if it ends before anybody could guess: a stranger could otherwise close the window at will.
package struct PairingWindow: Hashable, Sendable {
    /// Attempts that may fail when an attacker could have guessed.
    package static let failuresMax = 3

    /// The end of the window.
    package let deadline: Instant
    /// Attempts that failed so far.
    package private(set) var failures = 0
    /// Attempts that have begun and not ended.
    package private(set) var running = 0

    /// Opens a window of `milliseconds`.
    package init(now: Instant, milliseconds: Int64) {
        deadline = now.advanced(byMilliseconds: milliseconds)
    }

    /// Whether another attempt may begin, now or when those that go on have ended without a guess. One that has begun may be finished.
    package func isOpen(_ now: Instant) -> Bool {
        now < deadline && !isExhausted
    }

    /// An attempt begins, if it may.
    package mutating func begin(_ now: Instant) -> Bool {
        guard isOpen(now), failures + running < Self.failuresMax else { return false }
        running += 1
        return true
    }

    /// Whether as many attempts failed as may.
    package var isExhausted: Bool { failures >= Self.failuresMax }

    /// An attempt that had begun has ended.
    /// - Parameter isGuess: whether it came to nothing after an attacker could have guessed; see ``PairingSession/isGuess``.
    package mutating func end(isGuess: Bool) {
        running = max(0, running - 1)
        if isGuess { failures += 1 }
    }
}
