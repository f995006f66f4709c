import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Reads whole tables, visible and hidden rows together, in the order of ``SlicePosition``.
package struct TableScan {
    package let ledger: RowLedger

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    /// Hands each row after `position` to `body` until it returns `false`.
    package func read(after position: SlicePosition?, _ body: (ReadRow) throws -> Bool) throws {
        let tables = ledger.catalog.tables.sorted { $0.name.lexicographicallyPrecedes($1.name) }
        for table in tables {
            var after: RowID?
            if let position {
                if table.name.lexicographicallyPrecedes(position.table) { continue }
                if table.name == position.table { after = position.row }
            }
            if try !read(table, after: after, body) { return }
        }
    }

    private func read(_ table: CatalogTable, after: RowID?, _ body: (ReadRow) throws -> Bool) throws -> Bool {
        let visible = try table.tracked.map { try visibleRows(table, $0, after: after) }
        let hidden = try hiddenRows(table, after: after)
        defer {
            visible?.statement.reset()
            hidden.statement.reset()
        }
        var nextVisible = try visible?.next()
        var nextHidden = try hidden.next()
        while let row = nextVisible ?? nextHidden {
            if let other = nextHidden, other.position.row < row.position.row {
                if try !body(other) { return false }
                nextHidden = try hidden.next()
            } else {
                if try !body(row) { return false }
                if nextVisible == nil { nextHidden = try hidden.next() } else { nextVisible = try visible?.next() }
            }
        }
        return true
    }

    /// Rows of one statement, one at a time.
    private struct Rows {
        let statement: PreparedStatement
        let read: (PreparedStatement) throws -> ReadRow

        func next() throws -> ReadRow? {
            try statement.step() ? try read(statement) : nil
        }
    }

    private func visibleRows(_ table: CatalogTable, _ tracked: CatalogTable.Tracked, after: RowID?) throws -> Rows {
        let key = "n.\(quoted(tracked.key))"
        let clocks = ["row", "replica", "sequence", "timestamp", "columns", "exceptions", "context"].map { "c.\($0)" }
        let names = tracked.names.map { "n.\($0)" }
        let statement = try ledger.connection.statement(
            """
            SELECT \(([key] + clocks + names).joined(separator: ", ")) FROM \(tracked.mainName) n
            CROSS JOIN \(ClockTable.name(table.number)) c ON c.row = n.rowid
            \(after == nil ? "" : "WHERE \(key) > ?") ORDER BY \(key)
            """)
        if let after { statement.bind(1, after, as: tracked.form) }
        return Rows(statement: statement) { statement in
            var stored = try ledger.storedRow(statement, at: 2, table: table.number)
            if tracked.hasSubstitutes { stored.substituted = try ledger.substituted(table.number, row: statement.integer(1)) }
            let values = tracked.columns.indices.map { statement.value(Int32($0 + 8)) }
            var state = try stored.state(tracked, values: values) { try SetText.elements(of: $0, ledger.connection) }
            state.context = try ledger.contextVector(stored.context)
            return ReadRow(
                table: table.number, position: SlicePosition(table: table.name, row: try statement.rowID(0, as: tracked.form)),
                reference: statement.integer(1), state: state)
        }
    }

    private func hiddenRows(_ table: CatalogTable, after: RowID?) throws -> Rows {
        let statement = try HiddenRows(ledger.connection).selecting(of: table.number, after: after)
        return Rows(statement: statement) { statement in
            let hidden = try ledger.hiddenRow(statement, at: 1, table: table.number)
            var state = hidden.state
            state.context = try ledger.contextVector(hidden.context)
            return ReadRow(
                table: table.number, position: SlicePosition(table: table.name, row: try statement.rowID(0)),
                reference: -hidden.number, state: state)
        }
    }
}
