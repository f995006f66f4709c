/// What the link reference definitions of a Markdown text may come to as HTML: each link by a label repeats what its definition says.
struct LinkDefinitions {
    /// Bytes that links may repeat. No text that a person writes comes near it.
    static let repeatedBytesMax = 16 << 20
    /// Bytes of a label; what is longer is none for the parser, either.
    private static let labelBytesMax = 1_000

    private let bytes: UnsafeBufferPointer<UInt8>
    /// The labels with the bytes of what they stand for; each may be more than it is, and none less.
    private var definitions: [(label: Range<Int>, count: Int)] = []

    /// Whether links repeat too much.
    static func repeatTooMuch(in bytes: UnsafeBufferPointer<UInt8>) -> Bool { LinkDefinitions(bytes).isTooMuch }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        var line = bytes.starts(with: MarkdownNote.mark) ? 3 : 0
        while line < bytes.count {
            let start = afterMarks(line)
            if let label = label(at: start), byte(label.upperBound + 1) == UInt8(ascii: ":") {
                definitions.append((label, end(ofDefinitionAt: label.upperBound + 2) - start))
            }
            line = nextLine(line)
        }
    }

    private var isTooMuch: Bool {
        guard let longest = definitions.map(\.count).max() else { return false }
        let links = bytes.count(where: { $0 == UInt8(ascii: "[") })
        if !Self.isOver(longest, links) { return false }
        // Few texts come so far: those with pictures within themselves do, of which each is shown once.
        var counts: [String?: Int] = [:]
        var index = 0
        while index < bytes.count {
            if let label = label(at: index) { counts[key(label), default: 0] += 1 }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        var sum = 0
        for definition in definitions {
            let name = key(definition.label)
            let count = name == nil ? links : counts[name, default: 0] + counts[nil, default: 0]
            if Self.isOver(definition.count, count) { return true }
            sum += definition.count * count
        }
        return sum > Self.repeatedBytesMax
    }

    private static func isOver(_ bytes: Int, _ times: Int) -> Bool { times > 0 && bytes > repeatedBytesMax / times }

    /// What labels have in common that mean the same; `nil` if that is not told so easily, and they may mean any.
    private func key(_ label: Range<Int>) -> String? {
        let text = bytes[label]
        if text.contains(where: { $0 >= 0x80 || $0 == 0x0A || $0 == 0x0D }) { return nil }
        return text.split { $0 <= 0x20 }.map { String(decoding: $0, as: UTF8.self).lowercased() }.joined(separator: " ")
    }

    // MARK: Where things are

    private func byte(_ index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private func isLineEnd(_ index: Int) -> Bool { byte(index) == 0x0A || byte(index) == 0x0D }

    private func nextLine(_ start: Int) -> Int {
        var index = start
        while index < bytes.count, !isLineEnd(index) { index += 1 }
        return index + 1
    }

    /// Behind what may stand before the text of a line: spaces, and the marks of quotes and lists, ticked off or not.
    private func afterMarks(_ start: Int) -> Int {
        var index = start
        while let byte = byte(index) {
            if " \t>-*+.)0123456789".utf8.contains(byte) {
                index += 1
            } else if byte == UInt8(ascii: "["), self.byte(index + 2) == UInt8(ascii: "]"), " xX".utf8.contains(self.byte(index + 1) ?? 0),
                self.byte(index + 3) == 0x20 || self.byte(index + 3) == 0x09
            {
                index += 3
            } else {
                break
            }
        }
        return index
    }

    /// What stands between brackets that begin here.
    private func label(at start: Int) -> Range<Int>? {
        guard byte(start) == UInt8(ascii: "[") else { return nil }
        var index = start + 1
        while let byte = byte(index), index - start <= Self.labelBytesMax + 1 {
            switch byte {
            case UInt8(ascii: "]"): return start + 1..<index
            case UInt8(ascii: "["): return nil
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return nil
    }

    /// The end of a destination, and of the title behind it if there may be one.
    private func end(ofDefinitionAt start: Int) -> Int {
        var index = afterSpace(start)
        if byte(index) == UInt8(ascii: "<") {
            while let byte = byte(index), !isLineEnd(index), !isMark(UInt8(ascii: ">"), byte, index) { index += 1 }
        } else {
            while let byte = byte(index), byte > 0x20 { index += 1 }
        }
        let title = afterSpace(min(index + 1, bytes.count))
        guard let mark = byte(title), "\"'(".utf8.contains(mark) else { return index }
        index = title + 1
        while let byte = byte(index), !isMark(mark == UInt8(ascii: "(") ? UInt8(ascii: ")") : mark, byte, index) {
            if byte == 0x0D, self.byte(index + 1) == 0x0A { index += 1 }
            if isLineEnd(index), isEmptyLine(index + 1) { break }
            index += 1
        }
        return min(index, bytes.count)
    }

    /// Whether a mark that ends something stands here. One behind a backslash does not.
    private func isMark(_ mark: UInt8, _ byte: UInt8, _ index: Int) -> Bool {
        byte == mark && bytes[index - 1] != UInt8(ascii: "\\")
    }

    /// Whether the line ends a paragraph, in a quote, too.
    private func isEmptyLine(_ start: Int) -> Bool {
        var index = start
        while byte(index) == 0x20 { index += 1 }
        // Further to the right it would be a text.
        if byte(index) == UInt8(ascii: ">"), index - start <= 3 { index += 1 }
        while byte(index) == 0x20 || byte(index) == 0x09 { index += 1 }
        return index >= bytes.count || isLineEnd(index)
    }

    /// Behind spaces, and an end of a line among them.
    private func afterSpace(_ start: Int) -> Int {
        var index = start
        while let byte = byte(index), byte <= 0x20 { index += 1 }
        while let byte = byte(index), byte == 0x20 || byte == UInt8(ascii: ">") { index += 1 }
        return index
    }
}
