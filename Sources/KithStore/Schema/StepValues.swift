import KithCapture
import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// What stands in columns that the app's table has only now, and of which peers have sent something else: a step has made it of what this
/// store has, which those who ran the step before may not have known. It is found, and kept beside what they sent.
struct StepValues {
    private let ledger: RowLedger
    private let clock: CommitClock
    /// By place among the tracked columns, with what each shows that nobody has written.
    private let columns: [(place: Int, number: Int, kind: ColumnKind, standard: ColumnValue)]

    /// - Parameter appeared: the columns.
    init(_ appeared: [Int], of tracked: CatalogTable.Tracked, _ ledger: RowLedger, _ clock: CommitClock) throws {
        (self.ledger, self.clock) = (ledger, clock)
        let defaults = ColumnDefaults(ledger.connection)
        columns = try tracked.columns.indices.filter { appeared.contains(tracked.columns[$0]) }.map { place in
            let select = try ledger.connection.passingStatement("SELECT \(try defaults.expression(place, of: tracked))")
            defer { select.reset() }
            let standard = try select.step() ? select.value(0) : .null
            return (place, tracked.columns[place], tracked.kinds[place], standard)
        }
    }

    /// Cells of it.
    ///
    /// - Parameters:
    ///   - state: what is about to be shown of a row.
    ///   - stored: what was stored of it.
    ///   - values: what the app's table shows of it.
    func cells(beside state: RowState, _ stored: StoredRow, _ values: [ColumnValue]) throws -> RowState {
        var found = RowState()
        for column in columns where stored.exceptions[column.number]?.dots.isEmpty == false {
            let value = values[column.place]
            if value == column.standard || state[column.number]?.shownValue == value { continue }
            let stamp = try clock.stamp(ledger.catalog).stamp.adopted
            found[column.number] =
                column.kind == .text
                ? .text(TextState(value.utf8, stamp: stamp)) : try Cell(found: value, column.kind, stamp, ledger.connection)
        }
        return found
    }
}
