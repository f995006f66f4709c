import GRDBSQLite
import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// What a REPLACE does without a word. See docs/decisions/replace-is-an-update.md.
extension Capture {
    /// - Parameter row: the rowid that the insertion asks for; not positive if SQLite chooses it.
    func beforeInsert(_ table: Int, id: RowID, row: Int64) throws {
        try entry.enter()
        if connection.isMerging { return }
        let write = OpenWrites.Write(table: table, id: id, row: row, inserts: true, mayNest: entry.mayNest(table))
        try open.begin(write) { try entry.writesNestedMax() }
        if row > 0, let found = try readRow(table, row), found.id != id { open.note(found) }
    }

    /// A row is about to be moved to the rowid `row`, where another one may be.
    func beforeMove(_ table: Int, id: RowID, row: Int64) throws {
        try entry.enter()
        if connection.isMerging { return }
        let write = OpenWrites.Write(table: table, id: id, row: row, inserts: false, mayNest: entry.mayNest(table))
        try open.begin(write) { try entry.writesNestedMax() }
        if let found = try readRow(table, row) { open.note(found) }
    }

    /// In the way of the write that has just begun stands the row with this rowid.
    package func stands(inTheWay row: Int64) throws {
        guard !connection.isMerging, let write = open.last, let found = try readRow(write.table, row) else { return }
        open.note(found)
    }

    /// Notes the deletion of what a write has replaced.
    ///
    /// - Returns: the row that it replaced with one of the same id.
    package func remove(_ replacement: OpenWrites.Replacement) throws -> ReplacedRow? {
        var old = replacement.deleted
        for row in replacement.replaced {
            let removed = try removeReplaced(row)
            if replacement.write.inserts, row.id == replacement.write.id { old = removed }
        }
        return old
    }

    /// Notes the deletion of a row in whose place another one was written, or was to be, had the deletion not taken that one along.
    @discardableResult
    func removeReplaced(_ row: ReplacedRow) throws -> ReplacedRow {
        let removed = try remove(row)
        rows.remove(RowKey(table: row.table, id: row.id))
        // A write that this one is made in the midst of may have found the same row in its way.
        open.didDelete(removed)
        try letGo(row)
        return removed
    }

    /// Refuses a row that no peer would take.
    package func check(size bytes: Int) throws {
        if !connection.isMerging, bytes > TrackedTable.rowBytesMax - Self.rowBytesReserved {
            throw SQLiteError(code: SQLITE_TOOBIG, message: "string or blob too big")
        }
    }

    /// What the id and the rest take.
    private static let rowBytesReserved = 64

    /// Rows that are shown for the sake of the one that is gone are looked at, as its delete trigger would have it.
    private func letGo(_ row: ReplacedRow) throws {
        for reference in ledger.catalog[row.table]?.tracked?.references ?? [] {
            guard let key = row.value(reference.position).flatMap(reference.row(named:)) else { continue }
            let records = ReferenceRecords(connection: ledger.connection)
            if try records.isHeld(key) { try records.note(key) }
        }
    }

    /// Lets writes that are open know of one that was made in their midst.
    func noteWrite(_ table: Int, _ id: RowID, _ row: Int64) throws {
        if open.isEmpty { return }
        try open.didWrite(table, id, row) { try readRow(table, row) }
    }

    func readRow(_ table: Int, _ row: Int64) throws -> ReplacedRow? {
        let (_, tracked) = try trackedTable(table)
        let select = try ledger.connection.statement(tracked.rowSQL)
        select.bind(1, row)
        guard try select.step() else { return nil }
        defer { select.reset() }
        return ReplacedRow(
            table: table, row: row, id: try select.rowID(0, as: tracked.form),
            values: tracked.columns.indices.map { select.value(Int32($0 + 1)) })
    }
}
