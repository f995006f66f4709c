import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Times as files write them (ISO 8601), in milliseconds since 1970.
enum TimeText {
    /// `2026-11-23T14:18:20.123Z`; `nil` for a time that has no such form, before the year 0 or after 9999.
    static func text(_ milliseconds: Int64) -> String? {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        var (time, parts) = (time_t(rest < 0 ? seconds - 1 : seconds), tm())
        guard gmtime_r(&time, &parts) != nil, (0...9_999).contains(Int(parts.tm_year) + 1_900) else { return nil }
        func digits(_ number: some BinaryInteger, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return digits(parts.tm_year + 1_900, 4) + "-" + digits(parts.tm_mon + 1, 2) + "-" + digits(parts.tm_mday, 2) + "T"
            + digits(parts.tm_hour, 2) + ":" + digits(parts.tm_min, 2) + ":" + digits(parts.tm_sec, 2) + "."
            + digits(rest < 0 ? rest + 1_000 : rest, 3) + "Z"
    }

    /// Reads a day, alone or with a time, seconds, a fraction and a zone, in the extended or the basic form (`20261123T141820Z`).
    /// A time without a zone is one of `zone`.
    static func milliseconds(_ text: String, zone: TimeZone = .current) -> Int64? {
        var bytes = Array(text.utf8)[...]
        guard let year = number(&bytes, 4) else { return nil }
        let isExtended = skip(&bytes, "-")
        guard let month = number(&bytes, 2), !isExtended || skip(&bytes, "-"), let day = number(&bytes, 2),
            (1...12).contains(month), day >= 1,
            seconds(year, month, day) < (month < 12 ? seconds(year, month + 1, 1) : seconds(year + 1, 1, 1))
        else { return nil }
        var time: Int64 = 0
        if let separator = bytes.first, separator == UInt8(ascii: "T") || separator == UInt8(ascii: " ") {
            bytes = bytes.dropFirst()
            guard let found = clock(&bytes) else { return nil }
            time = found
        }
        let utc = seconds(year, month, day) * 1_000 + time
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

    /// A time without a zone as one of UTC; `nil` for any other.
    static func zonelessMilliseconds(_ text: String) -> Int64? {
        guard let utc = milliseconds(text, zone: .gmt), let zone = TimeZone(secondsFromGMT: 3_600) else { return nil }
        return milliseconds(text, zone: zone) == utc ? nil : utc
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

    /// The beginning of a day, in seconds since 1970.
    private static func seconds(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1_900), Int32(month - 1), Int32(day))
        return Int64(timegm(&parts))
    }
}
