/// Rows of cells in aligned columns.
package struct TextTable {
    package struct Cell {
        package let text: String
        package let style: TextStyle?
        fileprivate let width: Int
        /// Bytes of a cell; the notes' own limit for a title.
        package static let bytesMax = 1_000

        /// - Parameter text: shown up to ``bytesMax`` bytes, with a mark where more follows: other machines may write what they like.
        package init(_ text: String, _ style: TextStyle? = nil) {
            let isCut = text.utf8.count > Self.bytesMax
            self.text = PlainText.line(isCut ? text[..<text.utf8.index(text.startIndex, offsetBy: Self.bytesMax)] + "…" : text)
            self.style = style
            width = self.text.displayWidth
        }

        fileprivate init(_ cell: Cell, truncatedTo width: Int) {
            text = cell.text.truncated(toWidth: width)
            style = cell.style
            self.width = text.displayWidth
        }
    }

    /// Shown on a terminal only.
    package let header: [String]
    /// The columns that give way when a terminal is too narrow, the widest first.
    package let flexibleColumns: [Int]
    package var rows: [[Cell]] = []

    /// No column gets narrower than this.
    private static let widthMin = 8
    /// Where a cell is longer than this, and nobody's terminal sets a limit, the others do not wait for it.
    private static let paddedMax = 80
    /// Bytes that are collected before they are written.
    private static let writtenAtOnce = 64 << 10

    package init(header: [String], flexibleColumns: Int...) {
        self.header = header
        self.flexibleColumns = flexibleColumns
    }

    package func write(to console: Console) throws(CommandFailure) {
        if rows.isEmpty { return }
        let lines = (console.isTerminal ? [header.map { Cell($0, .dim) }] : []) + rows
        let limit = console.width == nil ? Self.paddedMax : .max
        var widths = header.indices.map { column in lines.map { min($0[column].width, limit) }.max() ?? 0 }
        if let available = console.width { shrink(&widths, to: available) }
        var bytes: [UInt8] = []
        for line in lines {
            // Spaces at the end of a line would wrap on a narrow terminal.
            let last = line.lastIndex { !$0.text.isEmpty } ?? 0
            for column in 0...last {
                let isTooWide = console.isTerminal && line[column].width > widths[column]
                let cell = isTooWide ? Cell(line[column], truncatedTo: widths[column]) : line[column]
                bytes.append(contentsOf: console.styled(cell.text, cell.style).utf8)
                if column == last { continue }
                bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: max(0, widths[column] - cell.width) + 2))
            }
            bytes.append(UInt8(ascii: "\n"))
            if bytes.count < Self.writtenAtOnce { continue }
            try console.write(bytes: bytes)
            bytes.removeAll(keepingCapacity: true)
        }
        try console.write(bytes: bytes)
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
