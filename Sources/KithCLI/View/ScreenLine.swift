/// One line of a screen: pieces of text, each in a style.
struct ScreenLine: Equatable {
    private struct Piece: Equatable {
        let text: String
        let style: TextStyle?
        let width: Int
    }

    private var pieces: [Piece] = []
    private(set) var width = 0

    init() {}

    init(_ text: String, _ style: TextStyle? = nil, width: Int) {
        append(text, style, width: width)
    }

    /// Adds what fits of `text` into `width` columns, and spaces up to there.
    mutating func append(_ text: String, _ style: TextStyle? = nil, width: Int) {
        guard width > 0 else { return }
        let shown = text.truncated(toWidth: width).padded(toWidth: width)
        pieces.append(Piece(text: shown, style: style, width: width))
        self.width += width
    }

    mutating func append(_ other: ScreenLine) {
        pieces += other.pieces
        width += other.width
    }

    /// Without styles.
    var plain: String { pieces.map(\.text).joined() }

    /// For a terminal. Terminals disagree about how wide some letters are: what follows such a piece is put into its column.
    func text(on console: Console) -> String {
        var text = ""
        var column = 1
        var isDisputed = false
        for piece in pieces {
            if isDisputed { text += "\u{1B}[\(column)G" }
            // Reversal shows what is chosen, and is no color.
            text += piece.style == .reverse ? TextStyle.reverse.sequence(piece.text) : console.styled(piece.text, piece.style)
            column += piece.width
            isDisputed = !piece.text.utf8.allSatisfy { $0 < 0x80 }
        }
        return text
    }
}
