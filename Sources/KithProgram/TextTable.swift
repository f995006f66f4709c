/// Rows of cells in aligned columns.
package struct TextTable {
    package struct Cell {
        package let text: String
        package let style: TextStyle?
        fileprivate let width: Int

        package init(_ text: String, _ style: TextStyle? = nil) {
            self.text = PlainText.line(text)
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
    /// Bytes that are collected before they are written.
    private static let writtenAtOnce = 64 << 10

    package init(header: [String], flexibleColumns: Int...) {
        self.header = header
        self.flexibleColumns = flexibleColumns
    }

    package func write(to console: Console) throws(CommandFailure) {
        if rows.isEmpty { return }
        let lines = (console.isTerminal ? [header.map { Cell($0, .dim) }] : []) + rows
        var widths = header.indices.map { column in lines.map { $0[column].width }.max() ?? 0 }
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
