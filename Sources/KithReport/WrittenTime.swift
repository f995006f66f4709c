import Foundation
import Kith
import KithProgram

/// When something was written, as far as its stamp tells.
///
/// A store's clock never goes back: if the store has heard of a later time than its wall clock shows, it counts on from that. So, once the
/// clock of one device was ahead, all devices date their writes by it, until their wall clocks have caught up. A stamp that was counted on
/// says only that the write was not later; nor was it later than now.
package struct WrittenTime {
    private let time: TimeText?
    private let isCounted: Bool

    /// A clock that is ahead by some seconds is right enough for that.
    private static let aheadMilliseconds: Int64 = 60_000

    /// A time that was counted on and is still to come, and one more than a day ahead, say nothing.
    package init(_ timestamp: HybridTimestamp, nowMilliseconds now: Int64 = Int64(Date().timeIntervalSince1970 * 1_000)) {
        isCounted = timestamp.counter > 0
        let end = now + (isCounted ? Self.aheadMilliseconds : 86_400_000)
        let latest = isCounted ? min(timestamp.milliseconds, now) : timestamp.milliseconds
        time = timestamp.milliseconds > end ? nil : TimeText(milliseconds: latest)
    }

    /// `2026-02-01 17:03`, in local time, perhaps with "at the latest"; or "at an unknown time".
    package var text: String {
        guard let time else { return "at an unknown time" }
        return isCounted ? "\(time.local) at the latest" : time.local
    }

    /// RFC 3339; `nil` if the writer's clock did not show it.
    package var iso8601: String? { isCounted ? nil : time?.iso8601 }

    /// RFC 3339, for what was written then or before; `nil` if ``iso8601`` is known, or nothing is.
    package var latestISO8601: String? { isCounted ? time?.iso8601 : nil }
}
