import KithCausality
import KithLedger

/// How a live list has become what it is now.
public struct LiveChange<Record: Identifiable & Sendable>: Sendable where Record.ID: Sendable {
    /// The list now.
    public let rows: LiveRows<Record>
    /// What is different from the change before; the first one begins with an empty list.
    public let difference: LiveDifference<Record.ID>
    /// Where the commits come from that were seen for the first time; empty for the first change.
    public let origins: Set<LiveOrigin>
    /// What the list stands for.
    public let version: StoreVersion
}

/// Where a change of a database comes from.
public enum LiveOrigin: Hashable, Sendable {
    /// This process has written it, through the store's database.
    case here
    /// Another process on this machine has written it.
    case otherProcess
    /// Another device has written it, or a store that this one was restored from; who it is, as far as is known.
    case device(Author)
}

/// What a store knows at one moment: which commits its tables show.
public struct StoreVersion: Hashable, Sendable {
    package let vector: VersionVector

    package init(_ vector: VersionVector) { self.vector = vector }

    /// Whether every commit that `other` shows is shown here, too.
    public func includes(_ other: StoreVersion) -> Bool { vector.covers(other.vector) }
}

/// The way from one list of rows to another, by ids.
///
/// As tables of user interfaces take it: ``removals`` and the beginnings of ``moves`` are positions in the list before, ``insertions``
/// and the ends of moves are positions in the list after, and ``updates`` are applied last.
public struct LiveDifference<ID: Hashable & Sendable>: Hashable, Sendable {
    /// A row that is gone, or new.
    public struct Place: Hashable, Sendable {
        /// The row.
        public let id: ID
        /// Where it stood, or stands.
        public let offset: Int
    }

    /// A row that stands elsewhere.
    public struct Move: Hashable, Sendable {
        /// The row.
        public let id: ID
        /// Where it stood in the list before.
        public let from: Int
        /// Where it stands in the list after.
        public let to: Int
    }

    /// A row in which something has changed, whether it was moved or not.
    public struct Update: Hashable, Sendable {
        /// The row.
        public let id: ID
        /// Where it stands in the list after.
        public let offset: Int
        /// The columns that have changed, by name; empty if only columns have that the record does not encode.
        public let columns: Set<String>

        public init(id: ID, offset: Int, columns: Set<String>) {
            self.id = id
            self.offset = offset
            self.columns = columns
        }
    }

    /// Rows that the list no longer has, by their position in the list before, in ascending order.
    public var removals: [Place] = []
    /// Rows that are new in the list, by their position in the list after, in ascending order.
    public var insertions: [Place] = []
    /// As few as possible, by their position in the list after, in ascending order.
    public var moves: [Move] = []
    /// By their position in the list after, in ascending order.
    public var updates: [Update] = []

    /// Whether both lists are equal.
    public var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty }
}
