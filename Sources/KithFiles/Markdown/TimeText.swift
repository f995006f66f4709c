import Foundation

/// Times as files write them (ISO 8601), in milliseconds since 1970.
enum TimeText {
    /// `2026-11-23T14:18:20.123Z`; `nil` for a time that has no such form, before the year 0 or after 9999.
    static func text(_ milliseconds: Int64) -> String? {
        let (days, rest) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        let day = rest < 0 ? days - 1 : days
        let time = Int(rest < 0 ? rest + 86_400_000 : rest)
        guard let date = civil(fromDays: day), (0...9_999).contains(date.year) else { return nil }
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return digits(date.year, 4) + "-" + digits(date.month, 2) + "-" + digits(date.day, 2) + "T" + digits(time / 3_600_000, 2) + ":"
            + digits(time / 60_000 % 60, 2) + ":" + digits(time / 1_000 % 60, 2) + "." + digits(time % 1_000, 3) + "Z"
    }

    /// Reads a day, alone or with a time, seconds, a fraction and a zone, in the extended or the basic form (`20261123T141820Z`).
    /// A time without a zone is one of `zone`.
    static func milliseconds(_ text: String, zone: TimeZone = .current) -> Int64? {
        var bytes = Array(text.utf8)[...]
        guard let year = number(&bytes, 4) else { return nil }
        let isExtended = skip(&bytes, "-")
        guard let month = number(&bytes, 2), !isExtended || skip(&bytes, "-"), let day = number(&bytes, 2),
            (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var time: Int64 = 0
        if let separator = bytes.first, separator == UInt8(ascii: "T") || separator == UInt8(ascii: " ") {
            bytes = bytes.dropFirst()
            guard let found = clock(&bytes) else { return nil }
            time = found
        }
        let utc = days(year, month, day) * 86_400_000 + time
        if bytes.first == UInt8(ascii: " ") { bytes = bytes.dropFirst() }
        guard let first = bytes.popFirst() else {
            let seconds = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(utc) / 1_000))
            return utc - Int64(seconds) * 1_000
        }
        if first == UInt8(ascii: "Z"), bytes.isEmpty { return utc }
        guard first == UInt8(ascii: "+") || first == UInt8(ascii: "-"), let hours = number(&bytes, 2) else { return nil }
        _ = skip(&bytes, ":")
        guard let minutes = bytes.isEmpty ? 0 : number(&bytes, 2), bytes.isEmpty else { return nil }
        let offset = Int64(hours * 60 + minutes) * 60_000
        return first == UInt8(ascii: "+") ? utc - offset : utc + offset
    }

    /// The time of the day, in milliseconds.
    private static func clock(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
        guard let hour = number(&bytes, 2) else { return nil }
        _ = skip(&bytes, ":")
        guard let minute = number(&bytes, 2), hour < 24, minute < 60 else { return nil }
        var milliseconds = Int64(hour * 60 + minute) * 60_000
        _ = skip(&bytes, ":")
        guard let second = number(&bytes, 2), second < 61 else { return milliseconds }
        milliseconds += Int64(second) * 1_000
        guard skip(&bytes, ".") else { return milliseconds }
        var unit: Int64 = 100
        while let digit = bytes.first, (0x30...0x39).contains(digit) {
            milliseconds += Int64(digit - 0x30) * unit
            unit /= 10
            bytes = bytes.dropFirst()
        }
        return milliseconds
    }

    private static func skip(_ bytes: inout ArraySlice<UInt8>, _ character: Unicode.Scalar) -> Bool {
        guard bytes.first == UInt8(ascii: character) else { return false }
        bytes = bytes.dropFirst()
        return true
    }

    private static func number(_ bytes: inout ArraySlice<UInt8>, _ digits: Int) -> Int? {
        let head = bytes.prefix(digits)
        guard head.count == digits, head.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        bytes = bytes.dropFirst(digits)
        return head.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": the proleptic Gregorian calendar, in days since 1970.

    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return Int64(era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468)
    }

    private static func civil(fromDays days: Int64) -> (year: Int, month: Int, day: Int)? {
        guard abs(days) < 100_000_000 else { return nil }
        let shifted = Int(days) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
