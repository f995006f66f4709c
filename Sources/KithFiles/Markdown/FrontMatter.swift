/// The block of YAML at the beginning of a Markdown file, cut into its entries, byte for byte.
///
/// It is one if a line `---` opens it, a line `---` or `...` closes it, and every line between begins with `key:`, continues an entry
/// (indented, or an element of a list), is empty or a comment. Anything else is a text that begins with a rule.
struct FrontMatter {
    /// A key with its value, over one or more lines.
    struct Entry {
        /// `nil` for comments and empty lines between two entries, or before or after all.
        let key: String?
        var bytes: ArraySlice<UInt8>
    }

    let opening: ArraySlice<UInt8>
    let entries: [Entry]
    let closing: ArraySlice<UInt8>
    /// What follows.
    let rest: ArraySlice<UInt8>

    /// Bytes of a block. What is longer is text.
    static let bytesMax = 64 << 10

    init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        let opening = Self.line(&rest)
        guard Self.isDelimiter(opening, "-") else { return nil }
        var entries: [Entry] = []
        // Comments and empty lines belong to the entry before them if it goes on after them.
        var pending: ArraySlice<UInt8>?
        func endPending() {
            if let bytes = pending { entries.append(Entry(key: nil, bytes: bytes)) }
            pending = nil
        }
        while rest.startIndex - bytes.startIndex <= Self.bytesMax, !rest.isEmpty {
            let line = Self.line(&rest)
            if Self.isDelimiter(line, "-") || Self.isDelimiter(line, ".") {
                endPending()
                guard entries.contains(where: { $0.key != nil }) else { return nil }
                (self.opening, self.entries, closing, self.rest) = (opening, entries, line, rest)
                return
            }
            if Self.isBlankOrRemark(line, within: entries.last) {
                pending = bytes[(pending ?? line).startIndex..<line.endIndex]
            } else if Self.continues(line) {
                if entries.isEmpty { entries.append(Entry(key: nil, bytes: pending ?? line)) }
                entries[entries.count - 1].extend(line, bytes)
                pending = nil
            } else {
                guard let key = Self.key(line) else { return nil }
                endPending()
                entries.append(Entry(key: key, bytes: line))
            }
        }
        return nil
    }

    /// The next line, with its end.
    static func line(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    private static func isDelimiter(_ line: ArraySlice<UInt8>, _ character: Unicode.Scalar) -> Bool {
        let mark = UInt8(ascii: character)
        return line.count >= 3 && line.prefix(3).allSatisfy { $0 == mark } && line.dropFirst(3).allSatisfy(isBlank)
    }

    fileprivate static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }

    fileprivate static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let line = line.drop(while: isBlank)
        return line.lastIndex { !isBlank($0) }.map { line[...$0] } ?? []
    }

    /// Whether a line says nothing. An indented `#` may stand within a text over several lines: then it is no comment.
    private static func isBlankOrRemark(_ line: ArraySlice<UInt8>, within entry: Entry?) -> Bool {
        guard let first = line.first(where: { !isBlank($0) }) else { return true }
        if first != UInt8(ascii: "#") { return false }
        return line.first == first || !(entry?.mayHoldText ?? false)
    }

    private static func continues(_ line: ArraySlice<UInt8>) -> Bool {
        guard let first = line.first else { return true }
        if first == 0x20 || first == 0x09 { return true }
        return first == UInt8(ascii: "-") && (line.dropFirst().first.map(isBlank) ?? true)
    }

    private static func key(_ line: ArraySlice<UInt8>) -> String? {
        var search = line
        while let colon = search.firstIndex(of: UInt8(ascii: ":")) {
            let after = colon + 1
            if after == line.endIndex || isBlank(line[after]) {
                let key = String(decoding: line[..<colon], as: UTF8.self).trimmingASCII()
                return key.isEmpty ? nil : key
            }
            search = line[after...]
        }
        return nil
    }
}

extension FrontMatter.Entry {
    /// The lines of what has no key that are comments.
    var remarks: [ArraySlice<UInt8>] {
        var (rest, lines) = (bytes, [ArraySlice<UInt8>]())
        while !rest.isEmpty {
            let line = FrontMatter.line(&rest)
            if line.contains(UInt8(ascii: "#")) { lines.append(line) }
        }
        return lines
    }

    /// A list without the lines of these elements; `nil` unless each is a line that says nothing else.
    func cutting(_ texts: [String]) -> FrontMatter.Entry? {
        let elements = Set(texts.flatMap { ["- \(FrontMatterValues.quoted($0))", "- '\($0)'"] }.map { Array($0.utf8) })
        var rest = bytes
        var kept = Array(FrontMatter.line(&rest))
        var cut = 0
        while !rest.isEmpty {
            let line = FrontMatter.line(&rest)
            if elements.contains(Array(FrontMatter.trimmed(line))) { cut += 1 } else { kept += line }
        }
        return cut == texts.count ? FrontMatter.Entry(key: key, bytes: kept[...]) : nil
    }

    /// Whether there is a comment in it, or what may be one.
    var hasRemark: Bool {
        zip(bytes, bytes.dropFirst()).contains { FrontMatter.isBlank($0) && $1 == UInt8(ascii: "#") }
    }

    /// What stands behind the key, in its first line.
    fileprivate var firstValue: ArraySlice<UInt8> {
        var rest = bytes
        let line = FrontMatter.line(&rest)
        let value = line.firstIndex(of: UInt8(ascii: ":")).map { line[($0 + 1)...] } ?? line
        return value.drop { $0 == 0x20 || $0 == 0x09 }
    }

    /// Whether its value is a text in quotation marks, or one that goes on line by line, or may be.
    fileprivate var mayHoldText: Bool { firstValue.first.map { "\"'|>&!".utf8.contains($0) } ?? false }

    fileprivate mutating func extend(_ line: ArraySlice<UInt8>, _ all: ArraySlice<UInt8>) {
        bytes = all[bytes.startIndex..<line.endIndex]
    }
}

extension String {
    /// Without spaces and quotes at the ends.
    fileprivate func trimmingASCII() -> String {
        var text = self[...]
        while let last = text.last, last == " " || last == "\t" || last == "\"" || last == "'" { text.removeLast() }
        while let first = text.first, first == " " || first == "\t" || first == "\"" || first == "'" { text.removeFirst() }
        return String(text)
    }
}
