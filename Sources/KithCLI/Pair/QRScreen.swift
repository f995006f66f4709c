import Kith

/// Draws QR codes on a terminal: two modules in each character cell.
enum QRScreen {
    /// Light modules around the code (ISO/IEC 18004, 5.3.8).
    private static let margin = 4

    /// The lines that show `text`; `nil` where no camera could read them: no terminal, too narrow a one, or too long a text.
    static func lines(for text: String, on console: Console) -> [String]? {
        guard let width = console.width, let code = QRCode(Array(text.utf8)), code.size + 2 * margin <= width else { return nil }
        let range = -margin..<code.size + margin
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
            let cells = range.map {
                cell(isUpperDark: code.isDark(row: row, column: $0), isLowerDark: code.isDark(row: row + 1, column: $0))
            }
            // White on black, whatever the colors of the terminal; where there are none, light on dark is most likely.
            return console.usesColor ? "\u{1B}[97;40m\(cells.joined())\u{1B}[0m" : cells.joined()
        }
    }

    /// What is light is drawn, since most terminals are dark.
    private static func cell(isUpperDark: Bool, isLowerDark: Bool) -> String {
        switch (isUpperDark, isLowerDark) {
        case (true, true): " "
        case (true, false): "\u{2584}"
        case (false, true): "\u{2580}"
        case (false, false): "\u{2588}"
        }
    }
}
