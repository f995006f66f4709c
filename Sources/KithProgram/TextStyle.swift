/// How a terminal shows a piece of text (ECMA-48, SGR).
package enum TextStyle: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "34"
    case reverse = "7"

    /// `text` in this style, for a terminal.
    package func sequence(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}

extension Console {
    /// `text` in this style, if this stream shows any.
    package func styled(_ text: String, _ style: TextStyle?) -> String {
        guard usesColor, let style, !text.isEmpty else { return text }
        return style.sequence(text)
    }
}
