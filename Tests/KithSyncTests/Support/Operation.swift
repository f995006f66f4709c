import KithSync
import TestSupport

/// The columns of the one table that the tests' stores have.
enum ModelColumn {
    static let x = 0
    static let y = 1
    static let tags = 2
    static let count = 3

    static let table = TableSchema(
        name: Array("things".utf8),
        columns: [ColumnKey("x", .register), ColumnKey("y", .register), ColumnKey("tags", .set), ColumnKey("count", .counter)])
}

/// One change of one row within a transaction.
struct Operation: Hashable {
    enum Change: Hashable {
        /// Makes the row, or makes it anew if it was deleted; does nothing to a visible row.
        case insert(x: Int64, tags: [String], count: Int64)
        case delete
        case set(column: Int, Int64)
        case resolve(column: Int, Int64)
        /// Adds the element, or removes it.
        case toggle(String)
        case increment(Int64)
    }

    var row: RowID
    var change: Change

    /// A transaction on some of the rows `0 ..< rowCount`, each at most once.
    static func random(
        rowCount: UInt64, isVisible: (RowID) -> Bool, using random: inout SplitMix64
    ) -> [Operation] {
        let rows = (0..<rowCount).shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
        return rows.map { number in
            let row = RowID(high: 0, low: number)
            let number = Int64.random(in: 0...1_000_000, using: &random)
            guard isVisible(row) else {
                return Operation(
                    row: row, change: .insert(x: number, tags: [["a", "b", "c"].randomElement(using: &random) ?? ""], count: 1))
            }
            let column = Bool.random(using: &random) ? ModelColumn.x : ModelColumn.y
            let change: Change =
                switch Int.random(in: 0..<100, using: &random) {
                case 0..<12: .delete
                case 12..<50: .set(column: column, number)
                case 50..<60: .resolve(column: column, number)
                case 60..<80: .toggle(["a", "b", "c", "d"].randomElement(using: &random) ?? "")
                default: .increment(number % 9)
                }
            return Operation(row: row, change: change)
        }
    }
}
