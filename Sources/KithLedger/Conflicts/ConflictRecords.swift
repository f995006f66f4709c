import GRDB
import KithCausality
import KithSQLite
import KithSync

/// Rows that have, or had, several versions of something: what `kith_conflict` lists.
///
/// A row is noted when it is stored with alternatives, which happens only where a merge brings them, so that a store without conflicts
/// has nothing to look at. That an entry is there says nothing: whoever reads looks at the row itself.
package struct ConflictRecords {
    package static let sql = """
        -- Visible rows that have or had alternatives.
        CREATE TABLE IF NOT EXISTS kith_conflict (tbl INTEGER NOT NULL, id BLOB NOT NULL, PRIMARY KEY (tbl, id)) WITHOUT ROWID;
        """

    package let ledger: RowLedger

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    private var connection: DatabaseConnection { ledger.connection }

    package func note(_ table: Int, _ id: RowID) throws {
        let insert = try connection.statement("INSERT OR IGNORE INTO kith_conflict (tbl, id) VALUES (?, ?)")
        insert.bind(1, table)
        insert.bind(2, id)
        try insert.run()
    }

    package func forget(_ table: Int, _ id: RowID) throws {
        let delete = try connection.statement("DELETE FROM kith_conflict WHERE tbl = ? AND id = ?")
        delete.bind(1, table)
        delete.bind(2, id)
        try delete.run()
    }

    package func contains(_ table: Int, _ id: RowID) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_conflict WHERE tbl = ? AND id = ?")
        select.bind(1, table)
        select.bind(2, id)
        defer { select.reset() }
        return try select.step()
    }

    /// Forgets rows that are not shown any more.
    package func forgetHidden() throws {
        for table in ledger.catalog.tables {
            guard let tracked = table.tracked else { continue }
            let delete = try connection.statement(
                """
                DELETE FROM kith_conflict WHERE tbl = ? AND NOT EXISTS (
                    SELECT 1 FROM \(tracked.mainName) n WHERE n.\(quoted(tracked.key)) = \(tracked.form.keySQL("kith_conflict.id")))
                """)
            delete.bind(1, table.number)
            try delete.run()
        }
    }

    // MARK: Reading

    /// How many rows are noted; of some the conflicts may be settled by now.
    package func count() throws -> Int {
        let select = try connection.statement("SELECT count(*) FROM kith_conflict")
        defer { select.reset() }
        return try select.step() ? select.int(0) : 0
    }

    /// The rows that are noted.
    package func rows() throws -> [RowKey] {
        let select = try connection.statement("SELECT tbl, id FROM kith_conflict")
        var rows: [RowKey] = []
        while try select.step() { rows.append(RowKey(table: select.int(0), id: try select.rowID(1))) }
        return rows
    }

    /// The whole values of a visible row of which several versions are kept.
    package func values(_ number: Int, _ id: RowID, _ authors: Authors) throws -> [Conflict] {
        guard let table = ledger.catalog[number], let tracked = table.tracked,
            let visible = try UserTable(connection: connection, table: table, tracked: tracked).find(id),
            let row = try clockRow(of: id, at: visible.row, number), let stored = try ledger.storedRow(number, row: row)
        else { return [] }
        if !stored.exceptions.hasAlternatives { return [] }
        let state = try stored.state(tracked, values: visible.values) { try SetText.elements(of: $0, connection) }
        return state.cells.compactMap { entry -> Conflict? in
            guard !tracked.isKey(entry.column), let name = table.columns[entry.column].sqlName, let shown = entry.cell.shownVersion else {
                return nil
            }
            let others = entry.cell.alternatives
            if others.isEmpty { return nil }
            let versions = ([shown] + others.sorted { $0.stamp.isShown(over: $1.stamp) }).map { write in
                Conflict.Version(value: write.value, stamp: write.stamp, author: authors[write.stamp.dot.replica])
            }
            return Conflict(kind: .value, table: tracked.sqlName, row: id, column: name, versions: versions)
        }
    }

    /// Where the clocks of a row are: elsewhere than the row, if VACUUM has moved it and nobody has written since.
    package func clockRow(of id: RowID, at row: Int64, _ table: Int) throws -> Int64? {
        let clocks = ClockTable.name(table)
        let select = try connection.statement(
            "SELECT row FROM \(clocks) WHERE row = ?1 AND id = ?2 UNION ALL SELECT row FROM \(clocks) WHERE id = ?2 LIMIT 1")
        select.bind(1, row)
        select.bind(2, id)
        defer { select.reset() }
        return try select.step() ? select.integer(0) : nil
    }
}

extension Cell {
    /// The values that lost and are kept, with their stamps.
    package var alternatives: [Write] {
        switch self {
        case .register(let state): state.alternatives
        case .counter(let state): state.alternatives.map { Write(stamp: $0.stamp, value: .integer($0.amount)) }
        case .text(let state): state.versions
        case .set: []
        }
    }

    /// What is shown, with the commit by which it is; `nil` for a set, and for a cell that nobody has written.
    fileprivate var shownVersion: Write? {
        switch self {
        case .register(let state):
            return state.shown
        case .counter(let state):
            return state.base.map { Write(stamp: $0.stamp, value: .integer(state.value)) }
                ?? state.totals.last.map { Write(stamp: Stamp(dot: $0.dot, timestamp: .zero), value: .integer(state.value)) }
        case .text(let state):
            return state.adopted?[state.document].map { Write(stamp: $0.stamp, value: state.shown) }
        case .set:
            return nil
        }
    }
}

extension RowState {
    /// Whether several versions of a value may be kept.
    package var hasAlternatives: Bool {
        cells.contains { entry in
            switch entry.cell {
            case .register(let state): state.writes.count > 1
            case .counter(let state): !state.alternatives.isEmpty
            case .text(let state): state.adopted?.documents.count ?? 0 > 1
            case .set: false
            }
        }
    }
}
