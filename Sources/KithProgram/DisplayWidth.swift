extension String {
    /// Columns that a terminal takes to show this (close to Unicode TR 11).
    package var displayWidth: Int {
        hasOnlyBytes(in: 0..<0x80) ? utf8.count : reduce(0) { $0 + $1.displayWidth }
    }

    /// Whether all bytes of its UTF-8 are of `range`.
    func hasOnlyBytes(in range: Range<UInt8>) -> Bool {
        var text = self
        return text.withUTF8 { $0.allSatisfy(range.contains) }
    }

    /// As much as fits into `width` columns, with an ellipsis if something is left out.
    package func truncated(toWidth width: Int) -> String {
        if displayWidth <= width { return self }
        var shown = ""
        var used = 1
        for character in self {
            used += character.displayWidth
            if used > width { break }
            shown.append(character)
        }
        return shown + "\u{2026}"
    }

    /// This, followed by spaces up to `width` columns.
    package func padded(toWidth width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - displayWidth))
    }
}

extension Character {
    fileprivate var displayWidth: Int {
        // An emoji is one picture, however many scalars it is made of. Of all others, each takes its own place or none.
        if unicodeScalars.contains(where: { $0.properties.isEmojiPresentation || $0 == "\u{FE0F}" }) { return 2 }
        return unicodeScalars.reduce(0) { $0 + $1.displayWidth }
    }
}

extension Unicode.Scalar {
    fileprivate var displayWidth: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        // Vowels and last consonants of Korean syllables that are spelled out: the first consonant has taken the place.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0
        default: return 1
        }
    }
}
