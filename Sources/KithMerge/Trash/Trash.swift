import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Deleted rows, which ``HiddenRows`` keeps with their contents.
package struct Trash {
    /// How long a deleted row stays in the trash.
    package static let milliseconds: Int64 = 30 * 24 * 60 * 60 * 1_000

    package let ledger: RowLedger

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    private var connection: DatabaseConnection { ledger.connection }

    package func rows(table name: String?, max limit: Int, after end: Int64) throws -> [TrashedRow] {
        var rows: [TrashedRow] = []
        let select = try HiddenRows(connection).selectingTrash(after: end)
        defer { select.reset() }
        while rows.count < limit, try select.step() {
            guard let table = ledger.catalog[select.int(5)], let tracked = table.tracked, name == nil || name == tracked.sqlName
            else { continue }
            let hidden = try ledger.hiddenRow(select, at: 1, table: table.number)
            if hidden.state.cells.isEmpty { continue }
            var values: [String: ColumnValue] = [:]
            let others = hidden.state.shownInOtherKinds(table, tracked)
            for (place, (column, value)) in zip(tracked.columns, hidden.state.shownValues(tracked)).enumerated() {
                if let value = value ?? others[place], let name = table.columns[column].sqlName { values[name] = value }
            }
            rows.append(
                TrashedRow(
                    table: tracked.sqlName, id: try select.rowID(0), deletedMilliseconds: select.integer(6),
                    deletions: hidden.state.tombstones.map(\.dot), values: values))
        }
        var removed = try RemovedRows(ledger: ledger).rows(table: name, max: limit, after: end)
        if removed.isEmpty { return rows }
        // What went last counts. What is left in a deletion of the same time is less.
        let deleted = Dictionary(rows.map { (RowName(table: $0.table, id: $0.id), $0.deletedMilliseconds) }) { max($0, $1) }
        removed.removeAll { $0.deletedMilliseconds < deleted[RowName(table: $0.table, id: $0.id)] ?? .min }
        let names = Set(removed.map { RowName(table: $0.table, id: $0.id) })
        rows.removeAll { names.contains(RowName(table: $0.table, id: $0.id)) }
        return Array((rows + removed).sorted { $0.deletedMilliseconds > $1.deletedMilliseconds }.prefix(limit))
    }

    private struct RowName: Hashable {
        let table: String
        let id: RowID
    }

    package func empty(table name: String?, after end: Int64) throws -> Int {
        let rows = try rows(table: name, max: .max, after: end)
        for row in rows {
            guard let (number, _) = ledger.tracked(row.table) else { continue }
            try HiddenRows(connection).empty(number, row.id)
            try RemovedRows(ledger: ledger).forget(number, row.id)
        }
        try MassDeletions(ledger: ledger).dismissAll(table: name)
        return rows.count
    }

    /// Whether a hidden row was in a trash that has been emptied.
    package func isEmptied(_ number: Int64) throws -> Bool {
        try HiddenRows(connection).since(number) ?? 0 == 0
    }

    /// Removes rows whose deletion everybody holds, among the next `limit` deleted ones after the hidden row `number`.
    ///
    /// Whoever has acknowledged a row's whole clock knows the deletion, so a later edit of its is a new life. An earlier one is
    /// here already, for what others have acknowledged must be known here, too. Who is not asked, and holds an edit that did not
    /// know of the deletion, brings the row back whole: see ``RowMerger``.
    /// - Returns: how many were removed, and where to go on; `nil` at the end.
    package func collect(
        acknowledged: [VersionVector], until end: Int64, after number: Int64, max limit: Int
    ) throws -> (removed: Int, last: Int64?) {
        guard try mayCollect(acknowledged) else { return (0, nil) }
        let select = try HiddenRows(connection).selectingDue(until: end, after: number, max: limit)
        var garbage: [Garbage] = []
        var visited = 0
        var last = number
        while try select.step() {
            let table = select.int(5)
            let hidden = try ledger.hiddenRow(select, at: 1, table: table)
            visited += 1
            last = hidden.number
            if hidden.isKnown(to: acknowledged) { garbage.append(Garbage(table: table, id: try select.rowID(0), row: hidden)) }
        }
        return (try remove(garbage), visited < limit ? nil : last)
    }

    /// Removes the deleted row `row`, if it has texts and ``collect(acknowledged:until:after:max:)`` would, because its id is used
    /// again: others may have removed it, and a text that several begin anew must not stand beside one that only some have forgotten.
    ///
    /// If the app has told the store of no members, it keeps account of them itself, and nothing is removed here.
    /// - Returns: whether it did.
    package func collect(_ row: HiddenRow, table: Int, id: RowID, nowMilliseconds now: Int64) throws -> Bool {
        guard row.reason == .deleted, row.state.hasTexts else { return false }
        guard try HiddenRows(connection).isDue(row.number, until: now - Self.milliseconds) else { return false }
        let members = try MemberRecords(ledger: ledger).all()
        let acknowledged = members.filter { !$0.isSilent(atMilliseconds: now) }.map(\.durable)
        guard !members.isEmpty, row.isKnown(to: acknowledged), try mayCollect(acknowledged) else { return false }
        return try remove([Garbage(table: table, id: id, row: row)]) > 0
    }

    /// What others have acknowledged must be known here, too.
    private func mayCollect(_ acknowledged: [VersionVector]) throws -> Bool {
        let vector = try VectorRecords(connection: connection).vector(ledger.catalog)
        return acknowledged.allSatisfy { vector.covers($0) }
    }

    private struct Garbage {
        let table: Int
        let id: RowID
        let row: HiddenRow
    }

    /// - Returns: how many rows were removed; those that others need are left.
    private func remove(_ garbage: [Garbage]) throws -> Int {
        if garbage.isEmpty { return 0 }
        let needed = try ReferenceRecords(connection: connection).needed(RowFactsReader(ledger))
        let garbage = garbage.filter { !needed.contains(RowKey(table: $0.table, id: $0.id)) }
        var count = 0
        for garbage in garbage {
            let (table, id, row) = (garbage.table, garbage.id, garbage.row)
            let remains = row.state.remains
            if remains == row.state { continue }
            count += 1
            // Who has not heard of its deletion yet does not find it by that any more.
            try ledger.noteSilentChange(table, id)
            try TextArchive(ledger: ledger).forget(table: table, id: id)
            try ReferenceRecords(connection: connection).stopWaiting(RowKey(table: table, id: id))
            // Also where its deletion stays: it goes once the row is written anew.
            try VectorRecords(connection: connection).raiseFloor(to: row.state.clock, ledger)
            if remains.isEmpty {
                try ledger.removeHidden(row.number)
            } else {
                var left = row
                left.state = remains
                _ = try ledger.save(left, table, id: id, sinceMilliseconds: 0)
            }
            try ledger.reindex(table, from: row.state.liveDots, at: -row.number, to: remains.liveDots, at: -row.number)
        }
        try DigestLedger(ledger: ledger).forget(garbage.map { ($0.table, $0.id) })
        return count
    }
}

extension HiddenRow {
    /// Whether all who have acknowledged these vectors know of everything in the row.
    fileprivate func isKnown(to acknowledged: [VersionVector]) -> Bool {
        let clock = state.clock
        return acknowledged.allSatisfy { $0.covers(clock) }
    }
}

extension RowState {
    /// What must outlast the row's contents: counters, whose totals nobody can write for another, with the tombstones.
    fileprivate var remains: RowState {
        let counters = cells.filter { !$0.isCollectable }
        return counters.isEmpty ? RowState() : RowState(cells: counters, tombstones: tombstones)
    }
}
