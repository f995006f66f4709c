import KithCausality

/// What of a row's texts has gone ahead of it: of each document of each column the last change, after which the next prelude goes on. A
/// change that the store takes in meanwhile stands behind the last one of its own document, and may stand in front of those of others.
package struct Preludes: Hashable, Sendable {
    private var last: [ColumnKey: [Int64: Dot]] = [:]

    package init() {}

    package var isEmpty: Bool { last.isEmpty }

    /// The last change by document.
    package subscript(column: ColumnKey) -> [Int64: Dot]? { last[column] }

    /// Takes note of the slice that was read next.
    package mutating func follow(_ slice: Slice) {
        guard slice.isPrelude, let row = slice.rows.first else { return last.removeAll() }
        for entry in row.state.cells {
            guard case .text(let text) = entry.cell else { continue }
            let column = slice.tables[row.table].columns[entry.column]
            for change in text.changes { last[column, default: [:]][change.document] = change.stamp.dot }
        }
    }
}
