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
    private let columns: [(place: Int, number: Int, kind: ColumnKind)]
    /// Whether a row shows something else in each of them than its default.
    private let isWritten: PreparedStatement?

    /// - Parameter appeared: the columns.
    init(_ appeared: [Int], of tracked: CatalogTable.Tracked, _ ledger: RowLedger, _ clock: CommitClock) throws {
        (self.ledger, self.clock) = (ledger, clock)
        let defaults = ColumnDefaults(ledger.connection)
        let places = tracked.columns.indices.filter { appeared.contains(tracked.columns[$0]) }
        columns = places.map { ($0, tracked.columns[$0], tracked.kinds[$0]) }
        let written = try places.map { try defaults.isWritten($0, of: tracked) }.joined(separator: ", ")
        isWritten =
            places.isEmpty ? nil : try ledger.connection.passingStatement("SELECT \(written) FROM \(tracked.mainName) n WHERE n.rowid = ?")
    }

    /// Cells of it.
    ///
    /// - Parameters:
    ///   - state: what is about to be shown of a row.
    ///   - stored: what was stored of it.
    ///   - visible: what the app's table shows of it.
    func cells(beside state: RowState, _ stored: StoredRow, _ visible: (row: Int64, values: [ColumnValue])) throws -> RowState {
        var found = RowState()
        guard let isWritten else { return found }
        isWritten.bind(1, visible.row)
        defer { isWritten.reset() }
        guard try isWritten.step() else { return found }
        for (index, column) in columns.enumerated() where stored.exceptions[column.number]?.dots.isEmpty == false {
            let value = visible.values[column.place]
            if isWritten.int(Int32(index)) == 0 || state[column.number]?.shownValue == value { continue }
            let stamp = try clock.stamp(ledger.catalog).stamp.adopted
            found[column.number] =
                column.kind == .text
                ? .text(TextState(value.utf8, stamp: stamp)) : try Cell(found: value, column.kind, stamp, ledger.connection)
        }
        return found
    }
}
