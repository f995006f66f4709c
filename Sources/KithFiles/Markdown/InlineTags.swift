/// Tags within a text, as Obsidian has them: `#work/plans`, not in code.
enum InlineTags {
    static func tags(in text: String) -> [String] {
        guard text.utf8.contains(UInt8(ascii: "#")) else { return [] }
        var tags: [String] = []
        var fence: Character?
        for line in text.split(whereSeparator: \.isNewline) {
            let start = line.drop { $0 == " " }
            if let mark = start.first, mark == "`" || mark == "~", start.hasPrefix(String(repeating: mark, count: 3)) {
                fence = fence == nil ? mark : fence == mark ? nil : fence
            } else if fence == nil {
                add(from: line, to: &tags)
            }
        }
        return tags
    }

    private static func add(from line: Substring, to tags: inout [String]) {
        var isCode = false
        var before: Unicode.Scalar = " "
        var tag: String?
        func close() {
            // A number alone is none.
            if let word = tag, word.unicodeScalars.contains(where: { !$0.properties.isNumber }), !tags.contains(word) { tags.append(word) }
            tag = nil
        }
        for scalar in line.unicodeScalars {
            if tag != nil {
                if isPart(scalar) {
                    tag?.unicodeScalars.append(scalar)
                } else {
                    close()
                }
            } else if scalar == "#", !isCode, before.properties.isWhitespace {
                tag = ""
            }
            if scalar == "`" { isCode.toggle() }
            before = scalar
        }
        close()
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.isNumber || scalar == "_" || scalar == "-" || scalar == "/"
            || scalar.properties.isEmojiPresentation
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isNumber: Bool { generalCategory == .decimalNumber }
}
