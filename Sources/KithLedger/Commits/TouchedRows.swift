import KithSync
import Synchronization

/// Which rows of the app's tables the open transaction has changed, as far as a live list asks for that.
///
/// It may name rows that `ROLLBACK TO` has set back, never too few. Used on the writing connection's thread, but for ``isWanted``.
package final class TouchedRows: Sendable {
    /// Beyond that many rows, only that there were many is kept.
    package static let rowsMax = 4_096

    /// The rows of one or several transactions.
    package struct Batch: Sendable {
        package private(set) var rows: Set<RowKey> = []
        /// Whether there were more than ``TouchedRows/rowsMax``.
        package private(set) var isOverfull = false
        package fileprivate(set) var silent = SilentMarks()

        package init() {}

        package var isEmpty: Bool { rows.isEmpty && !isOverfull && silent.isEmpty }

        package mutating func note(_ row: RowKey) {
            if isOverfull { return }
            rows.insert(row)
            if rows.count > TouchedRows.rowsMax { overfill() }
        }

        /// Takes `others` in, as far as they are of `table`.
        package mutating func add(_ others: Batch, of table: Int) {
            silent.add(others.silent)
            if others.isOverfull { return overfill() }
            for row in others.rows where row.table == table { note(row) }
        }

        package mutating func overfill() {
            rows = []
            isOverfull = true
        }
    }

    private let batch = Mutex(Batch())
    private let listeners = Atomic(0)

    package init() {}

    /// Whether any live list is there.
    package var isWanted: Bool { listeners.load(ordering: .relaxed) > 0 }

    package func want() { listeners.add(1, ordering: .relaxed) }

    package func release() { listeners.subtract(1, ordering: .relaxed) }

    func note(_ row: RowKey) {
        batch.withLock { $0.note(row) }
    }

    func noteSilent(from old: ColumnValue?, to new: ColumnValue?) {
        batch.withLock { $0.silent.note(from: old, to: new) }
    }

    /// The rows of the transaction that has just ended, which are forgotten here.
    package func take() -> Batch {
        batch.withLock { batch in
            defer { batch = Batch() }
            return batch
        }
    }
}

extension RowLedger {
    /// The app's table shows something else of the row now, or no longer shows it.
    package func touch(_ table: Int, _ id: RowID) {
        if let touched, touched.isWanted { touched.note(RowKey(table: table, id: id)) }
    }
}
