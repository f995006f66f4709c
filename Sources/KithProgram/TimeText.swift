import Foundation

/// A moment as people and programs read it. Moments come from other machines: any number may arrive.
package struct TimeText {
    /// The years 1 to 9999.
    private static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    private let milliseconds: Int64

    /// `nil` for what no calendar shows.
    package init?(milliseconds: Int64) {
        guard Self.range.contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    package init?(_ date: Date) {
        guard let milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded()) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    private var seconds: Int64 { (milliseconds - fraction) / 1_000 }

    private var fraction: Int64 { (milliseconds % 1_000 + 1_000) % 1_000 }

    /// `2026-02-01 17:03`, in local time.
    package var local: String {
        let text = Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(Self.localStyle)
        // Without the seconds. By bytes, which is a good deal faster where lists are long.
        return String(decoding: text.utf8.prefix(16), as: UTF8.self)
    }

    private static let localStyle = Date.ISO8601FormatStyle(timeZone: .current).year().month().day().dateTimeSeparator(.space)
        .time(includingFractionalSeconds: false)

    /// `5 min ago`, `3 h ago`, `2 days ago`; the date for what is a month ago or in the future.
    package func ago(nowMilliseconds now: Int64) -> String {
        let seconds = (now - min(milliseconds, now)) / 1_000
        return switch seconds {
        case _ where milliseconds > now + 60_000: String(local.prefix(10))
        case ..<60: "just now"
        case ..<3_600: "\(seconds / 60) min ago"
        case ..<86_400: "\(seconds / 3_600) h ago"
        case ..<172_800: "1 day ago"
        case ..<2_592_000: "\(seconds / 86_400) days ago"
        default: String(local.prefix(10))
        }
    }

    /// `2026-02-01T16:03:05.123Z` (RFC 3339).
    package var iso8601: String {
        let fraction = String(1_000 + fraction).dropFirst()
        return Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601).dropLast() + ".\(fraction)Z"
    }
}
