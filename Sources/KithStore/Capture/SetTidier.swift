import GRDBSQLite
import KithSync

/// Writes sets in the one form that all machines show. It is no write of the user's: no set changes by it.
struct SetTidier {
    let connection: Connection
    let table: CatalogTable
    let tracked: CatalogTable.Tracked

    /// - Parameters:
    ///   - row: its rowid; it may be gone.
    ///   - columns: a bit for each tracked column; others than sets are left alone.
    func tidy(_ row: Int64, columns: UInt64) throws {
        let select = try connection.statement(tracked.valuesSQL)
        select.bind(1, row)
        guard try select.step() else { return }
        let shown = tracked.columns.indices.map { select.value(Int32($0)) }
        select.reset()
        var changed: [(place: Int, value: Value)] = []
        for place in shown.indices where tracked.kinds[place] == .set && columns >> UInt64(place) & 1 == 1 {
            let tidy = try SetText.tidy(shown[place], connection)
            if tidy != shown[place] { changed.append((place, tidy)) }
        }
        if !changed.isEmpty { try write(changed, row) }
    }

    /// The same of all rows of the table.
    func tidyAll() throws {
        let sets = tracked.setColumns
        if sets == 0 { return }
        let places = tracked.kinds.indices.filter { tracked.kinds[$0] == .set }
        let names = places.map { tracked.names[$0] }.joined(separator: ", ")
        let select = try connection.statement("SELECT rowid, \(names) FROM \(quoted(tracked.sqlName))")
        var loose: [Int64] = []
        while try select.step() {
            if !places.indices.allSatisfy({ SetText.isTidy(select.value(Int32($0 + 1))) }) { loose.append(select.integer(0)) }
        }
        for row in loose { try tidy(row, columns: sets) }
    }

    private func write(_ changed: [(place: Int, value: Value)], _ row: Int64) throws {
        let user = UserTable(connection: connection, table: table, tracked: tracked)
        let update = try user.update(of: changed.map(\.place))
        for (position, entry) in changed.enumerated() { update.bind(Int32(position + 1), entry.value) }
        update.bind(Int32(changed.count + 1), row)
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
