import KithSync

/// A place in a row of which several versions are kept until somebody chooses, or writes there.
///
/// It is the same on every store with the same vector, but for ``Version/author``, which each tells by what it has heard.
public struct Conflict: Hashable, Sendable {
    /// What kind of place it is. More kinds may come: handle those you know, and pass over the others.
    public enum Kind: Hashable, Sendable {
        /// A whole value of a register column. The first version is shown, the others are kept beside it;
        /// ``KithStore/resolve(_:table:id:column:keeping:)`` chooses.
        case value
    }

    /// One of the versions.
    public struct Version: Hashable, Sendable {
        public let value: Value
        /// By which commit and when it was written; if several wrote the same, the write that is shown before the others.
        public let stamp: Stamp
        public let author: Author
    }

    public let kind: Kind
    public let table: String
    public let row: RowID
    public let column: String
    /// At least two. That which is shown comes first, then the later ones; each value occurs once.
    public let versions: [Version]
}

/// Who wrote something, as far as a store knows.
public enum Author: Hashable, Sendable {
    /// This store.
    case own
    /// A member of the group, by its device id (``Member/device``).
    case device([UInt8])
    /// A store that no member has said it is.
    case unknown
}
