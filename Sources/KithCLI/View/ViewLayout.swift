/// How a screen is divided.
struct ViewLayout: Equatable {
    /// Of the terminal, in characters.
    let columns: Int
    let rows: Int

    /// Smaller ones show nothing of use.
    static let columnsMin = 24
    static let rowsMin = 5
    /// From here on the note is shown beside the list.
    private static let columnsForBoth = 70
    private static let listColumnsMax = 64

    var isTooSmall: Bool { columns < Self.columnsMin || rows < Self.rowsMin }

    /// Whether the note is shown beside the list, not in its place.
    var showsBoth: Bool { columns >= Self.columnsForBoth }

    var listWidth: Int { showsBoth ? min(Self.listColumnsMax, columns * 2 / 5) : columns }

    /// Without the line between the two.
    var noteWidth: Int { showsBoth ? columns - listWidth - 3 : columns }

    /// Between the first line, which says what is shown, and the last one, with the keys.
    var bodyRows: Int { max(1, rows - 2) }
}
