import Foundation
import GRDB

/// What a person types to find notes, taken apart: `tag:home color:red "exact words" -without before:2026-11-01 coffee`.
public struct SearchText: Hashable, Sendable {
    /// What a note contains: words by their beginning, or words that follow each other exactly.
    struct Term: Hashable, Sendable {
        let text: String
        let isExact: Bool
    }

    /// Words such as `since:friday`, which are looked for as they stand, since no day or color is called so.
    public private(set) var notUnderstood: [String] = []

    var terms: [Term] = []
    var without: [Term] = []
    var tags: [String] = []
    var withoutTags: [String] = []
    var colors: [NoteColor] = []
    /// Changed on this day or later, and before this day; in milliseconds since 1970.
    var sinceMilliseconds: Int64?
    var beforeMilliseconds: Int64?

    /// What the index is asked in place of the terms, where these are looked for as parts of words.
    var widerMatch: String?

    /// Whether nothing is asked for.
    public var isEmpty: Bool { self == SearchText("") }

    /// Words, tags and the like beyond so many are left out: SQLite takes no question of any length.
    static let piecesMax = 100

    /// - Parameter calendar: says when a day begins.
    public init(_ text: String, calendar: Calendar = .current) {
        for piece in Self.pieces(of: text).prefix(Self.piecesMax) { take(piece, calendar) }
    }

    /// A part of the text between spaces.
    private struct Piece {
        var isWithout = false
        var text = ""
        var isQuoted = false
    }

    private static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var piece = Piece()
        var isOpen = false
        func finish() {
            if !piece.text.isEmpty { pieces.append(piece) }
            piece = Piece()
        }
        for character in text {
            switch character {
            case "\"", "\u{201C}", "\u{201D}":
                isOpen.toggle()
                piece.isQuoted = piece.isQuoted || piece.text.isEmpty
                if !isOpen { finish() }
            case _ where character.isWhitespace && !isOpen: finish()
            // SQLite would take it for the end of the text.
            case "\0": continue
            case "-" where piece.text.isEmpty && !isOpen && !piece.isWithout && !piece.isQuoted: piece.isWithout = true
            default: piece.text.append(character)
            }
        }
        finish()
        return pieces
    }

    private mutating func take(_ piece: Piece, _ calendar: Calendar) {
        let parts = piece.text.split(separator: ":", maxSplits: 1).map(String.init)
        if !piece.isQuoted, parts.count == 2 {
            let value = parts[1]
            switch parts[0].lowercased() {
            case "tag":
                let tag = value.hasPrefix("#") ? String(value.dropFirst()) : value
                if piece.isWithout { withoutTags.append(tag) } else { tags.append(tag) }
                return
            case "color" where !piece.isWithout:
                if let color = NoteColor(named: value) {
                    colors.append(color)
                    return
                }
            case "before" where !piece.isWithout:
                if let day = Self.day(value, calendar) {
                    beforeMilliseconds = day
                    return
                }
            case "since" where !piece.isWithout:
                if let day = Self.day(value, calendar) {
                    sinceMilliseconds = day
                    return
                }
            default: break
            }
            if !piece.isWithout, ["color", "before", "since"].contains(parts[0].lowercased()) { notUnderstood.append(piece.text) }
        }
        let term = Term(text: piece.text, isExact: piece.isQuoted)
        if piece.isWithout { without.append(term) } else { terms.append(term) }
    }

    /// The beginning of a day written as `2026-11-01`.
    static func day(_ text: String, _ calendar: Calendar) -> Int64? {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 3, zip(parts, [4, 2, 2]).allSatisfy({ (1...$1).contains($0.count) }) else { return nil }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let numbers = parts.compactMap { $0.allSatisfy(digits.contains) ? Int(Substring($0)) : nil }
        guard numbers.count == 3 else { return nil }
        let components = DateComponents(year: numbers[0], month: numbers[1], day: numbers[2])
        guard components.isValidDate(in: calendar), let date = calendar.date(from: components) else { return nil }
        return Int64(date.timeIntervalSince1970 * 1_000)
    }
}

extension SearchText.Term {
    /// For the index: as text between quotation marks, so that nothing in it means anything else. See "Full-text Query Syntax" of FTS5.
    var match: String {
        // By what SQLite sees: to a person, a quotation mark with an accent on it is no quotation mark.
        let inner = text.unicodeScalars.map { $0 == "\"" ? "\"\"" : $0 == "\0" ? " " : String($0) }.joined()
        let quoted = "\"\(inner)\""
        return isExact ? quoted : quoted + "*"
    }
}

extension SearchText {
    /// What the index is asked; `nil` if no words are looked for.
    var match: String? { widerMatch ?? (terms.isEmpty ? nil : terms.map(\.match).joined(separator: " AND ")) }

    /// Whether words are looked for, or left out.
    var usesIndex: Bool { !terms.isEmpty || !without.isEmpty }

    /// Whether it is asked for words by their beginning alone, which may be parts of words as well.
    var isAboutBeginnings: Bool { !terms.isEmpty && !terms.contains(where: \.isExact) }

    /// Whether something is looked for that is no word, such as an emoji: the index has words alone.
    var hasSigns: Bool {
        terms.contains { term in
            !term.text.unicodeScalars.contains { $0.properties.isAlphabetic || $0.properties.numericType != nil }
        }
    }

    /// A condition of SQL, with what stands for its question marks.
    typealias Filter = (sql: String, arguments: [any DatabaseValueConvertible])

    /// What else holds for a note that is meant.
    var filters: [Filter] {
        var filters: [Filter] = tags.map { Self.hasTag($0) }
        for tag in withoutTags {
            let filter = Self.hasTag(tag)
            filters.append(("NOT (\(filter.sql))", filter.arguments))
        }
        for color in colors {
            // As the index by color says it, of which notes without one are no part.
            filters.append(("note.color = ?" + (color == .none ? "" : " AND note.color <> 0"), [color.rawValue]))
        }
        if let sinceMilliseconds { filters.append(("note.updated >= ?", [sinceMilliseconds])) }
        if let beforeMilliseconds { filters.append(("note.updated < ?", [beforeMilliseconds])) }
        if !without.isEmpty {
            let match = without.map(\.match).joined(separator: " OR ")
            filters.append(("note.id NOT IN (\(SearchIndex.idsSQL))", [match]))
        }
        return filters
    }
}

/// Tags of notes.
extension SearchText {
    /// Whether a note has a tag, whatever its column holds.
    static func hasTag(_ tag: String) -> Filter {
        let exact = "EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(note.tags) THEN note.tags ELSE '[]' END) WHERE value = ?)"
        guard isPlain(tag) else { return (exact, [tag]) }
        // An array of plain texts, as nearly all are, need not be taken apart, which takes longer than all else.
        let plain = "note.tags GLOB '[[]\"*\"]' AND NOT note.tags GLOB '*[{\\]*' AND NOT substr(note.tags, 2) GLOB '*[[]*'"
        return ("CASE WHEN \(plain) THEN instr(note.tags, ?) > 0 ELSE \(exact) END", ["\"\(tag)\"", tag])
    }

    /// Whether a tag looks in JSON as it is, and nothing between two tags does.
    private static func isPlain(_ tag: String) -> Bool {
        !tag.isEmpty && tag.utf8.allSatisfy { $0 > 0x20 && !"\"\\,[]{}".utf8.contains($0) }
    }

    /// What the index is asked for notes that may have the tags: it knows them as words. `nil` if it cannot tell.
    var tagMatch: String? {
        let words = tags.filter(Self.hasWord).map { "tags : " + Term(text: $0, isExact: true).match }
        return words.isEmpty ? nil : words.joined(separator: " AND ")
    }

    /// Whether the index takes some of it for a word. Of scripts that all versions of SQLite know.
    private static func hasWord(_ tag: String) -> Bool {
        tag.unicodeScalars.contains { scalar in
            switch scalar.value {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0x391...0x3A1, 0x3B1...0x3C9, 0x410...0x44F,
                0x5D0...0x5EA, 0x621...0x63A, 0x905...0x939, 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FA5, 0xAC00...0xD7A3:
                true
            default: false
            }
        }
    }
}
