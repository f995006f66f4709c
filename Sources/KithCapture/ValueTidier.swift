import GRDBSQLite
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Writes sets in the one form that all machines show, and 0 for NULL in counters. It is no write of the user's: nothing changes by it.
struct ValueTidier {
    let connection: DatabaseConnection
    let table: CatalogTable
    let tracked: CatalogTable.Tracked
    /// Whether nothing but the row itself follows from what a set column holds: no trigger, CHECK or generated column of the app.
    let writesInPlace: Bool

    /// - Parameter loose: rows, perhaps of other tables or gone; columns that are neither sets nor counters are left alone.
    func tidy(_ loose: [LooseValues.Row]) throws {
        for place in tracked.kinds.indices where tracked.kinds[place].hasLooseForms {
            if writesInPlace, tracked.kinds[place] == .set {
                for row in try sort(place, loose) { try tidy(place, row) }
            } else {
                for row in loose where has(row, place) { try tidy(place, row.row) }
            }
        }
    }

    private func has(_ loose: LooseValues.Row, _ place: Int) -> Bool {
        loose.table == table.number && loose.columns >> UInt64(place) & 1 == 1
    }

    /// The same of all rows that hold what somebody has written or found.
    func tidyAll() throws {
        for place in tracked.kinds.indices where tracked.kinds[place].hasLooseForms {
            let isSet = tracked.kinds[place] == .set
            // A column that nobody has written shows its default.
            let select = try connection.statement(
                """
                SELECT n.rowid, n.\(tracked.names[place]), c.columns > ? FROM \(tracked.mainName) n
                    LEFT JOIN \(ClockTable.name(table.number)) c ON c.row = n.rowid
                """)
            select.bind(1, tracked.columns[place])
            var rows: [LooseValues.Row] = []
            while try select.step() {
                let isLoose = select.isNull(1) ? select.int(2) != 0 : isSet && !SetText.isTidy(select.value(1))
                if isLoose { rows.append(LooseValues.Row(table: table.number, row: select.integer(0), columns: 1 << UInt64(place))) }
            }
            try tidy(rows)
        }
    }

    /// Sorts the elements where they stand, which takes a fraction of an UPDATE. Returns the rows for which that is not enough.
    private func sort(_ place: Int, _ loose: [LooseValues.Row]) throws -> [Int64] {
        guard let name = table.columns[tracked.columns[place]].sqlName else { return [] }
        var others: [Int64] = []
        var sorter = SetSorter()
        var blob: OpaquePointer?
        defer { sqlite3_blob_close(blob) }
        for row in loose where has(row, place) {
            let code =
                blob == nil
                ? sqlite3_blob_open(connection.handle, "main", tracked.sqlName, name, row.row, 1, &blob)
                : sqlite3_blob_reopen(blob, row.row)
            if code == SQLITE_OK, sorter.sort(blob) { continue }
            // NULL, indexed, gone, or of another length: an UPDATE knows what to do, or what to say.
            if code != SQLITE_OK {
                sqlite3_blob_close(blob)
                blob = nil
            }
            others.append(row.row)
        }
        return others
    }

    private func tidy(_ place: Int, _ row: Int64) throws {
        let select = try connection.statement("SELECT \(tracked.names[place]) FROM \(tracked.mainName) WHERE rowid = ?")
        select.bind(1, row)
        guard try select.step() else { return }
        let shown = select.value(0)
        select.reset()
        let tidy = try tracked.kinds[place] == .set ? SetText.tidy(shown, connection) : .integer(shown.integer)
        if tidy == shown { return }
        let update = try UserTable(connection: connection, table: table, tracked: tracked).update(of: [place])
        update.bind(1, tidy)
        update.bind(2, row)
        do {
            try connection.writingRow(.shown(table: table.number, row: row)) { () throws(SQLiteError) in try update.run() }
        } catch {
            // A rule of the app, also one that cannot be evaluated, keeps the row as it was written, and so does a trigger that writes a
            // virtual table, such as a search index: SQLite lets none be written while it commits.
            guard [SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_LOCKED, SQLITE_ERROR].contains(error.code & 0xFF) else { throw error }
            update.reset()
        }
    }
}

extension CatalogTable.Tracked {
    /// A bit for each tracked column that may be written in more than one form.
    var looseColumns: UInt64 {
        kinds.indices.reduce(0) { kinds[$1].hasLooseForms ? $0 | 1 << UInt64($1) : $0 }
    }
}

extension ColumnKind {
    /// Whether values that mean the same may be written in more than one form.
    fileprivate var hasLooseForms: Bool { self == .set || self == .counter }
}
