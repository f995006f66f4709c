import KithSync

/// What one column is to hold after a reversion.
struct Assignment {
    let column: String?
    /// The same in SQL.
    let name: String
    /// None if it holds that already; two for a text: what it said before the change and after it.
    var values: [ColumnValue]

    var sql: String { values.count == 2 ? "\(name) = kith_text(?, ?, \(name))" : "\(name) = ?" }
}
