/// Text in lines that fit into a number of columns.
enum TextWrapping {
    private static let tab = "    "

    /// The lines of `text`, broken between words, and within a word that is longer than a line.
    static func lines(of text: String, width: Int) -> [String] {
        let text = PlainText.block(text).replacing("\t", with: tab)
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { wrap($0, width: max(2, width)) }
    }

    private static func wrap(_ line: Substring, width: Int) -> [String] {
        var lines: [String] = []
        var current = ""
        var used = 0
        // Where the line may be broken: after the last space, and what it is wide up to there.
        var breakAt: (index: String.Index, width: Int)?
        for character in line {
            let size = String(character).displayWidth
            if used + size > width, character != " " {
                if let point = breakAt {
                    lines.append(String(current[..<point.index]).trimmingTrailingSpaces)
                    current = String(current[point.index...])
                    used -= point.width
                } else {
                    lines.append(current)
                    (current, used) = ("", 0)
                }
                breakAt = nil
            }
            current.append(character)
            used += size
            if character == " " { breakAt = (current.endIndex, used) }
        }
        lines.append(current.trimmingTrailingSpaces)
        return lines
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        String(prefix(upTo: lastIndex { $0 != " " }.map(index(after:)) ?? startIndex))
    }
}
