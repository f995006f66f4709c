import KithSQLite
import KithSync

/// A place in a row of which several versions are kept until somebody chooses, or writes there.
///
/// It is the same on every store with the same vector, but for ``Version/author``, which each tells by what it has heard.
public struct Conflict: Hashable, Sendable {
    /// What kind of place it is. More kinds may come: handle those you know, and pass over the others.
    public enum Kind: Hashable, Sendable {
        /// A whole value of a column: of a register, or of a counter or text that several devices held otherwise when its table was first
        /// tracked. The first version is shown, the others are kept beside it;
        /// `SyncedDatabase.resolve(_:table:id:column:keeping:)` chooses.
        case value
        /// Lines of a text column that several changed at one place before they had seen each other. They show what the merge made of it.
        /// Any edit of the lines ends it; ``SyncedDatabase/resolveTextConflict(_:_:keeping:)`` chooses.
        case text(Lines)
    }

    /// Lines of a text. Positions count Unicode scalars of the current text.
    public struct Lines: Hashable, Sendable {
        /// The lines, without the line break at the end.
        public let range: Range<Int>
        /// From the first to the last scalar that is left of what was inserted at the place.
        public let place: Range<Int>
        /// What they say now.
        public let shown: String
        /// What they said before, as far as all who changed them knew.
        public let before: String

        package init(range: Range<Int>, place: Range<Int>, shown: String, before: String) {
            self.range = range
            self.place = place
            self.shown = shown
            self.before = before
        }
    }

    /// One of the versions.
    public struct Version: Hashable, Sendable {
        /// The value, or the lines of the text as this version had them.
        public let value: ColumnValue
        /// By which commit and when it was written; if several wrote the same, the write that is shown before the others. Of lines that several
        /// commits have changed, the last one.
        public let stamp: Stamp
        /// Who wrote it, as far as this store knows.
        public let author: Author

        package init(value: ColumnValue, stamp: Stamp, author: Author) {
            self.value = value
            self.stamp = stamp
            self.author = author
        }
    }

    /// What kind of place it is.
    public let kind: Kind
    /// The app's table.
    public let table: String
    /// The row's id.
    public let row: RowID
    /// The column of the table.
    public let column: String
    /// At least two. Of values that which is shown comes first, then the later ones; each occurs once. Of lines none is shown, and two may
    /// say the same.
    public let versions: [Version]

    package init(kind: Kind, table: String, row: RowID, column: String, versions: [Version]) {
        self.kind = kind
        self.table = table
        self.row = row
        self.column = column
        self.versions = versions
    }
}

/// Who wrote something, as far as a store knows.
public enum Author: Hashable, Sendable {
    /// This store.
    case own
    /// A member of the group, by the bytes of its device id.
    case device([UInt8])
    /// A store that no member has said it is.
    case unknown
}
