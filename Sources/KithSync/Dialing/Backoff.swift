/// How long to wait before dialling again: doubling, up to a limit, and never twice the same for two devices.
///
/// "Equal jitter" (Brooker, "Exponential Backoff And Jitter", AWS 2015): half of the time is certain, half is drawn.
/// A pure value: the caller brings the randomness and waits.
package struct Backoff: Hashable, Sendable {
    /// Upper bound of the first wait.
    package let firstMilliseconds: Int
    /// Upper bound of every wait.
    package let longestMilliseconds: Int
    /// Failures since the last success.
    package private(set) var failures = 0

    /// Both bounds are taken as at least 1, and the longest as at least the first.
    package init(firstMilliseconds: Int = 500, longestMilliseconds: Int = 60_000) {
        self.firstMilliseconds = max(1, firstMilliseconds)
        self.longestMilliseconds = max(self.firstMilliseconds, longestMilliseconds)
    }

    /// Notes a failure and says how many milliseconds to wait: between half the bound and the bound, which is
    /// `firstMilliseconds` after the first failure and doubles up to `longestMilliseconds`.
    package mutating func nextMilliseconds(using random: inout some RandomNumberGenerator) -> Int {
        let bound = boundMilliseconds
        if failures < .max { failures += 1 }
        return Int.random(in: bound - bound / 2...bound, using: &random)
    }

    /// Notes a success: the next wait is short again.
    package mutating func reset() {
        failures = 0
    }

    private var boundMilliseconds: Int {
        // More doublings than bits would overflow; the limit is reached long before.
        let (doubled, overflow) = firstMilliseconds.multipliedReportingOverflow(by: 1 << min(failures, 32))
        return overflow ? longestMilliseconds : min(doubled, longestMilliseconds)
    }
}
