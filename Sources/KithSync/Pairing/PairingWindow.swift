/// How long, and how often, a device lets others try to pair. A pure value.
///
/// An attacker gets one guess an attempt; after ``failuresMax`` of them nobody may try until a person opens the next window.
/// Attempts that end before anybody could guess are not counted: a stranger could otherwise close the window at will.
package struct PairingWindow: Hashable, Sendable {
    /// Attempts that may fail when an attacker could have guessed.
    package static let failuresMax = 3

    /// The end of the window.
    package let deadline: Instant
    /// Attempts that failed so far.
    package private(set) var failures = 0

    /// Opens a window of `milliseconds`.
    package init(now: Instant, milliseconds: Int64) {
        deadline = now.advanced(byMilliseconds: milliseconds)
    }

    /// Whether another attempt may begin. One that has begun may be finished.
    package func isOpen(_ now: Instant) -> Bool {
        now < deadline && !isExhausted
    }

    /// Whether as many attempts failed as may.
    package var isExhausted: Bool { failures >= Self.failuresMax }

    /// An attempt came to nothing.
    /// - Parameter isGuess: as ``PairingSession/isGuess``.
    package mutating func fail(isGuess: Bool) {
        if isGuess { failures += 1 }
    }
}
