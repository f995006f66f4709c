import KithLedger

/// That another device has deleted a large part of a table within a day. It stands until somebody says that it was meant; until then
/// nothing of it leaves the trash.
public struct MassDeletion: Hashable, Sendable {
    /// The app's table.
    public let table: String
    /// Who deleted the rows, as far as this store knows.
    public let author: Author
    /// How many rows went that were shown here.
    public let rows: Int
    /// How many the table had.
    public let total: Int
    /// When the first of them went, in milliseconds since 1970 by this store's clock, to the hour.
    public let sinceMilliseconds: Int64

    package init(table: String, author: Author, rows: Int, total: Int, sinceMilliseconds: Int64) {
        self.table = table
        self.author = author
        self.rows = rows
        self.total = total
        self.sinceMilliseconds = sinceMilliseconds
    }
}
