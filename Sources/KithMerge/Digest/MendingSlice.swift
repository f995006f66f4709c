import KithCausality
import KithLedger
import KithSync

/// What a peer holds of the rows of a range, without the changes of texts that are here as well.
package struct MendingSlice {
    /// A text, as peers name it.
    struct TextName: Hashable {
        let position: SlicePosition
        let column: ColumnKey

        init(_ position: SlicePosition, _ column: ColumnKey) {
            self.position = position
            self.column = column
        }
    }

    package private(set) var slice: Slice
    /// Texts of which the slice says nothing that contradicts a change that is here.
    let agreeing: Set<TextName>
    /// Rows of which changes that are here as well were left out.
    let shortened: Set<SlicePosition>
    /// Texts of rows, or cells, that are not here.
    private let missing: Set<TextName>

    /// - Parameter own: what is held of the range here, as far as it fits into a slice.
    package init(_ slice: Slice, own: Slice) {
        var (slice, agreeing, missing, shortened) = (slice, Set<TextName>(), Set<TextName>(), Set<SlicePosition>())
        let held = Dictionary(own.rows.map { ($0.position(in: own.tables), $0) }) { first, _ in first }
        for row in slice.rows.indices where slice.tables.indices.contains(slice.rows[row].table) {
            let position = slice.rows[row].position(in: slice.tables)
            let columns = slice.tables[slice.rows[row].table].columns
            let isListed = own.isLast || own.position.map { position <= $0 } ?? false
            for index in slice.rows[row].state.cells.indices {
                let column = slice.rows[row].state.cells[index].column
                guard case .text(var text) = slice.rows[row].state.cells[index].cell, columns.indices.contains(column) else { continue }
                let name = TextName(position, columns[column])
                guard let mine = held[position]?.text(columns[column], own.tables) else {
                    if isListed { missing.insert(name) }
                    continue
                }
                let known = Dictionary(mine.changes.map { (ChangeName($0), $0) }) { first, _ in first }
                let count = text.changes.count
                text.changes.removeAll { known[ChangeName($0)] == $0 }
                if text.changes.count < count { shortened.insert(position) }
                if text.changes.allSatisfy({ known[ChangeName($0)] == nil }) { agreeing.insert(name) }
                slice.rows[row].state.cells[index].cell = .text(text)
            }
        }
        (self.slice, self.agreeing, self.missing, self.shortened) = (slice, agreeing, missing, shortened)
    }

    private struct ChangeName: Hashable {
        let dot: Dot
        let document: Int64

        init(_ change: TextState.Change) {
            (dot, document) = (change.stamp.dot, change.document)
        }
    }

    /// The rows in parts, each with at most so many changes of texts; a row that has more stands alone.
    package func parts(max limit: Int) -> [MendingSlice] {
        var parts: [MendingSlice] = []
        var room = 0
        for row in slice.rows {
            let count = row.state.textChangeCount
            if parts.isEmpty || count > room {
                var part = self
                part.slice.rows = []
                parts.append(part)
                room = limit
            }
            parts[parts.count - 1].slice.rows.append(row)
            room -= count
        }
        return parts
    }

    /// Takes changes from the beginning of the texts of a row that has more than `limit` of them, at most so many, and leaves as many.
    /// Texts that contradict what is here keep theirs.
    ///
    /// - Returns: a part of the row with nothing else; `nil` if nothing is to be taken.
    package mutating func takeAhead(leaving limit: Int) -> RowPart? {
        guard slice.rows.count == 1, slice.tables.indices.contains(slice.rows[0].table) else { return nil }
        var row = slice.rows[0]
        let (position, columns) = (row.position(in: slice.tables), slice.tables[row.table].columns)
        var room = min(limit, row.state.textChangeCount - limit)
        var ahead = RowState()
        for index in row.state.cells.indices where room > 0 {
            let column = row.state.cells[index].column
            guard case .text(var text) = row.state.cells[index].cell, columns.indices.contains(column), !text.changes.isEmpty else {
                continue
            }
            let name = TextName(position, columns[column])
            guard agreeing.contains(name) || missing.contains(name) else { continue }
            let taken = Array(text.changes.prefix(room))
            text.changes.removeFirst(taken.count)
            room -= taken.count
            ahead.cells.append(.init(column: column, cell: .text(TextState(touched: VersionVector(), changes: taken))))
            row.state.cells[index].cell = .text(text)
        }
        slice.rows[0] = row
        return ahead.cells.isEmpty ? nil : RowPart(table: row.table, id: row.id, state: ahead)
    }
}

extension RowPart {
    fileprivate func text(_ column: ColumnKey, _ tables: [TableSchema]) -> TextState? {
        guard let index = tables[table].columns.firstIndex(of: column), case .text(let text)? = state[index] else { return nil }
        return text
    }
}
