import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// A value of a cell that lost to a concurrent one and is kept.
public struct Alternative: Hashable, Sendable {
    /// The app's column.
    public let column: String
    /// What the column would hold.
    public let value: ColumnValue
    /// Who wrote it, and when.
    public let stamp: Stamp
}

extension SyncedDatabase {
    /// The alternatives of a visible row, by column and then by commit; none if the row is not there.
    ///
    /// They are the same on every replica with the same vector. Columns of a natural key have none: all who wrote one wrote the same. A
    /// value that several wrote is listed once, one that is shown never. Of a counter, values that were found when the table was first
    /// tracked and do not count are listed as they were found; of a text, versions that began with another text then.
    public func alternatives(table: String, id: RowID) throws(StoreError) -> [Alternative] {
        try read { ledger in try ledger.alternatives(table, id) }
    }

    /// The same as a part of what is open on `db`, so that a list and its conflicts are one observation.
    public func alternatives(_ db: Database, table: String, id: RowID) throws(StoreError) -> [Alternative] {
        try read(in: db) { ledger in try ledger.alternatives(table, id) }
    }

    /// The same for several rows, read in one transaction.
    package func alternatives(of rows: [(table: String, id: RowID)]) throws -> [[Alternative]] {
        try read { ledger in try rows.map { try ledger.alternatives($0.table, $0.id) } }
    }

    /// Writes `value` to a column of a visible row, other than a set, and supersedes every alternative that is known here.
    ///
    /// Part of the transaction that is open on `db`, which must be an access to this store's database. If it throws, nothing of it stays.
    /// - Throws: ``StoreError`` with code `notFound` if there is no such visible row or column, `valueRejected` if a rule of the
    ///   table does not allow the value.
    public func resolve(_ db: Database, table: String, id: RowID, column: String, keeping value: ColumnValue) throws(StoreError) {
        try change(table, db) { capture in try capture.resolve(table: table, id: id, column: column, keeping: value) }
    }

    /// Writes `value`, which was made from the value `base`, to a register of a visible row. If the row shows another value than `base` by
    /// now, `value` is shown, and the other one is kept as an alternative on every device: who wrote `value` had not seen it.
    ///
    /// For what is edited apart from the table, as in a form or a file. A `value` that equals `base`, or what is shown, writes nothing.
    /// Part of the transaction that is open on `db`, which must be an access to this store's database. If it throws, nothing of it stays.
    /// - Throws: ``StoreError`` with code `notFound` if there is no such visible row or register (sets, counters and texts are none),
    ///   `valueRejected` if a rule of the table does not allow the value, as no rule allows another one in a natural key.
    public func saveValue(
        _ db: Database, table: String, id: RowID, column: String, _ value: ColumnValue, base: ColumnValue
    ) throws(StoreError) {
        try change(table, db) { capture in try capture.save(value, madeFrom: base, table: table, id: id, column: column) }
    }

    /// Writes a row of `table` as a part of what is open on `db`: whole, or not at all. Who observes the table is told.
    func change(_ table: String, _ db: Database, _ body: (Capture) throws -> Void) throws(StoreError) {
        try StoreError.typed {
            try db.inSavepoint {
                let state = try writerState(db)
                try state.entry.enter()
                try StoreError.rejectingValue { try body(state.capture) }
                // It is written with statements that GRDB does not see.
                try state.notifyChanges(in: [table], db)
                return .commit
            }
        }
    }
}

extension RowLedger {
    fileprivate func alternatives(_ name: String, _ id: RowID) throws -> [Alternative] {
        guard let (number, tracked) = tracked(name),
            let visible = try UserTable(connection: connection, table: catalog.tables[number], tracked: tracked).find(id),
            let stored = try storedRow(number, row: visible.row)
        else { return [] }
        if stored.exceptions.isEmpty { return [] }
        let state = try stored.state(tracked, values: visible.values) { try SetText.elements(of: $0, connection) }
        return state.cells.flatMap { entry -> [Alternative] in
            guard !tracked.isKey(entry.column), let name = catalog.tables[number].columns[entry.column].sqlName else { return [] }
            return entry.cell.alternatives.map { Alternative(column: name, value: $0.value, stamp: $0.stamp) }
        }
    }
}

extension Cell {
    /// The cell after somebody has chosen `value`, which supersedes all that is known here; `nil` if it cannot be chosen.
    func resolved(keeping value: ColumnValue, stamp: Stamp) -> Cell? {
        switch (self, value) {
        case (.register(var state), _):
            state.resolve(keeping: value, stamp: stamp)
            return .register(state)
        case (.counter(var state), .integer(let amount)):
            state.resolve(keeping: amount, dot: stamp.dot)
            return .counter(state)
        default:
            return nil
        }
    }
}

extension RegisterState {
    /// The register after `value` was written by somebody who had seen `base` at most.
    fileprivate func saved(_ value: ColumnValue, madeFrom base: ColumnValue, insteadOf shown: ColumnValue, stamp: Stamp) -> RegisterState {
        var state = self
        // A commit has one write in a register.
        if shown == base || writes.contains(where: { $0.stamp.dot == stamp.dot }) {
            state.set(value, stamp: stamp)
        } else {
            state.add(Write(stamp: stamp, value: value), replacing: base)
            state.keepAlternatives(SyncedDatabase.alternativesMax)
        }
        return state
    }
}

extension Capture {
    func resolve(table name: String, id: RowID, column: String, keeping value: ColumnValue) throws {
        try write(value, table: name, id: id, column: column) { old, _, key in
            let stamp = try clock.stamp(ledger.catalog).stamp
            if case .text(var text) = old, value == .null || value.utf8 != nil {
                text.dismissVersions()
                try texts.save(value.utf8, in: &text, at: key, stamp)
                text.text = nil
                return .text(text)
            }
            guard let resolved = old.resolved(keeping: value, stamp: stamp) else {
                throw StoreError(.valueRejected, "Column \(column) of \(name) cannot hold this value.")
            }
            return resolved
        }
    }

    func save(_ value: ColumnValue, madeFrom base: ColumnValue, table name: String, id: RowID, column: String) throws {
        try write(value, table: name, id: id, column: column) { old, shown, _ in
            guard case .register(let register) = old else {
                throw StoreError(.notFound, "Column \(column) of \(name) is no register: its writes merge.")
            }
            if value == base || value == shown { return nil }
            let stamp = try clock.stamp(ledger.catalog).stamp
            return .register(register.saved(value, madeFrom: base, insteadOf: shown, stamp: stamp))
        }
    }

    /// Writes what `change` makes of a cell and of what its column shows, and shows `value` there; nothing if it makes nothing.
    private func write(
        _ value: ColumnValue, table name: String, id: RowID, column: String, _ change: (Cell, ColumnValue, TextKey) throws -> Cell?
    ) throws {
        guard let (number, tracked) = ledger.tracked(name) else {
            throw StoreError(.notFound, "There is no tracked table \(name).")
        }
        let table = ledger.catalog.tables[number]
        guard let index = tracked.columns.firstIndex(where: { table.columns[$0].sqlName == column }),
            tracked.kinds[index] != .set
        else { throw StoreError(.notFound, "Table \(name) has no column \(column) with alternatives.") }
        let user = UserTable(connection: ledger.connection, table: table, tracked: tracked)
        guard let visible = try user.find(id), var stored = try ledger.storedRow(number, row: visible.row) else {
            throw StoreError(.notFound, "Table \(name) has no row \(id).")
        }
        if visible.values[index] != value { try tracked.naturalKey?.checkUpdate(1 << UInt64(index)) }
        let before = stored.liveDots
        let old = try stored.state(tracked, values: visible.values) { try SetText.elements(of: $0, ledger.connection) }
        let place = tracked.columns[index]
        let held = old[place] ?? Cell(empty: tracked.kinds[index])
        guard let cell = try change(held, visible.values[index], TextKey(table: number, id: id, column: place)) else { return }
        stored.exceptions[place] = cell
        stored.exceptions.tombstones = []
        var new = old
        new[place] = cell
        try SupersededValues(ledger: ledger).note(old, new, number, id, nowMilliseconds: clock.wallClockMilliseconds)
        dropUnusedBase(&stored)
        try ledger.save(stored, number, row: visible.row, id: id)
        try ledger.reindex(number, from: before, at: visible.row, to: stored.liveDots, at: visible.row)
        try ledger.forgetSubstitutes(number, tracked, id, 1 << UInt64(index))
        if visible.values[index] == value { return }
        var values = visible.values
        values[index] = value
        willWriteNoted(number, id, values, insteadOf: visible.values)
        // Only this update is noted already; what triggers of the app make of it is not.
        try connection.writing(as: .noted(table: number, id: id, inserts: false)) {
            try user.update(visible.row, from: visible.values, to: values)
        }
    }
}
