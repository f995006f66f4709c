import KithCausality
import KithSync

/// A row that was deleted and can still be restored.
public struct TrashedRow: Hashable, Sendable {
    /// The app's table.
    public let table: String
    public let id: RowID
    /// When this store learned of the deletion, in milliseconds since 1970 by its own clock.
    public let deletedMilliseconds: Int64
    /// The commits that deleted it, sorted. What one transaction deleted has one of them in common.
    public let deletions: [Dot]
    /// The replicas that deleted it, each once.
    public var deletedBy: [ReplicaID] { Set(deletions.map(\.replica)).sorted() }
    /// The device on whose word the row went, if none of its deletions is known here: it said that it had been deleted long ago. Empty
    /// for a device that is not known.
    public var removedBy: [UInt8]?
    /// What the row showed, by column; a column that nobody wrote is missing.
    public let values: [String: ColumnValue]
}
