import KithCausality
import KithSync

/// Merges row parts into the store, one at a time, within the transaction of a slice.
struct RowMerger {
    let ledger: RowLedger
    /// What the receiver knows, before the delta.
    let vector: VersionVector
    /// What it will know when the transaction ends. A row that knows more keeps that as its context.
    let vectorAfter: VersionVector
    let wallClockMilliseconds: Int64

    /// What the store holds of a row.
    private struct Held {
        var state = RowState()
        var context: Int64?
        var visible: (row: Int64, values: [Value])?
        var hidden: HiddenRow?

        var dots: [Dot] { state.liveDots }
    }

    /// - Parameters:
    ///   - part: with column numbers of this store.
    ///   - theirs: what the sender knew of the row.
    func merge(_ part: RowState, into tableNumber: Int, id: RowID, theirs: VersionVector) throws {
        guard let table = ledger.catalog[tableNumber] else { return }
        let held = try find(table, id)
        var state = held.state
        state.context = try ledger.contextVector(held.context)
        state.merge(part, knowing: vector, theirs: theirs)
        state.context.join(theirs)
        if vectorAfter.covers(state.context) { state.context = VersionVector() }
        try save(state, table, id, held)
    }

    /// Makes the store hold `state`, whose context says what it must keep.
    private func save(_ state: RowState, _ table: CatalogTable, _ id: RowID, _ held: Held) throws {
        let context = try ledger.context(for: state.context)
        var bare = state
        bare.context = VersionVector()
        if let tracked = table.tracked, state.isVisible(tracked.deletePolicy) {
            if let key = tracked.naturalKey, !key.names(id, showing: state.shownValues(tracked)) {
                return try hide(bare, table, id, held, context, .wrongKey)
            }
            do {
                try show(bare, table, tracked, id, held, context)
                return
            } catch let error as SQLiteError where error.isConstraint {
                // The app's own rule refuses the merged row: it is kept, and shown once the rule allows it.
                try hide(bare, table, id, held, context, .refused)
                return
            }
        }
        let reason: HiddenReason = state.isEmpty ? .contextOnly : table.tracked == nil ? .unknownTable : .deleted
        try hide(bare, table, id, held, context, reason)
    }

    private func show(
        _ state: RowState, _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ id: RowID, _ held: Held, _ context: Int64?
    ) throws {
        let user = UserTable(connection: ledger.connection, table: table, tracked: tracked)
        let values = state.shownValues(tracked)
        let row: Int64
        if let visible = held.visible {
            row = visible.row
            try user.update(row, from: visible.values, to: values)
        } else {
            row = try user.insert(id, values)
        }
        if let hidden = held.hidden { try ledger.removeHidden(hidden.number) }
        if state == held.state, held.visible != nil, context == held.context { return }
        let stored = StoredRow(state, table, tracked, context: context)
        try ledger.save(stored, table.number, row: row, id: id)
        try ledger.reindex(table.number, from: held.dots, at: reference(held), to: state.liveDots, at: row)
    }

    private func hide(
        _ state: RowState, _ table: CatalogTable, _ id: RowID, _ held: Held, _ context: Int64?, _ reason: HiddenReason
    ) throws {
        if let visible = held.visible, let tracked = table.tracked {
            try UserTable(connection: ledger.connection, table: table, tracked: tracked).delete(visible.row)
            try ledger.removeClocks(table.number, row: visible.row)
        }
        if state.isEmpty, context == nil {
            if let hidden = held.hidden { try ledger.removeHidden(hidden.number) }
            try ledger.reindex(table.number, from: held.dots, at: reference(held), to: [], at: 0)
            return
        }
        let hidden = HiddenRow(number: 0, state: state, context: context, reason: reason)
        let number = try ledger.save(hidden, table.number, id: id, sinceMilliseconds: wallClockMilliseconds)
        try ledger.reindex(table.number, from: held.dots, at: reference(held), to: state.liveDots, at: -number)
    }

    private func find(_ table: CatalogTable, _ id: RowID) throws -> Held {
        var held = Held()
        if let tracked = table.tracked,
            let found = try UserTable(connection: ledger.connection, table: table, tracked: tracked).find(id)
        {
            guard let stored = try ledger.storedRow(table.number, row: found.row) else {
                throw StoreError(.corrupt, "A row of \(tracked.sqlName) has no clocks. Run `kith verify`.")
            }
            held.state = try stored.state(tracked, values: found.values) { try SetText.elements(of: $0, ledger.connection) }
            held.context = stored.context
            held.visible = found
        } else if let hidden = try ledger.hiddenRow(table.number, id) {
            held.state = hidden.state
            held.context = hidden.context
            held.hidden = hidden
        }
        return held
    }

    private func reference(_ held: Held) -> RowReference {
        held.visible?.row ?? held.hidden.map { -$0.number } ?? 0
    }
}
