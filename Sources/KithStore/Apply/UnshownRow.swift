import Foundation
import KithSync

/// A row that this store knows and the app's table does not show as it is; deleted rows are in the trash instead.
public struct UnshownRow: Hashable, Sendable {
    /// Why.
    public enum Reason: Hashable, Sendable {
        /// No table of this app has this name; a newer version of the app has written it. It is shown once a migration makes the table.
        case unknownTable
        /// A rule of the table refuses it, and says this.
        case refused(String)
        /// A rule of the table refuses its deletion, and says this: the row is still shown.
        case deletionRefused(String)
        /// It is not shown as long as the rows are not that these columns refer to.
        case waiting(columns: [String])
        /// It is shown, and these columns show something else in place of rows that are not shown.
        case substituted(columns: [String])
    }

    /// The table, by the name that it has on other devices.
    public let table: String
    /// The row.
    public let id: RowID
    /// Why it is not shown as it is.
    public let reason: Reason
    /// Since when, by this store's own clock; `nil` where that is not kept.
    public let since: Date?
}
