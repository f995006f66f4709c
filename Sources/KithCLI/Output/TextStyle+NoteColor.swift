import KithNotes

extension TextStyle {
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
