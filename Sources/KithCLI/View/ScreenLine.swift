/// One line of a screen: pieces of text, each in a style.
struct ScreenLine: Equatable {
    private struct Piece: Equatable {
        let text: String
        let style: TextStyle?
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
        pieces.append(Piece(text: shown, style: style))
        self.width += width
    }

    mutating func append(_ other: ScreenLine) {
        pieces += other.pieces
        width += other.width
    }

    /// Without styles.
    var plain: String { pieces.map(\.text).joined() }

    /// For a terminal.
    func text(on console: Console) -> String {
        // Reversal shows what is chosen, and is no color.
        pieces.map { $0.style == .reverse ? TextStyle.reverse.sequence($0.text) : console.styled($0.text, $0.style) }.joined()
    }
}
