/// Rows of cells in aligned columns.
struct TextTable {
    struct Cell {
        let text: String
        let style: TextStyle?

        init(_ text: String, _ style: TextStyle? = nil) {
            self.text = PlainText.line(text)
            self.style = style
        }
    }

    /// Shown on a terminal only.
    let header: [String]
    /// The columns that give way when a terminal is too narrow, the widest first.
    let flexibleColumns: [Int]
    var rows: [[Cell]] = []

    /// No column gets narrower than this.
    private static let widthMin = 8
    /// Bytes that are collected before they are written.
    private static let writtenAtOnce = 64 << 10

    init(header: [String], flexibleColumns: Int...) {
        self.header = header
        self.flexibleColumns = flexibleColumns
    }

    func write(to console: Console) throws(CommandFailure) {
        if rows.isEmpty { return }
        let lines = (console.isTerminal ? [header.map { Cell($0, .dim) }] : []) + rows
        var widths = header.indices.map { column in lines.map { $0[column].text.displayWidth }.max() ?? 0 }
        if let available = console.width { shrink(&widths, to: available) }
        let spaces = String(repeating: " ", count: (widths.max() ?? 0) + 2)
        var text = ""
        for line in lines {
            // Spaces at the end of a line would wrap on a narrow terminal.
            let last = line.lastIndex { !$0.text.isEmpty } ?? 0
            for (column, cell) in line.enumerated() where column <= last {
                let shown = console.isTerminal ? cell.text.truncated(toWidth: widths[column]) : cell.text
                text += console.styled(shown, cell.style)
                if column == last { continue }
                text += spaces.prefix(max(0, widths[column] - shown.displayWidth) + 2)
            }
            text += "\n"
            if text.utf8.count < Self.writtenAtOnce { continue }
            try console.write(text)
            text = ""
        }
        try console.write(text)
    }

    /// Takes from the flexible columns what is too much.
    private func shrink(_ widths: inout [Int], to available: Int) {
        var excess = widths.reduce(0, +) + 2 * (widths.count - 1) - available
        while excess > 0, let widest = flexibleColumns.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.widthMin {
            widths[widest] -= 1
            excess -= 1
        }
    }
}
