/// Text from elsewhere, made harmless for a terminal: without escape sequences and without marks that reverse what follows.
package enum PlainText {
    /// On one line.
    package static func line(_ text: String) -> String {
        shown(text, keeping: "")
    }

    /// With its line ends and tabs.
    package static func block(_ text: String) -> String {
        shown(text.replacing("\r\n", with: "\n"), keeping: "\n\t")
    }

    private static func shown(_ text: String, keeping kept: String) -> String {
        if text.hasOnlyBytes(in: 0x20..<0x7F) { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isHarmless = !isDangerous(scalar) || kept.unicodeScalars.contains(scalar)
            shown.append(isHarmless ? scalar : scalar == "\n" || scalar == "\t" ? " " : "\u{FFFD}")
        }
        return String(shown)
    }

    private static func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Directional embeddings, overrides and isolates (Unicode TR 36, 2.6).
        case 0x202A...0x202E, 0x2066...0x2069: true
        default:
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }
}
