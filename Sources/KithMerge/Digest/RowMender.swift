import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Mends rows that differ although both stores know the same, within one transaction.
///
/// A value that gives way to another one of the same commit is written again, by a commit of this store, and stays as an
/// alternative until a person chooses. Rows of a catch-up that has waited in vain (``WaitingRows``) keep what they hold, and wait no more.
package struct RowMender {
    package let ledger: RowLedger
    package let clock: CommitClock
    package let merger: RowMerger
    /// What the peer holds of the rows.
    package let slice: MendingSlice
    /// Whether changes of texts were kept ahead of the rows.
    package let hasTextsAhead: Bool

    package init(ledger: RowLedger, clock: CommitClock, merger: RowMerger, slice: MendingSlice, hasTextsAhead: Bool) {
        self.ledger = ledger
        self.clock = clock
        self.merger = merger
        self.slice = slice
        self.hasTextsAhead = hasTextsAhead
    }

    /// - Parameter rows: those of the slice, with this store's numbers for their tables and columns.
    /// - Returns: the positions of the rows that changed.
    package func mend(_ rows: [RowPart]) throws -> [SlicePosition] {
        var changed: [SlicePosition] = []
        for row in rows where try mend(row) { changed.append(position(row)) }
        if !changed.isEmpty { try sweep(Set(rows.map(\.table)).sorted()) }
        return changed
    }

    private func mend(_ row: RowPart) throws -> Bool {
        guard let table = ledger.catalog[row.table] else { return false }
        let held: RowMerger.Held
        do {
            held = try merger.find(table, row.id)
        } catch let error as StoreError where error.code == .corrupt {
            // A row without clocks: `kith verify` names it, and nothing here tells what it should be.
            return false
        }
        // It has gone since it was compared, and a part of its texts is not here: a later comparison brings all of it.
        if held.state.cells.isEmpty, slice.shortened.contains(position(row)) { return false }
        guard let (mended, lost) = held.state.mended(with: row.state) else { return false }
        var state = mended
        // Of a row that vanished behind Kith's back the histories are left, which the peer's replace.
        if held.state.cells.isEmpty { try TextArchive(ledger: ledger).forget(table: row.table, id: row.id, keepsPortions: hasTextsAhead) }
        try mendTexts(&state, held.state, row)
        if lost.isEmpty, state == held.state { return false }
        try noteOwnTimes(held.state, mended)
        for value in lost {
            guard case .register(var register)? = state[value.column] else { continue }
            register.add(Write(stamp: try clock.stamp(ledger.catalog).stamp, value: value.value))
            state[value.column] = .register(register)
        }
        try merger.condense(&state, table)
        // What was said to be known of the row beside what it holds is in doubt.
        state.context = merger.vector.covers(mended.clock) ? VersionVector() : mended.clock
        try merger.save(state, table, row.id, held)
        return true
    }

    /// Notes which commits of this store a peer says something new of: what its rows say of them is no witness any more of when they were
    /// made here.
    private func noteOwnTimes(_ before: RowState, _ after: RowState) throws {
        let own = merger.own
        var last: UInt64 = 0
        for entry in after.cells {
            guard case .register(let new) = entry.cell else { continue }
            var held: Set<Stamp> = []
            if case .register(let old)? = before[entry.column] { held = Set(old.writes.map(\.stamp)) }
            for write in new.writes where write.stamp.dot.replica == own && !held.contains(write.stamp) {
                last = max(last, write.stamp.dot.sequence)
            }
        }
        if last > 0 { try DoubtedTimes(ledger).note(Dot(replica: own, sequence: last)) }
    }

    private func mendTexts(_ state: inout RowState, _ held: RowState, _ row: RowPart) throws {
        let texts = TextCells(ledger)
        for index in state.cells.indices {
            guard case .text(var text) = state.cells[index].cell, case .text(let own)? = held[state.cells[index].column],
                !agrees(row, state.cells[index].column)
            else { continue }
            let key = TextKey(table: row.table, id: row.id, column: state.cells[index].column)
            try texts.mend(&text, of: own, at: key) { try clock.stamp(ledger.catalog).stamp }
            state.cells[index].cell = .text(text)
        }
        try texts.settle(&state, table: row.table, id: row.id)
    }

    private func agrees(_ row: RowPart, _ column: Int) -> Bool {
        slice.agreeing.contains(MendingSlice.TextName(position(row), ledger.catalog.tables[row.table].columns[column].key))
    }

    private func position(_ row: RowPart) -> SlicePosition {
        SlicePosition(table: ledger.catalog.tables[row.table].name, row: row.id)
    }

    /// Removes clocks and index entries of rows that were removed behind Kith's back.
    private func sweep(_ tables: [Int]) throws {
        for number in tables {
            guard let tracked = ledger.catalog[number]?.tracked else { continue }
            try ClockTable(ledger.connection, number).removeLost(from: tracked.mainName)
            try DotIndex(ledger.connection).removeWithoutClocks(of: number)
        }
    }
}
