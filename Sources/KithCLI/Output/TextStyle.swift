import KithNotes

/// How a terminal shows a piece of text (ECMA-48, SGR).
enum TextStyle: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "34"

    /// The color of a note; `nil` for none, and for those this version does not know.
    init?(_ color: NoteColor) {
        switch color {
        case .yellow: self = .yellow
        case .green: self = .green
        case .blue: self = .blue
        case .red: self = .red
        default: return nil
        }
    }
}

extension Console {
    /// `text` in this style, if this stream shows any.
    func styled(_ text: String, _ style: TextStyle?) -> String {
        guard usesColor, let style, !text.isEmpty else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }
}
