import GRDBSQLite
import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Notes every write of a tracked table in the same transaction. One per writing connection, used on its thread only.
///
/// Each row reads and writes a dozen of its variables. No access to one lasts while another to it begins, so the runtime need not look
/// for overlaps, which takes as long as the rest of some of these functions.
package final class Capture {
    package let ledger: RowLedger
    package let clock: CommitClock
    package let pending: PendingRows
    package let entry: TransactionEntry
    /// Removes what is kept of a deleted row, if that may go: see ``Collect``.
    private let collect: Collect
    /// What `kith_text` made for the update that is about to come.
    package var staleSaves = StaleSaves()
    /// See ``TriggeredTable/file``.
    package let file: Int64
    /// Attached files that were found to be no copies of this one.
    @exclusivity(unchecked) var others: Set<String> = []
    /// Under which name the journal has this process.
    package var processName = ""
    /// The writes of the user that have begun.
    @exclusivity(unchecked) package var open = OpenWrites()
    @exclusivity(unchecked) package var rows = OpenRows()
    /// Keeps the clocks of a row that Kith inserts for the app and has noted itself, before triggers of the app hear of it.
    package var insertedNoted: ((Int64) throws -> Void)?
    /// Whether rows that are inserted, and of which nothing is known, are found and not written: see docs/store.md, "Rows that were there
    /// before".
    package var findsInserts = false
    /// What is to be shown in one form when the transaction commits.
    @exclusivity(unchecked) var looseValues = LooseValues()

    /// Removes what is kept of a deleted row whose id is used again, if everybody knows of its deletion and it is old enough, at a time in
    /// milliseconds since 1970. Returns whether it did.
    package typealias Collect = (_ row: HiddenRow, _ table: Int, _ id: RowID, _ nowMilliseconds: Int64) throws -> Bool

    package init(_ ledger: RowLedger, _ clock: CommitClock, _ entry: TransactionEntry, file: Int64, collect: @escaping Collect) {
        self.file = file
        self.collect = collect
        self.ledger = ledger
        self.clock = clock
        self.entry = entry
        pending = PendingRows(ledger.connection, clock)
        ledger.pending = pending
    }

    package var connection: DatabaseConnection { ledger.connection }
    package var texts: TextCells { TextCells(ledger) }

    // MARK: What the triggers call

    package func insert(_ tableNumber: Int, row: Int64, id: RowID, values: ColumnValues) throws {
        ledger.touch(tableNumber, id)
        let isLoose = try check(tableNumber) { place, _ in values.pointer(place) }
        rows.remove(RowKey(table: tableNumber, id: id))
        if connection.isMerging { return }
        let replacement = open.end(tableNumber, id, inserts: true)
        if connection.isNoted(tableNumber, id, inserts: true) {
            noteInsertForJournal(tableNumber, id)
            try insertedNoted.take()?(row)
            return
        }
        guard row > 0 else { throw Self.rowidNotPositive }
        let replaced = try replacement.flatMap { try remove($0) }
        noteInsertForJournal(tableNumber, id)
        try insert(tableNumber, row: row, id: id, values, replacing: replaced)
        if isLoose { looseValues.note(tableNumber, row, columns: .max) }
        try noteWrite(tableNumber, id, row)
    }

    private func insert(
        _ tableNumber: Int, row: Int64, id: RowID, _ values: ColumnValues, replacing replaced: ReplacedRow?
    ) throws {
        if !findsInserts, let columns = try ledger.columnsOfNewRows(tableNumber) {
            _ = try clock.stamp(ledger.catalog)
            // A commit lives in cells.
            if columns == 0 { try ledger.noteSilentChange(tableNumber, id) }
            return try pending.append(PendingRows.Row(row: row, id: id, table: Int32(tableNumber), columns: columns))
        }
        let (table, tracked) = try trackedTable(tableNumber)
        if let naturalKey = tracked.naturalKey { try naturalKey.check(id, of: naturalKey.positions.map { values[$0] }) }
        let (stamp, _) = try clock.stamp(ledger.catalog)
        if let hidden = try hiddenRow(tableNumber, id) {
            return try restart(table, tracked, row: row, id: id, hidden, stamp, replacing: replaced)
        }
        if tracked.hasSubstitutes { try ledger.forgetSubstitutes(tableNumber, tracked, id, .max) }
        if table.columns.count == tracked.columns.count {
            if findsInserts, !table.columns.isEmpty {
                let found = StoredRow(base: stamp.adopted, baseColumns: table.columns.count, exceptions: RowState())
                try ledger.save(found, tableNumber, row: row, id: id)
                return try ledger.reindex(tableNumber, from: [], at: row, to: found.liveDots, at: row)
            }
            let new = PendingRows.Row(row: row, id: id, table: Int32(tableNumber), columns: Int32(table.columns.count))
            return try pending.append(new)
        }
        // A column that only other schemas know is not written by this insertion.
        var state = RowState()
        try write(try self.values(of: tracked, row: row), into: &state, tableNumber, id, tracked, stamp, replacing: nil)
        let stored = StoredRow(state, table, tracked, context: nil)
        try ledger.save(stored, tableNumber, row: row, id: id)
        try ledger.reindex(tableNumber, from: [], at: row, to: stored.liveDots, at: row)
    }

    /// - Parameters:
    ///   - changed: a bit for each tracked column, in order.
    ///   - values: of the columns before and after the update.
    package func update(_ tableNumber: Int, oldRow: Int64, newRow: Int64, id: RowID, changed: UInt64, values: ColumnValues) throws {
        ledger.touch(tableNumber, id)
        let key = RowKey(table: tableNumber, id: id)
        let image = rows.end(key)
        if image == nil, connection.isNoted(tableNumber, id, inserts: false) { return noteForJournal(tableNumber, id, changed, values) }
        let isLoose = changed != 0 ? try check(tableNumber, changed: changed) { _, pair in values.pointer(2 * pair + 1) } : false
        if connection.isMerging { return }
        guard newRow > 0 else { throw Self.rowidNotPositive }
        // Also where nothing has changed: it may be a column that was added meanwhile.
        let oldRow = try entry.enter() ? newRow : oldRow
        let loose = isLoose ? changed : 0
        var (changed, values) = (changed, values)
        if var image, let (_, tracked) = try? trackedTable(tableNumber), let shown = try readRow(tableNumber, newRow)?.values {
            let found = changes(since: &image, key, tracked, changed, values, shown: shown)
            rows.note(key, image)
            if found.isNoted { noteForJournal(tableNumber, id, changed, values) }
            (changed, values) = (found.changed, found.values)
        }
        noteForJournal(tableNumber, id, changed, values)
        if changed == 0, oldRow == newRow {
            if isLoose, let tracked = ledger.catalog.tracked(tableNumber) {
                looseValues.note(tableNumber, newRow, columns: loose & tracked.looseColumns)
            }
            return open.dropEnded()
        }
        if oldRow == newRow { open.dropEnded() } else { try open.end(tableNumber, id, inserts: false).map { _ = try remove($0) } }
        let (_, tracked) = try trackedTable(tableNumber)
        try tracked.naturalKey?.checkUpdate(changed)
        guard var stored = try ledger.storedRow(tableNumber, row: oldRow) else { throw Self.missingClocks(tracked) }
        let before = stored.liveDots
        try ledger.forgetSubstitutes(tableNumber, tracked, id, changed)
        if changed != 0 {
            let (stamp, _) = try clock.stamp(ledger.catalog)
            try apply(changed, values, to: &stored, tableNumber, id, tracked, stamp)
            if !stored.liveDots.contains(stamp.dot) { try ledger.noteSilentChange(tableNumber, id) }
            // Peers hear that deletions are overridden by what was written; a set that was saved as it was says nothing.
            if !stored.exceptions.tombstones.isEmpty, stored.liveDots.contains(stamp.dot) {
                stored.exceptions.tombstones = []
                try RefusedRows(connection: connection).forget(RowKey(table: tableNumber, id: id))
            }
        }
        if isLoose { looseValues.note(tableNumber, newRow, columns: (loose | changed) & tracked.looseColumns) }
        if oldRow != newRow {
            try ledger.removeClocks(tableNumber, row: oldRow)
            looseValues.didMove(tableNumber, from: oldRow, to: newRow)
        }
        try ledger.save(stored, tableNumber, row: newRow, id: id)
        try ledger.reindex(tableNumber, from: before, at: oldRow, to: stored.liveDots, at: newRow)
        try noteWrite(tableNumber, id, newRow)
    }

    /// A row is about to be deleted by the app: a merge keeps by itself what does not synchronise.
    package func beforeDelete(_ tableNumber: Int, row: Int64, id: RowID) throws {
        guard !connection.isMerging, let tracked = ledger.catalog.tracked(tableNumber) else { return }
        try LocalValues(connection).keep(tableNumber, tracked, row: row, id: id)
    }

    package func delete(_ tableNumber: Int, row: Int64, id: RowID, values: [ColumnValue]) throws {
        ledger.touch(tableNumber, id)
        let noted = rows.remove(RowKey(table: tableNumber, id: id))?.values
        if connection.isMerging { return }
        try entry.enter(deleted: DeletedRow(table: tableNumber, row: row, id: id))
        let deleted = try remove(ReplacedRow(table: tableNumber, row: row, id: id, values: noted ?? values))
        open.didDelete(deleted)
        let replaced = open.inTheWay(ofMoving: deleted)
        if try !replaced.isEmpty && !entry.areTriggersRecursive() {
            for row in replaced where try readRow(row.table, row.row)?.id != row.id { try removeReplaced(row) }
        }
        open.dropEnded(unless: deleted)
    }

    /// Turns a row that is gone from its table into a deleted one.
    package func remove(_ gone: ReplacedRow) throws -> ReplacedRow {
        let (_, tracked) = try trackedTable(gone.table)
        if let journal = ledger.journal, journal.keeps(gone.table) {
            journal.noteWhole(RowKey(table: gone.table, id: gone.id), gone.values)
        }
        guard let stored = try ledger.storedRow(gone.table, row: gone.row) else { throw Self.missingClocks(tracked) }
        let (stamp, _) = try clock.stamp(ledger.catalog)
        var state = try stored.state(tracked, values: gone.values) { try SetText.elements(of: $0, connection) }
        state.tombstones = [Tombstone(dot: stamp.dot, seen: try ledger.seen(state, of: gone.table))]
        let hidden = HiddenRow(number: 0, state: state, context: stored.context, reason: .deleted)
        let number = try ledger.save(
            hidden, gone.table, id: gone.id, sinceMilliseconds: clock.wallClockMilliseconds)
        try ledger.removeClocks(gone.table, row: gone.row)
        try ledger.reindex(gone.table, from: stored.liveDots, at: gone.row, to: state.liveDots, at: -number)
        var gone = gone
        gone.tombstones = stored.exceptions.tombstones
        if !gone.tombstones.isEmpty { try RefusedRows(connection: connection).forget(RowKey(table: gone.table, id: gone.id)) }
        return gone
    }

    // MARK: Parts

    /// What is kept of a row whose id is used again, and has not become garbage.
    private func hiddenRow(_ table: Int, _ id: RowID) throws -> HiddenRow? {
        guard let hidden = try ledger.hiddenRow(table, id) else { return nil }
        let isGone = try collect(hidden, table, id, clock.wallClockMilliseconds)
        return isGone ? try ledger.hiddenRow(table, id) : hidden
    }

    /// A row is inserted whose id was known: a new life without alternatives, or, within one REPLACE, an update.
    private func restart(
        _ table: CatalogTable, _ tracked: CatalogTable.Tracked, row: Int64, id: RowID, _ hidden: HiddenRow, _ stamp: Stamp,
        replacing old: ReplacedRow?
    ) throws {
        var state = hidden.state
        let isReplace = old != nil
        var values = try values(of: tracked, row: row)
        try ledger.keepSubstitutes(table.number, tracked, id, isReplace: isReplace, &values)
        // Columns of other schemas are written anew as well: somebody may have collected the old life.
        if !isReplace { state.revive(stamp) }
        try write(values, into: &state, table.number, id, tracked, stamp, replacing: old)
        state.tombstones = old.map { state.cellDots.contains(stamp.dot) ? [] : $0.tombstones } ?? []
        let stored = StoredRow(state, table, tracked, context: hidden.context)
        if !stored.liveDots.contains(stamp.dot) { try ledger.noteSilentChange(table.number, id) }
        try ledger.removeHidden(hidden.number)
        if hidden.reason.isRefusal { try RefusedRows(connection: connection).forget(RowKey(table: table.number, id: id)) }
        try ledger.save(stored, table.number, row: row, id: id)
        try ledger.reindex(table.number, from: hidden.state.liveDots, at: -hidden.number, to: stored.liveDots, at: row)
    }

    /// Writes a whole row's values into `state`: all of them, or those that differ from what `old` showed.
    private func write(
        _ values: [ColumnValue], into state: inout RowState, _ table: Int, _ id: RowID, _ tracked: CatalogTable.Tracked,
        _ stamp: Stamp, replacing old: ReplacedRow?
    ) throws {
        let restarting = old == nil
        for (index, column) in tracked.columns.enumerated() {
            let value = values[index]
            switch state[column] ?? Cell(empty: tracked.kinds[index]) {
            case .register(var register):
                if restarting {
                    register.resolve(keeping: value, stamp: stamp)
                } else if register.shown?.value ?? old?.value(index) != value {
                    register.set(value, stamp: stamp)
                }
                state[column] = .register(register)
            case .set(var set):
                let elements = try SetText.elements(of: value, connection)
                if restarting { set.restart(with: elements, dot: stamp.dot) } else { _ = set.set(to: elements, dot: stamp.dot) }
                state[column] = .set(set)
            case .counter(var counter):
                if restarting {
                    counter.restart(with: value.integer, dot: stamp.dot)
                } else if counter.value != value.integer {
                    counter.count(value.integer &- counter.value, dot: stamp.dot)
                }
                state[column] = .counter(counter)
            case .text(var text):
                let key = TextKey(table: table, id: id, column: column)
                if restarting {
                    try texts.restart(with: value.utf8, in: &text, at: key, stamp)
                } else if text.shown != value {
                    try texts.save(value.utf8, in: &text, at: key, stamp)
                }
                state[column] = .text(text)
            }
        }
    }

    private func apply(
        _ changed: UInt64, _ pairs: ColumnValues, to stored: inout StoredRow, _ table: Int, _ id: RowID,
        _ tracked: CatalogTable.Tracked, _ stamp: Stamp
    ) throws {
        var pair = 0
        var register = 2 * tracked.kinds.count { $0 != .register }
        for (index, column) in tracked.columns.enumerated() {
            let kind = tracked.kinds[index]
            let isPair = kind != .register
            defer { if isPair { pair += 2 } else { register += 1 } }
            guard changed >> UInt64(index) & 1 == 1 else { continue }
            if isPair, pair + 1 < pairs.count { try stored.findDefault(of: column, kind, showing: pairs[pair], stamp, connection) }
            switch kind {
            case .register:
                var state = stored.register(column)
                // The table shows the new value already; the old one tells equal writes, and names what was adopted.
                let old = state.isSingleWrite ? nil : stored.written(column) ?? pairs[register]
                state.set(.null, stamp: stamp, replacing: old)
                stored.exceptions[column] = .register(state)
            case .set:
                guard pair + 1 < pairs.count else { throw Self.missingClocks(tracked) }
                var set = stored.set(column, elements: try SetText.elements(of: pairs[pair], connection))
                if set.set(to: try SetText.elements(of: pairs[pair + 1], connection), dot: stamp.dot) {
                    stored.exceptions[column] = .set(set)
                }
            case .counter:
                guard pair + 1 < pairs.count else { throw Self.missingClocks(tracked) }
                var counter = stored.counter(column, value: pairs[pair].integer)
                counter.count(pairs[pair + 1].integer &- pairs[pair].integer, dot: stamp.dot)
                stored.exceptions[column] = .counter(counter)
            case .text:
                guard pair + 1 < pairs.count else { throw Self.missingClocks(tracked) }
                var text = stored.text(column, value: pairs[pair])
                let key = TextKey(table: table, id: id, column: column)
                if let operations = staleSaves.take(from: pairs[pair].utf8, to: pairs[pair + 1].utf8) {
                    try texts.save(operations, in: &text, at: key, stamp)
                } else {
                    try texts.save(pairs[pair + 1].utf8, in: &text, at: key, stamp)
                }
                text.text = nil
                stored.exceptions[column] = .text(text)
            }
        }
        dropUnusedBase(&stored)
    }

    /// When no column has the base stamp any more, nothing needs to be excepted from it.
    package func dropUnusedBase(_ stored: inout StoredRow) {
        if !stored.usesBase { stored.baseColumns = 0 }
        if stored.baseColumns == 0 { stored.exceptions.cells.removeAll { $0.cell.dots.isEmpty } }
    }

    /// What the app's table shows of a row, in the order of the tracked columns.
    private func values(of tracked: CatalogTable.Tracked, row: Int64) throws -> [ColumnValue] {
        let select = try connection.statement(tracked.valuesSQL)
        select.bind(1, row)
        guard try select.step() else { throw Self.missingClocks(tracked) }
        defer { select.reset() }
        return tracked.columns.indices.map { select.value(Int32($0)) }
    }

    func trackedTable(_ number: Int) throws -> (CatalogTable, CatalogTable.Tracked) {
        guard let table = ledger.catalog[number], let tracked = table.tracked else {
            throw StoreError(
                .notFound,
                "This table is tracked, but this process has not declared it. Name it when the store is opened, so that its writes are seen."
            )
        }
        return (table, tracked)
    }

    /// Refuses what a set, counter or text column cannot hold.
    ///
    /// - Parameters:
    ///   - changed: a bit for each tracked column that is written.
    ///   - value: the new value of a tracked column, by its place among all and among those that are no registers.
    /// - Returns: whether one of the sets is not in its one form.
    private func check(_ number: Int, changed: UInt64 = .max, _ value: (Int, Int) -> OpaquePointer?) throws -> Bool {
        guard let tracked = ledger.catalog.tracked(number) else { return false }
        var isLoose = false
        for (index, column) in tracked.checked.enumerated() where changed >> UInt64(column.place) & 1 == 1 {
            // What merges make of valid texts is valid, however long it is.
            if column.kind == .text, connection.isMerging { continue }
            if try column.check(value(column.place, index), connection) == .loose { isLoose = true }
        }
        return isLoose
    }

    private static let rowidNotPositive = StoreError(.valueRejected, "The rowid of a tracked row is a positive number.")

    private static func missingClocks(_ tracked: CatalogTable.Tracked) -> StoreError {
        StoreError(
            .corrupt,
            "A row of \(tracked.sqlName) has no clocks: the table was written behind Kith's back, for instance with its triggers dropped, or by a trigger that is temporary or was made after the store was opened. Open the store again, and verify it."
        )
    }
}
