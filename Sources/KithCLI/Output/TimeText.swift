import Foundation

/// A moment as people and programs read it. Moments come from other machines: any number may arrive.
struct TimeText {
    /// The years 1 to 9999.
    private static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    private let milliseconds: Int64

    /// `nil` for what no calendar shows.
    init?(milliseconds: Int64) {
        guard Self.range.contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    private var seconds: Int64 { (milliseconds - fraction) / 1_000 }

    private var fraction: Int64 { (milliseconds % 1_000 + 1_000) % 1_000 }

    /// `2026-02-01 17:03`, in local time.
    var local: String {
        let style = Date.ISO8601FormatStyle(timeZone: .current).year().month().day().dateTimeSeparator(.space)
            .time(includingFractionalSeconds: false)
        return String(Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(style).prefix(16))
    }

    /// `2026-02-01T16:03:05.123Z` (RFC 3339).
    var iso8601: String {
        let fraction = String(1_000 + fraction).dropFirst()
        return Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601).dropLast() + ".\(fraction)Z"
    }
}
