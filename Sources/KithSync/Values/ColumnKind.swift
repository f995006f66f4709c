/// How concurrent writes of a column merge. Part of the column's identity on the wire.
public enum ColumnKind: UInt8, Hashable, Sendable, CaseIterable {
    /// Any SQLite value. All causally maximal writes are kept, one is shown, the rest are alternatives.
    case register = 0
    /// A JSON array of distinct elements. Add wins over a concurrent removal.
    case set = 1
    /// An INTEGER. Increments add up.
    case counter = 2
    /// TEXT that merges character by character.
    case text = 3
}
