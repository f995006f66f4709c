import ArgumentParser
import Foundation

/// A moment in the past as people write it.
struct Moment: ExpressibleByArgument, Hashable {
    let date: Date

    init(date: Date) { self.date = date }

    /// `today`, `yesterday`, a number of minutes, hours, days or weeks ago (`90m`, `3h`, `2d`, `1w`), or a date with or without a time
    /// (`2026-11-24`, `2026-11-24 18:30`), in this machine's time zone.
    init?(argument: String) {
        self.init(argument, now: Date(), calendar: .current)
    }

    init?(_ text: String, now: Date, calendar: Calendar) {
        let text = text.trimmingCharacters(in: .whitespaces).lowercased()
        let today = calendar.startOfDay(for: now)
        switch text {
        case "today": date = today
        case "yesterday":
            guard let yesterday = calendar.date(byAdding: .day, value: -1, to: today) else { return nil }
            date = yesterday
        default:
            if let ago = Self.ago(text), let then = calendar.date(byAdding: ago.unit, value: -ago.count, to: now) {
                date = then
            } else if let then = Self.parse(text, calendar) {
                date = then
            } else {
                return nil
            }
        }
    }

    private static func ago(_ text: String) -> (count: Int, unit: Calendar.Component)? {
        guard let last = text.last, let count = Int(text.dropLast()), (1...100_000).contains(count) else { return nil }
        switch last {
        case "m": return (count, .minute)
        case "h": return (count, .hour)
        case "d": return (count, .day)
        case "w": return (7 * count, .day)
        default: return nil
        }
    }

    private static func parse(_ text: String, _ calendar: Calendar) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.calendar = calendar
        formatter.timeZone = calendar.timeZone
        formatter.isLenient = false
        for format in ["yyyy-MM-dd", "yyyy-MM-dd HH:mm", "yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd't'HH:mm"] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }

    static let help = "today, yesterday, 90m, 3h, 2d, 1w, or a date such as 2026-11-24 or \"2026-11-24 18:30\"."
}
