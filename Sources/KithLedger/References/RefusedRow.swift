import KithSync

/// A row of which a merge brought what a rule of the app's table does not allow: a `CHECK`, or a trigger that raises an error.
///
/// Its state is kept, sent on, and tried again when the row changes, or when the rules do and the store is opened.
public struct RefusedRow: Hashable, Sendable {
    /// The app's table.
    public let table: String
    public let id: RowID
    /// Whether the rule refuses a deletion, so that the row is still shown; else it is not shown.
    public let isDeletion: Bool
    /// What SQLite, the trigger or Kith said.
    public let reason: String
    /// Since when, in milliseconds since 1970 by this store's own clock.
    public let sinceMilliseconds: Int64
}
