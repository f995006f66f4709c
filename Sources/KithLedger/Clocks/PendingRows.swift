import KithCausality
import KithSQLite
import KithSync

/// Rows that the open transaction has inserted and whose clocks are stored when it commits, all together: one by one, each would
/// cost as much as the row itself.
///
/// Follows savepoints, whose numbers grow inwards, because what they take back must not be stored.
package final class PendingRows {
    package struct Row {
        package let row: Int64
        package let id: RowID
        package let table: Int32
        package let columns: Int32

        package init(row: Int64, id: RowID, table: Int32, columns: Int32) {
            self.row = row
            self.id = id
            self.table = table
            self.columns = columns
        }
    }

    private struct Savepoint {
        let number: Int32
        /// How many of the rows were there when it began.
        let count: Int
        /// These rows, if they were stored since: rolling back takes them out of the file.
        var stored: [Row]?
    }

    private let connection: DatabaseConnection
    private let clock: CommitClock
    // Not looked at for overlaps, as in `Capture`.
    @exclusivity(unchecked) private var rows: [Row] = []
    @exclusivity(unchecked) private var savepoints: [Savepoint] = []

    package init(_ connection: DatabaseConnection, _ clock: CommitClock) {
        self.connection = connection
        self.clock = clock
    }

    /// A row of the commit that the transaction has been given.
    package func append(_ row: Row) throws {
        // Within the statement that inserts, where SQLite keeps `changes()` apart.
        if rows.count >= ClockRuns.rowsMax { try store() }
        rows.append(row)
    }

    /// Brings the rows into the file. Returns whether there were any.
    @discardableResult
    package func store() throws -> Bool {
        try clock.checkRowsAreStored()
        if rows.isEmpty { return false }
        for index in savepoints.indices where savepoints[index].stored == nil {
            savepoints[index].stored = Array(rows.prefix(savepoints[index].count))
        }
        try clock.storingRows { commit in
            try connection.keepingLastInsertedRowID {
                try ClockRuns(connection).store(rows, commit.stamp, replica: commit.replicaNumber)
            }
        }
        rows.removeAll(keepingCapacity: true)
        return true
    }

    /// Forgets the rows of a transaction that has ended.
    package func clear() {
        rows.removeAll(keepingCapacity: true)
        savepoints.removeAll(keepingCapacity: true)
    }

    // MARK: Savepoints

    package func savepointWillBegin(_ number: Int32) {
        savepointDidEnd(number)
        savepoints.append(Savepoint(number: number, count: rows.count, stored: nil))
    }

    package func savepointDidEnd(_ number: Int32) {
        while !savepoints.isEmpty, savepoints[savepoints.count - 1].number >= number { savepoints.removeLast() }
    }

    /// The savepoint stays.
    package func didRollBack(to number: Int32) {
        while let last = savepoints.last, last.number > number { savepoints.removeLast() }
        guard let last = savepoints.last, last.number == number else {
            // It began before the first row was inserted.
            rows.removeAll(keepingCapacity: true)
            return
        }
        if let stored = last.stored { rows = stored } else { rows.removeLast(rows.count - last.count) }
        savepoints[savepoints.count - 1].stored = nil
    }
}
