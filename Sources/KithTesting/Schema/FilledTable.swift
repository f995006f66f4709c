/// A table that triggers of the app fill when users, or merges, write the tables that synchronise: a search index, counts.
public struct FilledTable: Hashable, Sendable {
    /// The table's name.
    public let name: String
    /// A query whose rows are those of the table: what its triggers would have written for what is shown.
    public let rule: String

    /// - Parameter rule: it must hold in plain SQLite, too: `REPLACE`, for one, fires no triggers that wait for a deletion.
    public init(_ name: String, holds rule: String) {
        self.name = name
        self.rule = rule
    }
}
