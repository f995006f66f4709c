import GRDBSQLite
import KithSync

/// Writes sets in the one form that all machines show. It is no write of the user's: no set changes by it.
struct SetTidier {
    let connection: Connection
    let table: CatalogTable
    let tracked: CatalogTable.Tracked
    /// Whether nothing but the row itself follows from what a set column holds: no trigger, CHECK or generated column of the app.
    let writesInPlace: Bool

    /// - Parameter loose: rows of the table, which may be gone; columns that are no sets are left alone.
    func tidy(_ loose: some Sequence<LooseSets.Row>) throws {
        for place in tracked.kinds.indices where tracked.kinds[place] == .set {
            let rows = loose.compactMap { $0.columns >> UInt64(place) & 1 == 1 ? $0.row : nil }
            for row in writesInPlace ? try sort(place, rows) : rows { try tidy(place, row) }
        }
    }

    /// The same of all rows that hold what somebody has written or found.
    func tidyAll() throws {
        for place in tracked.kinds.indices where tracked.kinds[place] == .set {
            // A column that nobody has written shows its default.
            let select = try connection.statement(
                """
                SELECT n.rowid, n.\(tracked.names[place]), c.columns > ? FROM \(quoted(tracked.sqlName)) n
                    LEFT JOIN \(Sidecar.clockTable(table.number)) c ON c.row = n.rowid
                """)
            select.bind(1, tracked.columns[place])
            var rows: [LooseSets.Row] = []
            while try select.step() {
                let isLoose = select.isNull(1) ? select.int(2) != 0 : !SetText.isTidy(select.value(1))
                if isLoose { rows.append(LooseSets.Row(table: table.number, row: select.integer(0), columns: 1 << UInt64(place))) }
            }
            try tidy(rows)
        }
    }

    /// Sorts the elements where they stand, which takes a fraction of an UPDATE. Returns the rows for which that is not enough.
    private func sort(_ place: Int, _ rows: [Int64]) throws -> [Int64] {
        guard let name = table.columns[tracked.columns[place]].sqlName else { return rows }
        var others: [Int64] = []
        var blob: OpaquePointer?
        defer { sqlite3_blob_close(blob) }
        for row in rows {
            let code =
                blob == nil
                ? sqlite3_blob_open(connection.handle, "main", tracked.sqlName, name, row, 1, &blob) : sqlite3_blob_reopen(blob, row)
            if code == SQLITE_OK, Self.sort(blob) { continue }
            // NULL, indexed, gone, or of another length: an UPDATE knows what to do, or what to say.
            if code != SQLITE_OK {
                sqlite3_blob_close(blob)
                blob = nil
            }
            others.append(row)
        }
        return others
    }

    private static func sort(_ blob: OpaquePointer?) -> Bool {
        let count = Int(sqlite3_blob_bytes(blob))
        var text = [UInt8](repeating: 0, count: count)
        guard sqlite3_blob_read(blob, &text, Int32(count), 0) == SQLITE_OK, let tidy = SetText.tidyPlainStrings(text) else { return false }
        return tidy == text || tidy.count == count && sqlite3_blob_write(blob, tidy, Int32(count), 0) == SQLITE_OK
    }

    private func tidy(_ place: Int, _ row: Int64) throws {
        let select = try connection.statement("SELECT \(tracked.names[place]) FROM \(quoted(tracked.sqlName)) WHERE rowid = ?")
        select.bind(1, row)
        guard try select.step() else { return }
        let shown = select.value(0)
        select.reset()
        let tidy = try SetText.tidy(shown, connection)
        if tidy == shown { return }
        let update = try UserTable(connection: connection, table: table, tracked: tracked).update(of: [place])
        update.bind(1, tidy)
        update.bind(2, row)
        connection.willWrite()
        defer { _ = connection.takesOwnWrite() }
        do {
            try update.run()
        } catch {
            guard error.code & 0xFF == SQLITE_CONSTRAINT else { throw error }
            // A rule of the app keeps the row as it was written.
            update.reset()
        }
    }
}

extension CatalogTable.Tracked {
    /// A bit for each tracked column that is a set.
    var setColumns: UInt64 {
        kinds.indices.reduce(0) { kinds[$1] == .set ? $0 | 1 << UInt64($1) : $0 }
    }
}
