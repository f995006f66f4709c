import KithCausality
import KithSQLite
import KithSync

/// The clocks of a visible row, as the sidecar keeps them: one stamp for all that one commit wrote, and what differs.
///
/// A row that was inserted and not touched since has no exceptions at all: its sets and counters follow from the stamp
/// and from the values in the app's table.
package struct StoredRow {
    /// The stamp of every column below ``baseColumns`` that has no exception.
    package var base: Stamp
    package var baseColumns: Int
    /// The other cells, without the values that the app's table shows, and the tombstones. A cell without a commit
    /// stands for a column that nobody has written.
    package var exceptions: RowState
    /// A row of `kith_context`.
    package var context: Int64?
    /// What was written to columns, by number, in whose place the app's table shows something else.
    package var substituted: [(column: Int, parent: ColumnValue)] = []

    package init(
        base: Stamp, baseColumns: Int, exceptions: RowState, context: Int64? = nil, substituted: [(column: Int, parent: ColumnValue)] = []
    ) {
        self.base = base
        self.baseColumns = baseColumns
        self.exceptions = exceptions
        self.context = context
        self.substituted = substituted
    }

    /// What was written to `column`, if the app's table shows something else.
    package func written(_ column: Int) -> ColumnValue? {
        substituted.first { $0.column == column }?.parent
    }

    /// Whether some column still has the base stamp.
    package var usesBase: Bool {
        (0..<baseColumns).contains { exceptions[$0] == nil }
    }

    /// The commits that live in the row, sorted.
    package var liveDots: [Dot] {
        if exceptions.isEmpty { return baseColumns > 0 ? [base.dot] : [] }
        var dots = exceptions.liveDots
        if usesBase, !dots.contains(base.dot) {
            dots.insert(base.dot, at: dots.firstIndex { $0 > base.dot } ?? dots.endIndex)
        }
        return dots
    }

    /// What tells whether readers see the row: its commits and tombstones.
    package var visibility: RowState {
        var state = exceptions
        if usesBase {
            let written = RegisterState(writes: [Write(stamp: base, value: .null)])
            state.cells.append(RowState.Entry(column: .max, cell: .register(written)))
        }
        return state
    }

    /// The register of `column`, without the value that is shown.
    package func register(_ column: Int) -> RegisterState {
        if case .register(let state)? = exceptions[column] { return state }
        return column < baseColumns ? RegisterState(writes: [Write(stamp: base, value: .null)]) : RegisterState()
    }

    /// The text of `column`, which shows `value`.
    package func text(_ column: Int, value: ColumnValue) -> TextState {
        guard case .text(var state)? = exceptions[column] else {
            return column < baseColumns ? TextState(value.utf8, stamp: base) : TextState(text: [])
        }
        if state.text == nil { state.text = value.utf8 ?? [] }
        return state
    }

    /// The set of `column`, which shows `elements`.
    package func set(_ column: Int, elements: [[UInt8]]) -> SetState {
        if case .set(let state)? = exceptions[column] { return state }
        return column < baseColumns ? SetState(elements, stamp: base) : SetState()
    }

    /// The counter of `column`, which shows `value`.
    package func counter(_ column: Int, value: Int64) -> CounterState {
        if case .counter(let state)? = exceptions[column] { return state }
        return column < baseColumns ? CounterState(value, stamp: base) : CounterState()
    }
}

extension RowState {
    /// Takes over what the clocks of a row hold of columns that the app's table does not show yet. A text is shown at once.
    package mutating func reveal(_ columns: [Int], of stored: StoredRow) {
        for column in columns {
            if case .text? = stored.exceptions[column] { continue }
            if let cell = stored.exceptions[column], !cell.dots.isEmpty { self[column] = cell }
        }
    }
}

// MARK: - To and from the full state

extension StoredRow {
    /// The row's whole state.
    ///
    /// - Parameters:
    ///   - values: what the app's table shows, in the order of the table's tracked columns.
    ///   - elements: splits the text of a set column.
    package func state(
        _ tracked: CatalogTable.Tracked, values: [ColumnValue], elements: (ColumnValue) throws -> [[UInt8]]
    ) rethrows -> RowState {
        if exceptions.isEmpty, substituted.isEmpty { return try baseState(tracked, values, elements) }
        var cells = exceptions.cells.filter { !$0.cell.dots.isEmpty }
        var state = RowState(tombstones: exceptions.tombstones)
        for (index, column) in tracked.columns.enumerated() {
            let value = written(column) ?? values[index]
            if let position = cells.firstIndex(where: { $0.column == column }) {
                if case .register(var register) = cells[position].cell, let shown = register.shown?.stamp.dot {
                    for write in register.writes.indices where register.writes[write].stamp.dot == shown {
                        register.writes[write].value = value
                    }
                    cells[position].cell = .register(register)
                } else if case .text(var text) = cells[position].cell {
                    if text.text == nil { text.text = value.utf8 ?? [] }
                    cells[position].cell = .text(text)
                }
            } else if column < baseColumns, exceptions[column] == nil {
                cells.append(RowState.Entry(column: column, cell: try baseCell(tracked.kinds[index], value, elements)))
            }
        }
        state.cells = cells.sorted { $0.column < $1.column }
        return state
    }

    /// The whole state of a row that one commit has written.
    private func baseState(
        _ tracked: CatalogTable.Tracked, _ values: [ColumnValue], _ elements: (ColumnValue) throws -> [[UInt8]]
    ) rethrows -> RowState {
        var state = RowState()
        state.cells.reserveCapacity(tracked.columns.count)
        var isSorted = true
        for (index, column) in tracked.columns.enumerated() where column < baseColumns {
            if let last = state.cells.last, last.column > column { isSorted = false }
            state.cells.append(RowState.Entry(column: column, cell: try baseCell(tracked.kinds[index], values[index], elements)))
        }
        if !isSorted { state.cells.sort { $0.column < $1.column } }
        return state
    }

    private func baseCell(
        _ kind: ColumnKind, _ value: ColumnValue, _ elements: (ColumnValue) throws -> [[UInt8]]
    ) rethrows -> Cell {
        switch kind {
        case .register: .register(RegisterState(writes: [Write(stamp: base, value: value)]))
        case .text: .text(TextState(value.utf8, stamp: base))
        case .set: .set(SetState(try elements(value), stamp: base))
        case .counter: .counter(CounterState(value.integer, stamp: base))
        }
    }

    /// The stored form of `state`, with the base stamp that leaves the fewest exceptions.
    package init(_ state: RowState, _ table: CatalogTable, _ tracked: CatalogTable.Tracked, context: Int64?) {
        base = Self.commonStamp(of: state)
        self.context = context
        exceptions = RowState(tombstones: state.tombstones)
        baseColumns = 0
        for entry in state.cells where tracked.columns.contains(entry.column) && Self.follows(entry.cell, from: base) {
            baseColumns = entry.column + 1
        }
        var next = 0
        for entry in state.cells {
            absent(next..<max(next, min(entry.column, baseColumns)), table)
            next = entry.column + 1
            let atBase = tracked.columns.contains(entry.column) && Self.follows(entry.cell, from: base)
            if !atBase { exceptions.cells.append(tracked.columns.contains(entry.column) ? entry.withoutText : entry) }
        }
        absent(next..<max(next, baseColumns), table)
    }

    /// Marks columns that nobody has written although the base stamp would claim them.
    private mutating func absent(_ columns: Range<Int>, _ table: CatalogTable) {
        for column in columns {
            guard let kind = table.kind(of: column) else { continue }
            exceptions.cells.append(RowState.Entry(column: column, cell: Cell(empty: kind)))
        }
    }

    private static func commonStamp(of state: RowState) -> Stamp {
        var counts: [(stamp: Stamp, count: Int)] = []
        for entry in state.cells {
            guard let stamp = entry.cell.onlyStamp else { continue }
            if let index = counts.firstIndex(where: { $0.stamp == stamp }) {
                counts[index].count += 1
            } else {
                counts.append((stamp, 1))
            }
        }
        if let best = counts.max(by: { $0.count < $1.count }) { return best.stamp }
        let dot = state.cells.first?.cell.dots.first ?? Dot(replica: ReplicaID(high: 0, low: 0), sequence: 0)
        return Stamp(dot: dot, timestamp: .zero)
    }

    /// Whether `cell` is just what the commit of `base` would have left.
    private static func follows(_ cell: Cell, from base: Stamp) -> Bool {
        switch cell {
        case .register(let state): state.writes.count == 1 && state.writes[0].stamp == base && state.replaced.isEmpty
        case .set(let state): state.isWhole(writtenBy: base)
        case .counter(let state): state.isWhole(writtenBy: base)
        case .text(let state):
            if base.isAdopted {
                state.isWhole(foundBy: base)
            } else {
                state.adopted == nil && state.touched.entries == [base.dot] && state.follows(base)
            }
        }
    }
}

extension Cell {
    /// The stamp of all that was written here, if that is known to be one.
    fileprivate var onlyStamp: Stamp? {
        switch self {
        case .register(let state): return state.writes.count == 1 ? state.writes[0].stamp : nil
        case .text(let state):
            if let adopted = state.adopted { return adopted.documents.first?.found }
            if case .one(let stamp) = state.past { return stamp } else { return nil }
        case .set, .counter: return nil
        }
    }
}

extension SetState {
    /// The set that one commit wrote whole, or found.
    package init(_ elements: [[UInt8]], stamp: Stamp) {
        if stamp.isAdopted { self.init(adopting: elements, dot: stamp.dot) } else { self.init(elements: elements, dot: stamp.dot) }
    }

    /// Whether the cell is just what an insertion by the commit of `stamp`, or an adoption, leaves.
    package func isWhole(writtenBy stamp: Stamp) -> Bool {
        guard removed.isEmpty else { return false }
        if stamp.isAdopted { return touched.isEmpty && elements.isEmpty && adopters.entries == [stamp.dot] }
        return adopters.isEmpty && touched.entries == [stamp.dot] && elements.allSatisfy { $0.dots == [stamp.dot] }
    }
}

extension CounterState {
    /// The counter that one commit wrote whole, or found.
    package init(_ amount: Int64, stamp: Stamp) {
        if stamp.isAdopted {
            self.init(bases: [Base(stamp: stamp, amount: amount)])
        } else {
            self.init(totals: [Total(dot: stamp.dot, amount: amount)], isBorn: true)
        }
    }

    /// Whether the cell is just what an insertion by the commit of `stamp`, or an adoption, leaves.
    package func isWhole(writtenBy stamp: Stamp) -> Bool {
        guard replaced.isEmpty else { return false }
        if stamp.isAdopted { return totals.isEmpty && !isBorn && bases.count == 1 && bases[0].stamp == stamp }
        return isBorn && bases.isEmpty && totals.count == 1 && totals[0].dot == stamp.dot
    }
}

extension TextState {
    /// Whether the cell is just what an insertion by the commit of `base` leaves.
    fileprivate func follows(_ base: Stamp) -> Bool {
        switch past {
        case .none: present.isEmpty || present == [base.dot]
        case .one(let stamp): stamp == base && present == [base.dot]
        case .kept: false
        }
    }
}

extension RowState.Entry {
    /// The same for a column of the app's table, which shows the text itself.
    fileprivate var withoutText: RowState.Entry {
        guard case .text(var state) = cell else { return self }
        state.text = nil
        return RowState.Entry(column: column, cell: .text(state))
    }
}

extension ColumnValue {
    /// The bytes of a TEXT; `nil` for anything else.
    package var utf8: [UInt8]? {
        if case .text(let bytes) = self { bytes } else { nil }
    }

    /// The number that a counter column shows; 0 for anything else.
    package var integer: Int64 {
        if case .integer(let number) = self { number } else { 0 }
    }
}
