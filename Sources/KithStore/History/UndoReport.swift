import Foundation
import KithLedger
import KithSync

/// What an undo, a redo or ``SyncedDatabase/revert(device:sinceMilliseconds:)`` has done.
public struct UndoReport: Hashable, Sendable {
    /// What was left as it is.
    public struct Left: Hashable, Sendable {
        /// Why.
        public enum Reason: Hashable, Sendable {
            /// It was changed since, and taking that back would take this along.
            case changedSince
            /// The row is not shown any more.
            case deletedSince
            /// Other rows refer to it that were written since.
            case isReferredTo
            /// A rule of the app's table is against it.
            case refused(String)
        }

        /// The app's table.
        public let table: String
        /// The row's id.
        public let row: RowID
        /// The column; `nil` for the whole row.
        public let column: String?
        /// Why it was left.
        public let reason: Reason
        /// Who has changed it since, as far as is known.
        public let by: Author?

        public init(table: String, row: RowID, column: String?, reason: Reason, by author: Author?) {
            self.table = table
            self.row = row
            self.column = column
            self.reason = reason
            by = author
        }
    }

    /// What people call the group that was taken back or done again; `nil` for a reversion.
    public let title: String?
    /// The rows that were changed.
    public internal(set) var rowsChanged = 0
    /// What was left as it is, because others have changed it since, or it cannot be.
    public internal(set) var left: [Left] = []

    /// Whether nothing was left.
    public var isWhole: Bool { left.isEmpty }
}
