import KithCausality
import KithSQLite
import KithSync

extension RowLedger {
    private var references: ReferenceRecords { ReferenceRecords(connection: connection) }

    /// What was written to columns of a visible row in whose place the app's table shows something else.
    package func substituted(_ table: Int, row: Int64) throws -> [(column: Int, parent: ColumnValue)] {
        let select = try connection.statement(ClockTable.idSQL(table))
        select.bind(1, row)
        guard try select.step() else { return [] }
        let id = try select.rowID(0)
        select.reset()
        return try references.waiting(RowKey(table: table, id: id))
    }

    /// The user has written the columns whose bits are set in `changed`: what was written before is superseded.
    package func forgetSubstitutes(_ table: Int, _ tracked: CatalogTable.Tracked, _ id: RowID, _ changed: UInt64) throws {
        for reference in tracked.references where changed >> UInt64(reference.position) & 1 == 1 {
            try references.stopWaiting(RowKey(table: table, id: id), column: reference.column)
        }
    }

    /// A row was inserted over one of the same id. Of a REPLACE, a column that still shows what stood in for what was written
    /// has not been written again: `values` gets what was written.
    package func keepSubstitutes(
        _ table: Int, _ tracked: CatalogTable.Tracked, _ id: RowID, isReplace: Bool, _ values: inout [ColumnValue]
    ) throws {
        guard tracked.isRelated else { return }
        let row = RowKey(table: table, id: id)
        guard isReplace else { return try references.stopWaiting(row) }
        let written = try references.waiting(row)
        for reference in tracked.references {
            guard let parent = written.first(where: { $0.column == reference.column })?.parent else { continue }
            let shown = values[reference.position]
            if shown == .null || shown == reference.substituteValue {
                values[reference.position] = parent
            } else {
                try references.stopWaiting(row, column: reference.column)
            }
        }
    }
}
