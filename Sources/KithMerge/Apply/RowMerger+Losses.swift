import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// What goes from this store with a merge, and where it is kept for a while.
extension RowMerger {
    /// A row that is shown goes from the app's table. If no deletion keeps all that it showed, that stays in the trash all the same.
    ///
    /// - Parameter told: what others have made of it, before this store wrote anything anew.
    func noteWhatGoes(of held: Held, _ told: RowState, _ table: CatalogTable, _ id: RowID, in state: RowState) throws {
        guard let visible = held.visible, let tracked = table.tracked, !state.isVisible(tracked.deletePolicy) else { return }
        losses.add(table.number, from: held.state, to: state, by: device)
        let keepsCells = held.state.cells.allSatisfy { state[$0.column] != nil }
        if keepsCells, !losesShown(of: held, told, visible.values, tracked, in: state) { return }
        try RemovedRows(ledger: ledger).keep(
            visible.values, of: table, tracked, id, by: device ?? [], nowMilliseconds: clock.wallClockMilliseconds)
    }

    /// Whether a cell showed what goes although no device wrote the cell anew: what the trash would show in its place is older.
    private func losesShown(
        of held: Held, _ told: RowState, _ values: [ColumnValue], _ tracked: CatalogTable.Tracked, in state: RowState
    ) -> Bool {
        zip(tracked.columns, zip(values, state.shownValues(tracked))).contains { column, shown in
            guard shown.0 != shown.1, let before = held.state[column], told[column] != before else { return false }
            if case .text = before { return false }
            let known = Set(before.dots)
            return told[column]?.dots.allSatisfy(known.contains) ?? true
        }
    }

    /// Of a set in which room was made, what it showed here until now stays among the superseded values.
    func noteWhatGoes(
        fromSetsOf held: Held, _ merged: RowState, _ table: CatalogTable, _ id: RowID, in state: RowState
    ) throws {
        guard let visible = held.visible, let tracked = table.tracked, merged != state else { return }
        for (column, value) in zip(tracked.columns, visible.values) {
            guard case .set(let before)? = merged[column], case .set(let after)? = state[column],
                after.members.count < before.members.count
            else { continue }
            try SupersededValues(ledger: ledger).insert(
                Write(stamp: try clock.stamp(ledger.catalog).stamp, value: value), table.number, id, column: column,
                nowMilliseconds: clock.wallClockMilliseconds)
        }
    }

    /// Of texts of a life of the row that others have removed, and of which this store had not heard, what was shown stays among the superseded
    /// values.
    func noteWhatGoes(fromTextsOf held: Held, _ left: [Int: Stamp], _ table: CatalogTable, _ id: RowID) throws {
        guard let visible = held.visible, let tracked = table.tracked else { return }
        for (column, value) in zip(tracked.columns, visible.values) where value != .text([]) && value != .null {
            if let stamp = left[column] { try keep(Write(stamp: stamp, value: value), table, id, column) }
        }
    }

    /// The same of sets that were found.
    func noteWhatGoes(fromFoundSetsOf held: Held, _ table: CatalogTable, _ id: RowID, in state: RowState) throws {
        guard let visible = held.visible, let tracked = table.tracked else { return }
        for (column, value) in zip(tracked.columns, visible.values) {
            guard case .set(let old)? = held.state[column], let adopter = old.adopters.entries.first, case .set(let new)? = state[column],
                new.adopters.isEmpty, !old.members.allSatisfy(Set(new.members).contains)
            else { continue }
            try keep(Write(stamp: Stamp(dot: adopter, timestamp: .zero), value: value), table, id, column)
        }
    }

    private func keep(_ write: Write, _ table: CatalogTable, _ id: RowID, _ column: Int) throws {
        try SupersededValues(ledger: ledger).insert(
            write, table.number, id, column: column, nowMilliseconds: clock.wallClockMilliseconds)
    }

    /// A deletion goes from here because the sender has forgotten it, and with it what told others of it.
    func keepFloor(of state: RowState) throws {
        let seen = VersionVector(state.clock.entries.filter(vector.covers))
        try VectorRecords(connection: ledger.connection).raiseFloor(to: seen, ledger)
    }
}
