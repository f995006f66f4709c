import Foundation

/// Turns HTML of other programs into Markdown: headings, lists, check lists, links, pictures, tables and emphasis; the rest as text.
struct HTMLMarkdown {
    /// A file that the HTML names by a hash, as notes of Evernote do.
    struct Media {
        let path: String
        let isPicture: Bool
    }

    /// By the hash that names it.
    var media: [String: Media] = [:]
    /// Takes a picture that stands within the HTML, and gives the path that the text names it by; `nil` leaves it out.
    var keep: (EmbeddedPicture) -> String? = { _ in nil }
    /// Called for each file that the HTML names by a hash that is not known.
    var miss: () -> Void = {}

    static let depthMax = 200

    /// The title, if it has one, and the text: the HTML itself where thousands of elements stand within each other.
    static func read(
        _ bytes: [UInt8], media: [String: Media] = [:], keep: (EmbeddedPicture) -> String? = { _ in nil }, miss: () -> Void = {}
    ) -> (title: String?, text: String) {
        let read: HTMLDocument?
        do { read = try HTMLDocument(bytes) } catch { return (nil, String(decoding: bytes, as: UTF8.self)) }
        guard let document = read else { return (nil, "") }
        let found = document.withRoot { root -> (String?, String) in
            let title = root.first("title")?.content.trimmingCharacters(in: .whitespacesAndNewlines)
            let body = root.first("body") ?? root
            let text = withoutActuallyEscaping(keep) { keep in
                withoutActuallyEscaping(miss) { HTMLMarkdown(media: media, keep: keep, miss: $0).text(of: body) }
            }
            return (title.flatMap { $0.isEmpty ? nil : $0 }, text)
        }
        return found ?? (nil, "")
    }

    /// A line of plain text as Markdown that shows it.
    static func line(_ text: String) -> String { escaped(text).trimmingCharacters(in: .whitespaces) }

    /// A part that stands by itself.
    private struct Block {
        let text: String
        /// Whether it is an element of a list, so that no empty line parts it from the next.
        var isItem = false
    }

    private func text(of node: HTMLNode) -> String {
        let text = joined(blocks(in: node, 0))
        return text.isEmpty ? "" : text + "\n"
    }

    private func joined(_ blocks: [Block]) -> String {
        var text = ""
        for (index, block) in blocks.enumerated() {
            if index > 0 { text += block.isItem && blocks[index - 1].isItem ? "\n" : "\n\n" }
            text += block.text
        }
        return text
    }

    private static let containers: Set<String> = [
        "html", "body", "div", "p", "section", "article", "header", "footer", "main", "en-note", "address", "figure", "figcaption", "dl",
        "dt", "dd", "form", "center", "ul", "ol", "li", "blockquote", "pre", "table", "caption", "hr", "h1", "h2", "h3", "h4", "h5", "h6",
    ]
    private static let unseen: Set<String> = ["script", "style", "head", "title", "meta", "link", "template"]

    private func blocks(in node: HTMLNode, _ depth: Int) -> [Block] {
        if depth > Self.depthMax { return [Block(text: node.content)] }
        var blocks: [Block] = []
        var line = ""
        func endLine() {
            let text = line.trimmingCharacters(in: .whitespacesAndNewlines)
            line = ""
            if text.isEmpty { return }
            let isTask = text.hasPrefix("[ ] ") || text.hasPrefix("[x] ")
            blocks.append(Block(text: isTask ? "- " + text : text, isItem: isTask))
        }
        for child in node.children {
            if let name = child.name, Self.containers.contains(name) {
                endLine()
                blocks += block(child, name, depth + 1)
            } else {
                line += inline(child, depth + 1)
            }
        }
        endLine()
        return blocks
    }

    private func block(_ node: HTMLNode, _ name: String, _ depth: Int) -> [Block] {
        switch name {
        case "h1", "h2", "h3", "h4", "h5", "h6":
            let text = inlineChildren(node, depth).trimmingCharacters(in: .whitespacesAndNewlines).replacingOccurrences(of: "\n", with: " ")
            return text.isEmpty ? [] : [Block(text: String(repeating: "#", count: Int(name.dropFirst()) ?? 1) + " " + text)]
        case "hr": return [Block(text: "---")]
        case "pre": return [Self.code(node.content)]
        case "div" where node["style"]?.contains("-en-codeblock:") == true: return [Self.code(Self.lines(of: node, depth))]
        case "ul": return items(of: node, from: nil, depth)
        case "ol": return items(of: node, from: Self.number(node["start"]) ?? 1, depth)
        case "blockquote":
            let lines = joined(blocks(in: node, depth)).split(separator: "\n", omittingEmptySubsequences: false)
            return [Block(text: lines.map { $0.isEmpty ? ">" : "> " + $0 }.joined(separator: "\n"))]
        case "table": return table(node, depth)
        default: return blocks(in: node, depth)
        }
    }

    private static func code(_ content: String) -> Block {
        let text = content.trimmingCharacters(in: .newlines)
        let fence = text.contains("```") ? "~~~~" : "```"
        return Block(text: "\(fence)\n\(text)\n\(fence)")
    }

    /// The text of a block of code of Evernote, which has an element for each line.
    private static func lines(of node: HTMLNode, _ depth: Int) -> String {
        if depth > depthMax { return node.content }
        return node.children.map { child in
            if let text = child.text { return text.replacingOccurrences(of: "\u{A0}", with: " ") }
            if child.name == "br" { return child.isLast ? "" : "\n" }
            let text = lines(of: child, depth + 1)
            return child.name == "div" || child.name == "p" ? text + "\n" : text
        }.joined()
    }

    /// The number of an element of a list, where Markdown can write it: of at most nine digits.
    private static func number(_ text: String?) -> Int? {
        text.flatMap { Int($0) }.flatMap { (0..<1_000_000_000).contains($0) ? $0 : nil }
    }

    /// - Parameter first: the number of the first element; `nil` in a list without numbers.
    private func items(of list: HTMLNode, from first: Int?, _ depth: Int) -> [Block] {
        var items: [Block] = []
        var next = first
        for child in list.children where !(child.text?.allSatisfy(\.isWhitespace) ?? child.name.map(Self.unseen.contains) ?? true) {
            // A list within a list that is no element of it: some editors write so. What comes before all elements is moved out of the list.
            if child.name == "ul" || child.name == "ol" {
                let parts = depth > Self.depthMax ? [Block(text: child.content)] : block(child, child.name ?? "", depth + 1)
                items += parts.map { items.isEmpty ? $0 : Block(text: Self.indented("  " + $0.text, by: 2), isItem: true) }
                continue
            }
            let number = next.map { Self.number(child["value"]) ?? $0 }
            next = number.map { min($0 + 1, 999_999_999) }
            let marker = number.map { "\($0). " } ?? "- "
            var text = child.name == nil ? inline(child, depth).trimmingCharacters(in: .whitespacesAndNewlines) : ""
            if child.name != nil { text = joined(blocks(in: child, depth + 1).map { Block(text: $0.text, isItem: true) }) }
            if text.hasPrefix("- [") { text.removeFirst(2) }
            if let isDone = Self.isDone(child, in: list) { text = (isDone ? "[x] " : "[ ] ") + text }
            items.append(Block(text: marker + Self.indented(text, by: marker.utf8.count), isItem: true))
        }
        return items
    }

    /// Whether an element of a check list of Evernote is done; `nil` in other lists.
    private static func isDone(_ item: HTMLNode, in list: HTMLNode) -> Bool? {
        func says(_ node: HTMLNode, _ words: String) -> Bool {
            node.name != nil && node["style"]?.filter { $0 != " " }.contains("--en-" + words) == true
        }
        if says(item, "checked:true") { return true }
        return says(item, "checked:false") || says(list, "todo:true") && item.name == "li" ? false : nil
    }

    /// All lines but the first moved to the right.
    private static func indented(_ text: String, by count: Int) -> String {
        text.replacingOccurrences(of: "\n", with: "\n" + String(repeating: " ", count: count))
    }

    private func table(_ node: HTMLNode, _ depth: Int) -> [Block] {
        var rows: [[String]] = []
        var captions: [Block] = []
        func collect(_ node: HTMLNode, _ depth: Int) {
            if depth > Self.depthMax { return }
            for child in node.children {
                if child.name == "tr" {
                    let cells = child.children.filter { $0.name == "td" || $0.name == "th" }
                    rows.append(
                        cells.map { cell in
                            let text = joined(blocks(in: cell, depth + 1).map { Block(text: $0.text, isItem: true) })
                            return text.replacingOccurrences(of: "\n", with: " ").replacingOccurrences(of: "|", with: "\\|")
                        })
                } else if child.name == "caption" {
                    captions += blocks(in: child, depth + 1)
                } else if child.name != "table" {
                    collect(child, depth + 1)
                }
            }
        }
        collect(node, depth)
        let columns = rows.map(\.count).max() ?? 0
        if columns == 0 { return captions }
        var lines = rows.map { row in "| " + (row + Array(repeating: "", count: columns - row.count)).joined(separator: " | ") + " |" }
        lines.insert("|" + String(repeating: " --- |", count: columns), at: 1)
        return captions + [Block(text: lines.joined(separator: "\n"))]
    }
}

// MARK: Within a line

extension HTMLMarkdown {
    private func inlineChildren(_ node: HTMLNode, _ depth: Int) -> String {
        depth > Self.depthMax ? node.content : node.children.map { inline($0, depth + 1) }.joined()
    }

    private func inline(_ node: HTMLNode, _ depth: Int) -> String {
        if let text = node.text { return Self.escaped(text) }
        guard let name = node.name, !Self.unseen.contains(name) else { return "" }
        switch name {
        case "br": return "  \n"
        case "b", "strong": return wrapped(node, depth, "**")
        case "i", "em": return wrapped(node, depth, "*")
        case "s", "strike", "del": return wrapped(node, depth, "~~")
        case "code", "tt": return "`\(node.content)`"
        case "input":
            guard node["type"]?.lowercased() == "checkbox" else { return "" }
            return node["checked"] != nil ? "[x] " : "[ ] "
        case "en-todo": return node["checked"] == "true" ? "[x] " : "[ ] "
        case "en-media":
            guard let hash = node["hash"], let media = media[hash.lowercased()] else {
                miss()
                return "[missing attachment]"
            }
            return link(media.path, RelativePath.name(of: media.path), isPicture: media.isPicture)
        // Evernote alone can open it, once a person has copied it back.
        case "en-crypt": return "Encrypted by Evernote: `\(node.content.filter { !$0.isWhitespace })`"
        case "img": return node["src"].map { link($0, node["alt"] ?? "", isPicture: true) } ?? ""
        case "a":
            let text = inlineChildren(node, depth)
            guard let target = node["href"], !target.isEmpty, !target.lowercased().hasPrefix("javascript:") else { return text }
            return target == node.content ? "<\(target)>" : "[\(text)](\(Self.destination(target)))"
        default: return inlineChildren(node, depth)
        }
    }

    private func link(_ path: String, _ text: String, isPicture: Bool) -> String {
        var path = path
        if EmbeddedPicture.isOne(path) {
            guard let kept = EmbeddedPicture(path).flatMap(keep) else { return text.isEmpty ? "[missing picture]" : text }
            path = kept
        }
        return "\(isPicture ? "!" : "")[\(text)](\(Self.destination(path)))"
    }

    private static func destination(_ path: String) -> String {
        path.contains(where: { $0.isWhitespace || $0 == "(" || $0 == ")" || $0 == "<" || $0 == ">" }) ? MarkdownLinks.encoded(path) : path
    }

    /// The mark around what is within, but not around the spaces at its ends.
    private func wrapped(_ node: HTMLNode, _ depth: Int, _ mark: String) -> String {
        let text = inlineChildren(node, depth)
        let core = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !core.isEmpty, let range = text.range(of: core) else { return text }
        return text[..<range.lowerBound] + mark + core + mark + text[range.upperBound...]
    }

    /// White space as HTML has it, and what would mean something in Markdown behind a backslash.
    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var isSpace = false
        let isPlain = !text.utf8.contains(UInt8(ascii: "_")) && !text.contains("](")
        // To Swift, a space and the mark behind it are one character.
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            let scalar = scalars[index]
            if scalar.properties.isWhitespace, scalar != "\u{A0}" {
                if !isSpace { result.append(" ") }
                isSpace = true
                continue
            }
            isSpace = false
            if scalar == "*" || scalar == "`" || scalar == "<" || scalar == "\\" || !isPlain && meansMore(index, in: scalars) {
                result.append("\\")
            }
            result.append(scalar == "\u{A0}" ? " " : scalar)
        }
        return String(result)
    }

    /// Whether Markdown takes this for more than itself: `_` but within a word, and `]` before `(`, as in a link.
    private static func meansMore(_ index: String.Index, in text: String.UnicodeScalarView) -> Bool {
        let rest = text[text.index(after: index)...]
        switch text[index] {
        case "_":
            func isWord(_ other: Unicode.Scalar?) -> Bool {
                other.map { $0.properties.isAlphabetic || $0.properties.numericType != nil } ?? false
            }
            func isMark(_ other: Unicode.Scalar) -> Bool {
                [.nonspacingMark, .spacingMark, .enclosingMark].contains(other.properties.generalCategory)
            }
            return !(isWord(text[..<index].last { !isMark($0) }) && isWord(rest.first))
        case "]": return rest.first == "("
        default: return false
        }
    }
}
