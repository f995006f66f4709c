import Foundation
import KithSync

/// The clocks of a running node.
enum MonotonicClock {
    private static let start = ContinuousClock.now

    /// Milliseconds since the process first asked; goes on while the machine sleeps.
    static var now: Instant {
        let elapsed = start.duration(to: .now).components
        return Instant(milliseconds: elapsed.seconds * 1_000 + elapsed.attoseconds / 1_000_000_000_000_000)
    }

    /// Milliseconds since 1970 by the wall clock.
    static var wallClockMilliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}
