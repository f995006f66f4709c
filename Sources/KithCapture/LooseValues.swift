import KithLedger
import KithTexts

/// Rows that the open transaction has written with a set that is not in the one form that all machines show (distinct elements as compact
/// JSON, sorted by their bytes), or with a counter that is NULL, which is 0. When it commits they get it.
///
/// Follows savepoints, whose numbers grow inwards, because a row that was taken back is none of these.
struct LooseValues {
    struct Row {
        let table: Int
        let row: Int64
        /// The sets and counters that were written, a bit for each tracked column.
        let columns: UInt64
    }

    private(set) var rows: [Row] = []
    /// The number of each savepoint, and how many of the rows were there when it began.
    private var savepoints: [(number: Int32, count: Int)] = []
    /// The numbers of their tables.
    var tables: [Int] {
        var tables: [Int] = []
        for row in rows where tables.last != row.table && !tables.contains(row.table) { tables.append(row.table) }
        return tables
    }

    mutating func note(_ table: Int, _ row: Int64, columns: UInt64) {
        if columns != 0 { rows.append(Row(table: table, row: row, columns: columns)) }
    }

    /// A row was moved to another rowid.
    mutating func didMove(_ table: Int, from old: Int64, to new: Int64) {
        for moved in rows where moved.table == table && moved.row == old { note(table, new, columns: moved.columns) }
    }

    /// Forgets the rows of a transaction that has ended, or that are in their form now.
    mutating func clear() {
        self = LooseValues()
    }

    mutating func savepointWillBegin(_ number: Int32) {
        savepointDidEnd(number)
        savepoints.append((number, rows.count))
    }

    mutating func savepointDidEnd(_ number: Int32) {
        while let last = savepoints.last, last.number >= number { savepoints.removeLast() }
    }

    /// The savepoint stays.
    mutating func didRollBack(to number: Int32) {
        while let last = savepoints.last, last.number > number { savepoints.removeLast() }
        rows.removeLast(rows.count - (savepoints.last?.count ?? 0))
    }
}
