import Foundation
import Yams

/// The values of a note's own keys in front matter: all of them as text, since YAML takes `no` and `2026-11-23` for something else.
struct FrontMatterValues {
    private let nodes: [String: Node]

    /// - Parameter yaml: the lines of these keys, and no others.
    init?(_ yaml: String) {
        if yaml.isEmpty {
            nodes = [:]
            return
        }
        guard let mapping = (try? Yams.compose(yaml: yaml))?.mapping else { return nil }
        var nodes: [String: Node] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string else { return nil }
            nodes[name] = value
        }
        self.nodes = nodes
    }

    private func node(_ key: MarkdownNote.Key) -> Node? { nodes[key.ownName] ?? nodes[key.rawValue] }

    func string(_ key: MarkdownNote.Key) -> String? { node(key)?.scalar?.string }

    /// Whether there is a value that YAML takes for none.
    func isNull(_ key: MarkdownNote.Key) -> Bool { node(key)?.scalar.map(Self.isNull) ?? false }

    private static func isNull(_ scalar: Node.Scalar) -> Bool {
        scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    /// The elements of a list, with `nil` for each that is no text; `nil` if it is no list.
    func elements(_ key: MarkdownNote.Key) -> [String?]? { node(key)?.sequence?.map { $0.scalar?.string } }

    /// The elements of a list; `nil` if it is none, or holds more than text.
    func list(_ key: MarkdownNote.Key) -> [String]? {
        guard let elements = elements(key), !elements.contains(nil) else { return nil }
        return elements.compactMap(\.self)
    }

    /// A list, or words with commas or spaces between them.
    ///
    /// - Parameter text: the lines of the entry. With a word such as `#home`, which YAML takes for a comment, they are not understood.
    func words(_ key: MarkdownNote.Key, in text: String) -> [String]? {
        let hasRemark = zip(text.utf8, text.utf8.dropFirst()).contains { $0 == UInt8(ascii: "#") && $1 > 0x20 }
        if let list = list(key) { return hasRemark && list.contains("") ? nil : list }
        guard let scalar = node(key)?.scalar else { return nil }
        let value = text.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespacesAndNewlines)
        if scalar.style == .plain, hasRemark, value != scalar.string { return nil }
        if Self.isNull(scalar) { return [] }
        let hasCommas = scalar.string.contains(",")
        return scalar.string.split { hasCommas ? $0 == "," : $0.isWhitespace }.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    /// Whether `text` is YAML, if perhaps an empty one.
    static func isYAML(_ text: String) -> Bool {
        do {
            _ = try Yams.compose(yaml: text)
            return true
        } catch {
            return false
        }
    }

    /// `text` as a YAML value of one line.
    static func quoted(_ text: String) -> String {
        if isPlain(text) { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\" + String(scalar)
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            default: quoted += isPrintable(scalar) ? String(scalar) : escaped(scalar)
            }
        }
        return quoted + "\""
    }

    /// Whether every reader of YAML takes `text` for text as it stands: a word, or words, of letters.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first), text.utf8.last != UInt8(ascii: " ") else { return false }
        let isSafe = text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "-_/ ".utf8.contains($0) }
        return isSafe && !["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(text.lowercased())
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: false
        default: true
        }
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        let count = scalar.value > 0xFFFF ? 8 : 4
        return (count == 8 ? "\\U" : "\\u") + String(repeating: "0", count: count - digits.utf8.count) + digits
    }
}
