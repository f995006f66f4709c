import Foundation
import KithCausality
import KithStore
import Synchronization

/// A wall clock that stands still until a test sets it.
///
///     let clock = TestClock()
///     var options = SyncedApp.Options()
///     options.store = SyncedDatabase.Options(clock: clock)
///     let (phone, laptop) = try await SyncedApp.pair(tables: tables, migrator: migrator, options: options)
///     clock.advance(by: .seconds(3_600))
///
/// A store reads from it when something is written, what is old enough to be forgotten, and the time in the ids that it makes. Each device
/// may have one of its own, and be wrong. What the app reads itself does not follow: give its code ``now`` in place of `Date()`, and let it
/// write moments itself, not by `CURRENT_TIMESTAMP`. Connections keep the system's time.
public final class TestClock: Sendable {
    private let reading: Mutex<Date>

    /// - Parameter now: what it shows at first; 14 November 2023 without it.
    public init(_ now: Date = Date(timeIntervalSince1970: 1_700_000_000)) {
        reading = Mutex(now)
    }

    /// What it shows. A store that is set back goes on from its latest commit, as on a device whose clock is set back.
    public var now: Date {
        get { reading.withLock(\.self) }
        set { reading.withLock { $0 = newValue } }
    }

    /// Time passes.
    public func advance(by duration: Duration) {
        reading.withLock { $0 += duration / .seconds(1) }
    }

    /// As a store reads it; never before 1970 nor in the year 2200.
    fileprivate var timestamp: HybridTimestamp {
        let milliseconds = (now.timeIntervalSince1970 * 1_000).rounded()
        guard milliseconds > 0 else { return .zero }
        return HybridTimestamp(milliseconds: Int64(min(milliseconds, Double(HybridTimestamp.limit.milliseconds - 1))))
    }
}

extension SyncedDatabase.Options {
    /// A store that goes by a clock of the test.
    public init(clock: TestClock) {
        self.init(clock: { clock.timestamp })
    }
}
