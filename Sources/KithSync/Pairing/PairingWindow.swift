/// How long, and how often, a device lets others try to pair. A pure value.
///
/// An attacker gets one guess an attempt; after ``failuresMax`` of them nobody may try until a person opens the next window.
public struct PairingWindow: Hashable, Sendable {
    /// Attempts that may fail after an attacker could have guessed.
    public static let failuresMax = 3
    /// Connections that may come to nothing before that; they cost work but give away nothing.
    public static let attemptsMax = 256

    /// The end of the window.
    public let deadline: Instant
    /// Attempts that failed so far.
    public private(set) var failures = 0
    private var attempts = 0

    /// Opens a window of `milliseconds`.
    public init(now: Instant, milliseconds: Int64) {
        deadline = now.advanced(byMilliseconds: milliseconds)
    }

    /// Whether another attempt may begin. One that has begun may be finished.
    public func isOpen(_ now: Instant) -> Bool {
        now < deadline && !isExhausted
    }

    /// Whether there were as many attempts as there may be.
    public var isExhausted: Bool {
        failures >= Self.failuresMax || attempts >= Self.attemptsMax
    }

    /// An attempt begins.
    public mutating func begin() {
        attempts += 1
    }

    /// An attempt came to nothing.
    /// - Parameter isGuess: as ``PairingSession/isGuess``.
    public mutating func fail(isGuess: Bool) {
        if isGuess { failures += 1 }
    }
}
