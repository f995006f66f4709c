/// Numbers with units, as people write them.
enum Quantity {
    private static let times: [(String, Double)] = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000),
    ]
    private static let rates: [(String, Double)] = [("kbit", 1e3), ("Mbit", 1e6), ("Gbit", 1e9), ("bit", 1)]
    private static let sizes: [(String, Double)] = [("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("B", 1)]
    /// About ten years; more is a slip of the pen.
    private static let millisecondsMax = 86_400_000.0 * 3_660

    /// `1d 2h`, `90s`, `-3m`, `250ms`; `nil` for anything else.
    static func milliseconds(_ text: String) -> Double? {
        var rest = text.filter { $0 != " " }[...]
        let sign = rest.first == "-" ? -1.0 : 1.0
        if rest.first == "-" || rest.first == "+" { rest = rest.dropFirst() }
        if rest == "0" { return 0 }
        if rest.isEmpty { return nil }
        var total = 0.0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isNumber || $0 == "." }
            let unit = rest.dropFirst(digits.count).prefix { $0.isLetter }
            guard let number = Double(digits), let factor = times.first(where: { $0.0 == unit })?.1 else { return nil }
            total += number * factor
            rest = rest.dropFirst(digits.count + unit.count)
        }
        return total > millisecondsMax ? nil : sign * total
    }

    /// `1Mbit`, `64kbit`: bits per second.
    static func bitsPerSecond(_ text: String) -> Double? { scaled(text, rates) }

    /// `8MB`: bytes.
    static func bytes(_ text: String) -> Double? { scaled(text, sizes) }

    /// `2%`: of a hundred.
    static func percent(_ text: String) -> Double? {
        guard text.hasSuffix("%"), let number = Double(text.dropLast()), (0...100).contains(number) else { return nil }
        return number
    }

    private static func scaled(_ text: String, _ units: [(String, Double)]) -> Double? {
        guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }),
            let number = Double(text.dropLast(unit.count)), number > 0, number * factor < 1e15
        else { return nil }
        return number * factor
    }

    /// `day 2, 09:30`, `12.5 s`: a moment of a scenario, for people.
    static func moment(_ milliseconds: Int64, lasts: Int64) -> String {
        let (seconds, minutes) = (milliseconds / 1_000, milliseconds / 60_000)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        if lasts >= 172_800_000 { return "day \(minutes / 1_440 + 1), \(two(minutes / 60 % 24)):\(two(minutes % 60))" }
        if lasts >= 7_200_000 { return "\(two(minutes / 60)):\(two(minutes % 60))" }
        return "\(seconds / 60):\(two(seconds % 60)).\(milliseconds % 1_000 / 100)"
    }

    /// `350 ms`, `12.5 s`, `3 min`.
    static func span(_ milliseconds: Double) -> String {
        func round(_ number: Double) -> String {
            let tenths = Int((number * 10).rounded())
            return tenths % 10 == 0 || tenths >= 1_000 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        }
        if milliseconds < 1_000 { return "\(Int(milliseconds.rounded())) ms" }
        if milliseconds < 120_000 { return round(milliseconds / 1_000) + " s" }
        if milliseconds < 7_200_000 { return round(milliseconds / 60_000) + " min" }
        if milliseconds < 172_800_000 { return round(milliseconds / 3_600_000) + " h" }
        return round(milliseconds / 86_400_000) + " days"
    }

    /// `812 B`, `12.3 kB`.
    static func size(_ bytes: Int) -> String {
        if bytes < 1_000 { return "\(bytes) B" }
        let (unit, value) = bytes < 1_000_000 ? ("kB", Double(bytes) / 1e3) : ("MB", Double(bytes) / 1e6)
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
