import Foundation

/// A generator whose numbers are the same in every run (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014).
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Notes like people's: bodies of about 600 bytes in the median and 1 KiB in the mean, up to 64 KiB.
struct Corpus {
    struct Note {
        var id: Data
        var title: String
        var body: String
        var color: Int
        var tags: String
        var created: Int64
        var updated: Int64
    }

    static let words = """
        the of and to in a is that for it as was with be by on not he his but at are this have from note idea plan list project
        meeting agenda action owner budget review draft update release version test build server client network device phone
        kitchen garden recipe flour sugar butter water oven minute hour morning evening travel train ticket hotel map mountain
        book chapter author quote summary paper research question answer method result figure table data sample error sync merge
        """.split(whereSeparator: \.isWhitespace).map(String.init)
    static let tags = ["work", "home", "todo", "ideas", "reading", "recipes", "travel", "health", "code", "family"]

    static func notes(_ count: Int, seed: UInt64 = 1) -> [Note] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { note($0, &random) }
    }

    /// A small row: a title of two words and no body.
    static func smallNotes(_ count: Int, seed: UInt64 = 2) -> [Note] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { index in
            Note(id: id(index, &random), title: text(2, &random), body: "", color: index % 5, tags: "[]", created: 0, updated: 0)
        }
    }

    private static func note(_ index: Int, _ random: inout SplitMix64) -> Note {
        let target = min(65_536, max(8, Int(exp(log(600.0) + 1.034 * gaussian(&random)))))
        var body = ""
        while body.utf8.count < target { body += text(Int.random(in: 8...60, using: &random), &random) + ".\n\n" }
        let chosen = tags.shuffled(using: &random).prefix(Int.random(in: 0...5, using: &random))
        let created = 1_600_000_000_000 + Int64.random(in: 0..<190_000_000_000, using: &random)
        return Note(
            id: id(index, &random), title: text(Int.random(in: 2...7, using: &random), &random), body: String(body.prefix(target)),
            color: Int.random(in: 0...4, using: &random), tags: "[" + chosen.map { "\"\($0)\"" }.joined(separator: ",") + "]",
            created: created, updated: created)
    }

    /// A UUID of version 7: later rows have higher ids.
    private static func id(_ index: Int, _ random: inout SplitMix64) -> Data {
        let milliseconds = UInt64(1_700_000_000_000 + index)
        let high = milliseconds << 16 | 0x7000 | UInt64(random.next() & 0xfff)
        let low = random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        return withUnsafeBytes(of: high.bigEndian) { Data($0) } + withUnsafeBytes(of: low.bigEndian) { Data($0) }
    }

    private static func text(_ count: Int, _ random: inout SplitMix64) -> String {
        (0..<count).map { _ in words[Int(random.next() % UInt64(words.count))] }.joined(separator: " ")
    }

    private static func gaussian(_ random: inout SplitMix64) -> Double {
        let a = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &random)
        let b = Double.random(in: 0..<1, using: &random)
        return (-2 * log(a)).squareRoot() * cos(2 * .pi * b)
    }
}
