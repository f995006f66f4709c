import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Tells whether a slice can be applied without triggers, which take a good part of the time: only Kith's own stand on the
/// tables that it changes, and these would have nothing to say to it.
package struct WatchedTables {
    private let ledger: RowLedger

    package init(_ ledger: RowLedger) {
        self.ledger = ledger
    }

    /// Whether only Kith's own triggers stand on the tables of `slice`.
    package func areFree(_ slice: Slice) throws -> Bool {
        try slice.tables.allSatisfy { table in
            guard let tracked = ledger.catalog.table(named: table.name)?.tracked else { return true }
            return try !isWatched(tracked.sqlName)
        }
    }

    private func isWatched(_ name: String) throws -> Bool {
        let select = try ledger.connection.statement(
            """
            SELECT 1 FROM (SELECT name, type, tbl_name FROM sqlite_master UNION ALL SELECT name, type, tbl_name FROM sqlite_temp_master)
            WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE AND name NOT GLOB 'kith_[0-9]*_*'
            """)
        select.bind(1, .text(name))
        defer { select.reset() }
        return try select.step()
    }
}

extension Slice {
    /// Fewer rows are not worth to do without triggers: SQLite prepares all statements anew.
    private static let untriggeredRowsMin = 128

    /// Whether many rows are left from `first` on.
    package func isWorthNoTriggers(from first: Int) -> Bool { rows.count - first >= Self.untriggeredRowsMin }

    /// Whether Kith's triggers would certainly accept all rows: they look whether sets are JSON. A listing also deletes rows of
    /// tables that it does not name.
    package var canDoWithoutTriggers: Bool {
        listing == nil && isWorthNoTriggers(from: 0) && rows.allSatisfy(\.state.hasPlainSets)
    }
}

extension RowState {
    fileprivate var hasPlainSets: Bool {
        for entry in cells {
            guard case .set(let set) = entry.cell else { continue }
            for element in set.members where !SetText.isPlainString(element) { return false }
        }
        return true
    }
}
