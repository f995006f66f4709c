import KithCausality
import KithSQLite
import KithSync

/// Writes the app's own table when a merge changes what it shows.
package struct UserTable {
    package let connection: DatabaseConnection
    package let table: CatalogTable
    package let tracked: CatalogTable.Tracked

    package init(connection: DatabaseConnection, table: CatalogTable, tracked: CatalogTable.Tracked) {
        self.connection = connection
        self.table = table
        self.tracked = tracked
    }

    /// The rowid and the shown values of the row `id`; `nil` if the table does not have it.
    package func find(_ id: RowID) throws -> (row: Int64, values: [ColumnValue])? {
        let select = try connection.statement(tracked.findSQL)
        select.bind(1, id, as: tracked.form)
        guard try select.step() else { return nil }
        defer { select.reset() }
        return (select.integer(0), tracked.columns.indices.map { select.value(Int32($0 + 1)) })
    }

    /// Inserts a row that shows `values`; a column without one takes its default, and one that does not synchronise what it held when
    /// the row was deleted or hidden here, unless a rule of the app is against that. Returns the rowid.
    package func insert(_ id: RowID, _ values: [ColumnValue?]) throws -> Int64 {
        let kept = LocalValues(connection)
        let local = try kept.values(of: table.number, tracked, id: id)
        if local.isEmpty { return try insert(id, values, local) }
        var row: Int64?
        do {
            row = try insert(id, values, local)
        } catch let error as SQLiteError where error.isConstraint {
            // A rule of the app may be against what they held.
        }
        let inserted = try row ?? insert(id, values, [])
        try kept.forget(table.number, id: id)
        return inserted
    }

    private func insert(_ id: RowID, _ values: [ColumnValue?], _ local: [(name: String, value: ColumnValue)]) throws -> Int64 {
        let present = values.indices.filter { values[$0] != nil }
        try refuseNull(of: values, at: present)
        let names = [quoted(tracked.key)] + present.map { tracked.names[$0] } + local.map { quoted($0.name) }
        let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
        let insert = try connection.passingStatement(
            "INSERT INTO \(sqlName) (\(names.joined(separator: ", "))) VALUES (\(marks)) RETURNING rowid")
        insert.bind(1, id, as: tracked.form)
        for (position, index) in present.enumerated() { insert.bind(Int32(position + 2), values[index] ?? .null) }
        for (position, kept) in local.enumerated() { insert.bind(Int32(present.count + position + 2), kept.value) }
        return try connection.write(.new(table: table.number, id: id)) {
            guard try insert.step() else { throw DatabaseConnection.rowIgnored }
            let row = insert.integer(0)
            try insert.run()
            return row
        }
    }

    /// Makes the row show `values` where they differ from `shown`.
    package func update(_ row: Int64, from shown: [ColumnValue], to values: [ColumnValue?]) throws {
        let changed = values.indices.filter { index in values[index].map { $0 != shown[index] } ?? false }
        if changed.isEmpty { return }
        try refuseNull(of: values, at: changed)
        let update = try update(of: changed)
        for (position, index) in changed.enumerated() { update.bind(Int32(position + 1), values[index] ?? .null) }
        update.bind(Int32(changed.count + 1), row)
        try write(update, row)
    }

    /// `NOT NULL ON CONFLICT REPLACE` would write the default instead, of which no commit knows.
    private func refuseNull(of values: [ColumnValue?], at places: [Int]) throws {
        if !connection.rulesMayRaise { return }
        for place in places where values[place] == .null {
            let name = table.columns[tracked.columns[place]].sqlName ?? ""
            let select = try connection.statement("SELECT 1 FROM pragma_table_info(?, 'main') WHERE name = ? AND \"notnull\"")
            select.bind(1, .text(tracked.sqlName))
            select.bind(2, .text(name))
            defer { select.reset() }
            if try select.step() { throw SQLiteError.null(in: "\(tracked.sqlName).\(name)") }
        }
    }

    /// Writes the columns at `places`, in their order; then comes the rowid.
    package func update(of places: [Int]) throws -> PreparedStatement {
        let assignments = places.map { "\(tracked.names[$0]) = ?" }.joined(separator: ", ")
        return try connection.passingStatement("UPDATE \(sqlName) SET \(assignments) WHERE rowid = ?")
    }

    /// Deletes a row, whose id is given. What its columns held that do not synchronise is kept for when it comes back.
    package func delete(_ row: Int64, id: RowID) throws {
        try LocalValues(connection).keep(table.number, tracked, row: row, id: id)
        let delete = try connection.statement("DELETE FROM \(sqlName) WHERE rowid = ?")
        delete.bind(1, row)
        try write(delete, row)
    }

    private func write(_ statement: PreparedStatement, _ row: Int64) throws {
        try connection.write(.shown(table: table.number, row: row)) {
            try statement.run()
            if connection.changedRowCount == 0 { throw DatabaseConnection.rowIgnored }
        }
    }

    private var sqlName: String { tracked.mainName }
}

extension Cell {
    package var shownValue: ColumnValue? {
        switch self {
        case .register(let state): state.shown?.value
        case .set(let state): .text(SetText.text(of: state.members))
        case .counter(let state): .integer(state.value)
        case .text(let state): state.shown
        }
    }
}

extension RowState {
    /// What a row in this state shows, in the order of the tracked columns; `nil` for a column nobody has written.
    package func shownValues(_ tracked: CatalogTable.Tracked) -> [ColumnValue?] {
        tracked.columns.map { self[$0]?.shownValue }
    }

    /// The same of a row that went before its columns got the kinds that they have now: a migration step takes over what the table shows, and
    /// no more. By place among the tracked columns.
    package func shownInOtherKinds(_ table: CatalogTable, _ tracked: CatalogTable.Tracked) -> [Int: ColumnValue] {
        var values: [Int: ColumnValue] = [:]
        for entry in cells where !tracked.columns.contains(entry.column) {
            let name = table.columns[entry.column].key.name
            guard let place = tracked.columns.firstIndex(where: { table.columns[$0].key.name == name }),
                self[tracked.columns[place]] == nil, let value = entry.cell.shownValue
            else { continue }
            values[place] = value
        }
        return values
    }
}
