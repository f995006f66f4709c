import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

extension StoreOpening {
    /// Brings rows that were there when a column became a text up to date, and shows texts that came before the column.
    ///
    /// - Returns: the rows that it was done for; they show all columns that `appeared`.
    func takeUpTexts(
        _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ appeared: [Int], _ ledger: RowLedger, _ clock: CommitClock
    ) throws -> Set<Int64> {
        guard tracked.kinds.contains(.text) else { return [] }
        let steps = try StepValues(appeared, of: tracked, ledger, clock)
        let merger = try RowMerger(ledger: ledger, clock: clock)
        let carrying = RegistersMadeTexts(table)
        let select = try ledger.connection.statement("SELECT row, id FROM \(ClockTable.name(table.number))")
        var rows: [(row: Int64, id: RowID)] = []
        while try select.step() { rows.append((select.integer(0), try select.rowID(1))) }
        var changed: Set<Int64> = []
        for (row, id) in rows where try takeUpTexts(of: row, id, table, tracked, appeared, merger, steps, carrying) { changed.insert(row) }
        let isHiddenChanged = try carrying.map { try carryOverHidden(table, ledger, $0) } ?? false
        // No commit tells of it.
        if !changed.isEmpty || isHiddenChanged { try DigestLedger(ledger: ledger).distrust() }
        return changed
    }

    /// - Returns: whether the row is another one now.
    private func takeUpTexts(
        of row: Int64, _ id: RowID, _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ appeared: [Int],
        _ merger: RowMerger, _ steps: StepValues, _ carrying: RegistersMadeTexts?
    ) throws -> Bool {
        let ledger = merger.ledger
        let user = UserTable(connection: ledger.connection, table: table, tracked: tracked)
        guard var stored = try ledger.storedRow(table.number, row: row), let found = try user.find(id) else { return false }
        // A text that is NULL came without a change.
        for column in appeared {
            guard case .text(var text)? = stored.exceptions[column], text.text == nil, !text.touched.isEmpty else { continue }
            text.text = []
            stored.exceptions[column] = .text(text)
        }
        var state = try stored.state(tracked, values: found.values) { try SetText.elements(of: $0, ledger.connection) }
        state.reveal(appeared, of: stored)
        var carried: [RegistersMadeTexts.Carried] = []
        var isCarried = false
        if let carrying {
            for column in table.columns where column.key.kind == .register && state[column.number] == nil {
                // A register that the app's table has no more shows in the text column of its name.
                let isBase = column.number < stored.baseColumns && stored.exceptions[column.number] == nil
                guard isBase, !tracked.columns.contains(column.number) else { continue }
                state[column.number] = .register(RegisterState(writes: [Write(stamp: stored.base, value: .null)]))
            }
            let before = state
            carried = carrying.carryOver(&state) { text in tracked.columns.firstIndex(of: text).map { found.values[$0] } }
            isCarried = state != before
        }
        let isShown = stored.exceptions.cells.allSatisfy { !$0.cell.holdsText || !tracked.columns.contains($0.column) }
        if isShown, !isCarried { return false }
        try TextCells(ledger).settle(&state, table: table.number, id: id)
        try carrying?.settle(carried, in: &state, id: id, TextCells(ledger))
        try merger.adopt(steps.cells(beside: state, stored, found), into: &state, table.number, id)
        try user.update(row, from: found.values, to: state.shownValues(tracked))
        let new = StoredRow(state, table, tracked, context: stored.context)
        try ledger.save(new, table.number, row: row, id: id)
        try ledger.reindex(table.number, from: stored.liveDots, at: row, to: new.liveDots, at: row)
        return true
    }

    /// - Returns: whether a row is another one now.
    private func carryOverHidden(_ table: CatalogTable, _ ledger: RowLedger, _ carrying: RegistersMadeTexts) throws -> Bool {
        let select = try HiddenRows(ledger.connection).selectingWithTimes(of: table.number)
        var rows: [(id: RowID, row: HiddenRow, since: Int64)] = []
        while try select.step() {
            rows.append((try select.rowID(0), try ledger.hiddenRow(select, at: 1, table: table.number), select.integer(5)))
        }
        var isChanged = false
        for (id, row, since) in rows {
            var changed = row
            let carried = carrying.carryOver(&changed.state)
            if changed.state == row.state { continue }
            try TextCells(ledger).settle(&changed.state, table: table.number, id: id)
            try carrying.settle(carried, in: &changed.state, id: id, TextCells(ledger))
            _ = try ledger.save(changed, table.number, id: id, sinceMilliseconds: since)
            isChanged = true
        }
        return isChanged
    }
}
