// Prints what Foundation makes of letters and times in all the ways that Kith, GRDB and ArgumentParser ask it to: built twice by
// scripts/unicode-test.sh, with all of its Unicode data and with what a release has of it, it prints the same.
import Foundation

/// FNV-1a: a line that is short, for a million letters.
struct Digest {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ text: String) {
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
        value = (value ^ 0xFF) &* 0x100_0000_01B3
    }
}

/// The planes between hold nothing.
let letters = [0..<0x40000, 0xE0000..<0xE1000].joined().compactMap { Unicode.Scalar($0 as UInt32) }.map { String($0) }

func digest(_ name: String, _ form: (String) -> String) {
    var digest = Digest()
    for letter in letters { digest.add(form(letter)) }
    print(name, String(digest.value, radix: 16), form("Ärger mit ẞ, Éclair, ＦＵＬＬ, ﬁn, İstanbul, 각, が, กำ"))
}

digest("composed") { $0.precomposedStringWithCanonicalMapping }
digest("decomposed") { $0.decomposedStringWithCanonicalMapping }
digest("compatible") { $0.precomposedStringWithCompatibilityMapping }
digest("folded") { $0.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil) }
digest("without case") { $0.folding(options: .caseInsensitive, locale: nil) }
digest("lower") { $0.lowercased() }
digest("lower here") { $0.localizedLowercase }
digest("upper here") { $0.localizedUppercase }
digest("percent") { $0.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? "none" }
digest("kinds") { letter in
    let sets: [CharacterSet] = [.alphanumerics, .whitespacesAndNewlines, .punctuationCharacters, .controlCharacters, .urlQueryAllowed]
    return sets.map { set in letter.unicodeScalars.allSatisfy(set.contains) ? "1" : "0" }.joined()
}

let words = ["Zebra", "Äpfel", "apfel", "Apfel", "10", "9", "straße", "Strasse", "Éclair", "eclair", "øre", "日本", "한국", "мир", "\u{1F600}"]
print("sorted", words.sorted { $0.localizedStandardCompare($1) == .orderedAscending })
print("sorted", words.sorted { $0.localizedCaseInsensitiveCompare($1) == .orderedAscending })
print("found", "Grüße aus Köln".range(of: "GRUSSE", options: [.caseInsensitive, .diacriticInsensitive]) != nil)

let day: TimeInterval = 86_400
let moments = stride(from: -10 * 365 * day, to: 80 * 365 * day, by: 10.37 * day).map(Date.init(timeIntervalSince1970:))
for name in [
    "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia", "Africa/Casablanca", "Australia/Lord_Howe", "UTC", "GMT+3",
] {
    guard let zone = TimeZone(identifier: name) else { print(name, "is unknown"); continue }
    var digest = Digest()
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    let style = Date.ISO8601FormatStyle(timeZone: zone).year().month().day().dateTimeSeparator(.space).time(
        includingFractionalSeconds: true)
    for moment in moments {
        digest.add(moment.formatted(style))
        digest.add("\(zone.secondsFromGMT(for: moment)) \(zone.isDaylightSavingTime(for: moment))")
        let parts = calendar.dateComponents([.year, .month, .day, .weekday, .weekOfYear, .hour], from: moment)
        digest.add(
            "\(parts.year ?? 0) \(parts.month ?? 0) \(parts.day ?? 0) \(parts.weekday ?? 0) \(parts.weekOfYear ?? 0) \(parts.hour ?? 0)")
    }
    print(name, String(digest.value, radix: 16), moments[1200].formatted(style))
}
print("zones", TimeZone.knownTimeZoneIdentifiers.count)
print("here", TimeZone.current.identifier, Locale.current.identifier, moments[900].formatted(.iso8601))

let formatter = DateFormatter()
formatter.locale = Locale(identifier: "en_US_POSIX")
formatter.dateFormat = "yyyy-MM-dd HH:mm:ss.SSS EEE MMM"
formatter.timeZone = TimeZone(secondsFromGMT: 0)
print("formatter", moments[1000 + 7].description, formatter.string(from: moments[1007]))
print("read", formatter.date(from: "2026-03-29 02:30:00.000 Sun Mar")?.timeIntervalSince1970 ?? -1)
print("numbers", String(format: "%.3f %05d %@", 3.14159, 42, "x"), Decimal(string: "12.5", locale: Locale(identifier: "en_US_POSIX")) ?? 0)
let missing = #"/nowhere/at/all"#
do { _ = try Data(contentsOf: URL(fileURLWithPath: missing)) } catch { print("error", error.localizedDescription) }
do { _ = try JSONDecoder().decode([Int].self, from: Data("[1,".utf8)) } catch { print("error", error.localizedDescription) }
