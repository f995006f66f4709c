import Foundation

/// The links in a Markdown text to files beside it: `[text](path)`, `![text](<a path>)`, `[[path]]`, `![[path|text]]`, `[name]: path`,
/// `<img src="path">`, `<a href="path">`.
///
/// The search also finds what only looks like a link, as in code: its caller knows which files there are.
package enum MarkdownLinks {
    /// A link to a file, perhaps.
    struct Link: Hashable {
        /// As it is meant: without percent encoding.
        let path: String
        /// Whether it is in the form of a wiki, which may also give the name of the file alone.
        let isWiki: Bool
    }

    /// The text with the paths of links replaced for which `replacement` returns another one. What follows the path, as `#page=2`, stays, and
    /// so does what stands in code, which `replacement` is asked for, too.
    ///
    /// - Parameter isFormer: whether to do it as earlier versions did, which dropped that, and knew neither links in tables nor code.
    static func replacing(_ text: String, isFormer: Bool = false, _ replacement: (Link) throws -> String?) rethrows -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var copied = 0
        lazy var code = MarkdownCode(bytes)
        for found in targets(in: bytes, isFormer) {
            for reading in readings(of: bytes[found.range], found.isWiki, isFormer) {
                guard let path = try replacement(reading.link) else { continue }
                if !isFormer, code.contains(found.range.lowerBound) { break }
                result += bytes[copied..<found.range.lowerBound]
                result += Array(found.written(path, isFormer).utf8)
                copied = isFormer ? found.range.upperBound : reading.end
                break
            }
        }
        return copied == 0 ? text : String(decoding: result + bytes[copied...], as: UTF8.self)
    }

    /// What each link may mean, the likeliest first.
    static func links(in text: String) -> [[Link]] {
        let bytes = Array(text.utf8)
        return targets(in: bytes, false).map { readings(of: bytes[$0.range], $0.isWiki, false).map(\.link) }
    }

    private struct Target {
        let range: Range<Int>
        let isWiki: Bool
        var isInAngles = false

        /// A path as it stands in a link of this form.
        func written(_ path: String, _ isFormer: Bool) -> String {
            if isWiki || (isInAngles && isFormer) { return path }
            return isInAngles ? MarkdownLinks.encodedInAngles(path) : MarkdownLinks.encoded(path)
        }
    }

    /// What all links lead to, in order.
    private static func targets(in bytes: [UInt8], _ isFormer: Bool) -> [Target] {
        guard bytes.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "=") }) else { return [] }
        var (targets, position): ([Target], Int) = ([], 0)
        while position + 1 < bytes.count {
            if let found = target(in: bytes, at: position, isFormer) {
                targets.append(found)
                position = found.range.upperBound
            } else {
                position += 1
            }
        }
        return targets
    }

    /// What the link that begins here leads to.
    private static func target(in bytes: [UInt8], at start: Int, _ isFormer: Bool) -> Target? {
        let (first, second) = (bytes[start], bytes[start + 1])
        if first == UInt8(ascii: "["), second == UInt8(ascii: "[") {
            let end = bytes[(start + 2)...].prefix(1_024).firstIndex { "]|#\n".utf8.contains($0) }
            guard let end, end > start + 2, bytes[end] != UInt8(ascii: "\n") else { return nil }
            // Within a table, the bar has a backslash before it.
            let isInTable = bytes[end] == UInt8(ascii: "|") && bytes[end - 1] == UInt8(ascii: "\\") && !isFormer
            return Target(range: start + 2..<(isInTable ? end - 1 : end), isWiki: true)
        }
        if first == UInt8(ascii: "=") { return attribute(in: bytes, at: start, isFormer) }
        guard first == UInt8(ascii: "]") else { return nil }
        if second == UInt8(ascii: "(") { return destination(in: bytes, at: start + 2, isFormer) }
        if second == UInt8(ascii: ":"), isDefinition(bytes, until: start, isFormer) {
            func afterBlanks(_ start: Int) -> Int? { bytes[start...].firstIndex { $0 != 0x20 && $0 != 0x09 && (isFormer || $0 != 0x0D) } }
            guard var begin = afterBlanks(start + 2) else { return nil }
            // The destination may stand on the next line.
            if !isFormer, bytes[begin] == 0x0A, let next = afterBlanks(begin + 1) { begin = next }
            if let range = inAngles(bytes, at: begin, isFormer) { return Target(range: range, isWiki: false, isInAngles: true) }
            let range = begin..<(bytes[begin...].firstIndex(where: isSpace) ?? bytes.count)
            return range.isEmpty || range.count > 4_096 ? nil : Target(range: range, isWiki: false)
        }
        return nil
    }

    /// What a link in parentheses leads to, behind the first of them. Earlier versions knew neither spaces before it nor backslashes.
    private static func destination(in bytes: [UInt8], at start: Int, _ isFormer: Bool) -> Target? {
        let begin = isFormer ? start : bytes[start...].prefix(64).firstIndex { !isSpace($0) } ?? start
        if let range = inAngles(bytes, at: begin, isFormer) { return Target(range: range, isWiki: false, isInAngles: true) }
        var (depth, isEscaped) = (0, false)
        for index in bytes[begin...].prefix(4_096).indices {
            let escapes = !isEscaped && !isFormer && bytes[index] == UInt8(ascii: "\\")
            defer { isEscaped = escapes }
            if isEscaped, "()".utf8.contains(bytes[index]) { continue }
            switch bytes[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")") where depth > 0: depth -= 1
            case UInt8(ascii: ")"), 0x20, 0x09, 0x0A, 0x0D:
                return index > begin ? Target(range: begin..<index, isWiki: false) : nil
            default: continue
            }
        }
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    /// What stands in `<` and `>` from here. Earlier versions knew no backslashes.
    private static func inAngles(_ bytes: [UInt8], at start: Int, _ isFormer: Bool) -> Range<Int>? {
        guard start < bytes.count, bytes[start] == UInt8(ascii: "<") else { return nil }
        func isEscaped(_ index: Int) -> Bool { !isFormer && bytes[..<index].reversed().prefix { $0 == UInt8(ascii: "\\") }.count % 2 == 1 }
        let end = bytes[(start + 1)...].prefix(4_096).indices.first { index in
            bytes[index] == UInt8(ascii: "\n") || bytes[index] == UInt8(ascii: ">") && !isEscaped(index)
        }
        guard let end, bytes[end] == UInt8(ascii: ">"), end > start + 1 else { return nil }
        return start + 1..<end
    }

    /// Whether the line up to here, where a `]` stands, is the name of a definition: `[name`, in a quote, too.
    private static func isDefinition(_ bytes: [UInt8], until end: Int, _ isFormer: Bool) -> Bool {
        let before = bytes[..<end].suffix(1_024)
        let begin = before.lastIndex { "]\n".utf8.contains($0) } ?? before.startIndex - 1
        guard begin < before.startIndex || bytes[begin] == UInt8(ascii: "\n") else { return false }
        var line = bytes[(begin + 1)..<end]
        if !isFormer, let quote = line.prefix(while: { " >".utf8.contains($0) }).lastIndex(of: UInt8(ascii: ">")) {
            line = line[(quote + 1)...].drop { $0 == 0x20 }
        }
        let spaces = line.prefix { $0 == 0x20 }.count
        return spaces <= 3 && line.dropFirst(spaces).first == UInt8(ascii: "[")
    }

    /// The value of `src` or `href`, of which the equals sign is here. Within a tag alone, there may be spaces beside the sign, or no
    /// quotes.
    private static func attribute(in bytes: [UInt8], at sign: Int, _ isFormer: Bool) -> Target? {
        let blanks =
            isFormer ? (0, 0) : (bytes[..<sign].suffix(64).reversed().prefix(while: isSpace).count, spaces(in: bytes, from: sign + 1))
        let (end, start) = (sign - blanks.0, sign + 1 + blanks.1)
        let isName = ["src", "href"].contains { name in
            let begin = end - name.utf8.count
            return begin > 0 && isSpace(bytes[begin - 1]) && zip(bytes[begin..<end], name.utf8).allSatisfy { $0 | 0x20 == $1 }
        }
        guard isName, start < bytes.count else { return nil }
        func isInTag() -> Bool { bytes[..<end].suffix(1_024).last { "<>".utf8.contains($0) } == UInt8(ascii: "<") }
        if blanks != (0, 0), !isInTag() { return nil }
        let quote = bytes[start]
        if quote != UInt8(ascii: "\""), quote != UInt8(ascii: "'") {
            let value = bytes[start...].prefix(4_096).prefix { !isSpace($0) && $0 != UInt8(ascii: ">") }
            return isFormer || !isInTag() || value.isEmpty ? nil : Target(range: value.indices, isWiki: false)
        }
        guard let close = bytes[(start + 1)...].prefix(4_096).firstIndex(where: { $0 == quote || $0 == UInt8(ascii: "\n") }),
            bytes[close] == quote, close > start + 1
        else { return nil }
        return Target(range: start + 1..<close, isWiki: false)
    }

    private static func spaces(in bytes: [UInt8], from start: Int) -> Int { bytes[start...].prefix(64).prefix(while: isSpace).count }

    private typealias Reading = (link: Link, end: Int)

    /// The paths that a link may mean, the likeliest first, each with where it ends in the text. First as Markdown reads it; then with `#`
    /// and `%` as parts of the name; then with backslashes as escapes, or as the slashes of Windows, and with the characters that HTML names;
    /// then without what follows a `?`, as from a website.
    private static func readings(of bytes: ArraySlice<UInt8>, _ isWiki: Bool, _ isFormer: Bool) -> some Sequence<Reading> {
        let text = String(decoding: bytes, as: UTF8.self)
        let isElsewhere = text.contains("://") || text.hasPrefix("mailto:") || text.hasPrefix("data:") || (isWiki && text.hasPrefix("#"))
        var (ends, meanings): ([Int], [(ArraySlice<UInt8>) -> String]) = ([bytes.endIndex], [])
        if isWiki {
            meanings.append { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespaces) }
        } else if isFormer {
            meanings.append { path in
                let path = String(decoding: path, as: UTF8.self)
                return path.removingPercentEncoding ?? path
            }
        } else {
            meanings.append { decoded(String(decoding: $0, as: UTF8.self)) }
            if bytes.contains(UInt8(ascii: "%")) { meanings.append { String(decoding: $0, as: UTF8.self) } }
            if bytes.contains(UInt8(ascii: "\\")) {
                meanings.append { decoded(String(decoding: withoutEscapes($0), as: UTF8.self)) }
                meanings.append { decoded(String(decoding: $0.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }, as: UTF8.self)) }
            }
            if text.contains("&") { meanings.append { decoded(withoutEntities(String(decoding: $0, as: UTF8.self))) } }
        }
        if !isWiki, let mark = bytes.firstIndex(of: UInt8(ascii: "#")) {
            ends = (mark == bytes.startIndex ? [] : [mark]) + (isFormer ? [] : ends)
        }
        if !isWiki, !isFormer, let mark = bytes.dropFirst().firstIndex(of: UInt8(ascii: "?")) { ends.append(mark) }
        // Most links mean what the first reading says.
        return (isElsewhere ? [] : meanings).lazy.flatMap { path in
            ends.lazy.map { (Link(path: path(bytes[..<$0]), isWiki: isWiki), $0) }
        }
    }

    /// A path with the characters that HTML names, of those that names of files have.
    private static func withoutEntities(_ path: String) -> String {
        let names = [("&#39;", "'"), ("&#x27;", "'"), ("&apos;", "'"), ("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
        return names.reduce(path) { $0.replacing($1.0, with: $1.1) }
    }

    /// A path without the backslashes that escape a sign of ASCII.
    private static func withoutEscapes(_ path: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in path {
            if isEscaped, !isPunctuation(byte) { bytes.append(UInt8(ascii: "\\")) }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            if !isEscaped { bytes.append(byte) }
        }
        return isEscaped ? bytes + [UInt8(ascii: "\\")] : bytes
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E].contains { $0.contains(byte) }
    }

    /// The path that the destination of a link means. A `%` that begins no code stands for itself.
    static func decoded(_ path: String) -> String {
        if let path = path.removingPercentEncoding { return path }
        let bytes = Array(path.utf8)
        func isDigit(_ index: Int) -> Bool { index < bytes.count && Character(UnicodeScalar(bytes[index])).isHexDigit }
        let marked = bytes.indices.flatMap { index in
            let isCode = bytes[index] != UInt8(ascii: "%") || (isDigit(index + 1) && isDigit(index + 2))
            return isCode ? [bytes[index]] : Array("%25".utf8)
        }
        return String(decoding: marked, as: UTF8.self).removingPercentEncoding ?? path
    }

    /// A path as the destination of a link.
    package static func encoded(_ path: String) -> String {
        path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
    }

    /// A path as the destination of a link in `<` and `>`: as it is, but for what would mean something else there.
    static func encodedInAngles(_ path: String) -> String { encodedInAngles(path, signs: decoded(path) == path ? signs : "%" + signs) }

    /// The forms in which a person may write a path in a link.
    static func forms(_ path: String) -> Set<String> {
        [path, encoded(path), encodedInAngles(path), encodedInAngles(path, signs: "%" + signs)]
    }

    private static let signs = "#<>\\\r\n"

    private static func encodedInAngles(_ path: String, signs: String) -> String {
        path.unicodeScalars.reduce(into: "") { text, scalar in
            let isSign = signs.unicodeScalars.contains(scalar)
            if isSign {
                text += (scalar.value < 16 ? "%0" : "%") + String(scalar.value, radix: 16, uppercase: true)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    private static let allowed: CharacterSet = {
        var set = CharacterSet.urlPathAllowed
        set.remove(charactersIn: "()<>")
        return set
    }()
}
