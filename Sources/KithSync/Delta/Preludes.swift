import KithCausality

/// What of a row's texts has gone ahead of it: of each column the last change, after which the next prelude goes on. A change made
/// meanwhile stands behind it, in whatever column.
package struct Preludes: Hashable, Sendable {
    private var last: [ColumnKey: Dot] = [:]

    package init() {}

    package var isEmpty: Bool { last.isEmpty }

    package subscript(column: ColumnKey) -> Dot? { last[column] }

    /// Takes note of the slice that was read next.
    package mutating func follow(_ slice: Slice) {
        guard slice.isPrelude, let row = slice.rows.first else { return last.removeAll() }
        for entry in row.state.cells {
            guard case .text(let text) = entry.cell, let change = text.changes.last else { continue }
            last[slice.tables[row.table].columns[entry.column]] = change.stamp.dot
        }
    }
}
