import Foundation
import KithCausality
import KithLedger
import KithSync

/// A place in the change history of one database file.
///
/// It may be written down, as text, and used after a restart. Another file has other tokens, also a copy of this one from its
/// first change on.
public struct HistoryToken: Codable, Hashable, Sendable {
    /// The replica that the file was, and the number of the transaction.
    let replica: String
    let number: Int64

    init(replica: String, number: Int64) {
        self.replica = replica
        self.number = number
    }
}

/// What one transaction has changed in tables with a journal.
public struct HistoryTransaction: Hashable, Sendable, Identifiable {
    /// Where a transaction comes from.
    public enum Origin: Hashable, Sendable {
        /// A process on this machine wrote it, by its name.
        case process(String)
        /// A merge; each change says whose commits it brought. Also what Kith does by itself after one.
        case merge
    }

    /// Names the transaction, and the place after it.
    public let token: HistoryToken
    /// When it was made or merged here, by this machine's clock.
    public let date: Date
    /// Where it comes from.
    public let origin: Origin
    /// What the app said of it: ``SyncedDatabase/setAuthor(_:_:)``.
    public let author: String?
    /// In no particular order, one for each row.
    public let changes: [HistoryChange]

    /// The token.
    public var id: HistoryToken { token }
}

/// What a transaction has made of one row.
public struct HistoryChange: Hashable, Sendable {
    /// What became of the row.
    public enum Kind: String, Codable, Hashable, Sendable {
        /// It is shown from here on: written, restored, or brought with a row that it refers to.
        case insert
        /// Some of its columns are different.
        case update
        /// It is shown no more.
        case delete
    }

    /// What became of a column.
    public enum Column: Hashable, Sendable {
        /// It showed one value, and then another.
        case value(old: ColumnValue, new: ColumnValue)
        /// A part of a text was replaced. `offset` counts bytes of UTF-8 from the beginning of either text.
        case text(offset: Int, removed: String, inserted: String)
    }

    /// The app's table.
    public let table: String
    /// The row's id.
    public let row: RowID
    /// What became of it.
    public let kind: Kind
    /// By name. All that a deleted row held, but for NULL; of an updated row what is different; empty for an insertion, of which later
    /// changes and the table itself say what it wrote.
    public let columns: [String: Column]
    /// Whose commits brought it, as far as is known; `nil` if a merge brought several devices' at once, or nobody's.
    public let device: Author?
}
