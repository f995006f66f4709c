import GRDB
import KithLedger
import KithSQLite
import KithSync

/// The state of the file in which a live list was read. By two of them the list learns which rows any process has changed in between.
struct LiveMoment: Sendable {
    let changed: ChangedRows.Moment
    /// SQLite's count of changes to the file's schema.
    private let schema: Int64
    /// Whether the table has columns of which no commit tells.
    private let hasLocalColumns: Bool

    /// - Parameter declared: the columns that the store keeps of the table, the key among them, in lower case.
    init(_ db: Database, _ table: String, declared: () -> Set<String>, after earlier: LiveMoment?) throws {
        let connection = try DatabaseConnection(borrowing: db)
        changed = try ChangedRows(connection).now()
        let version = try connection.statement("PRAGMA schema_version")
        defer { version.reset() }
        schema = try version.step() ? version.integer(0) : 0
        if let earlier, earlier.schema == schema {
            hasLocalColumns = earlier.hasLocalColumns
        } else {
            let declared = declared()
            hasLocalColumns = try db.columns(in: table).contains { !declared.contains($0.name.asciiLowercased) }
        }
    }

    /// The rows that may show something else than at an earlier moment; `nil` if all are to be read.
    ///
    /// - Parameters:
    ///   - news: what this process has told the list since then.
    ///   - mayHaveLocalChanges: whether another process has committed since then: it may have written columns that only this device has.
    ///   - limit: more rows are not worth it.
    func rows(
        _ db: Database, of table: Int, since earlier: LiveMoment, _ news: LiveNews, mayHaveLocalChanges: Bool, max limit: Int
    ) throws -> Set<RowID>? {
        guard schema == earlier.schema, changed.continues(earlier.changed), !news.touched.isOverfull, news.touched.rows.count <= limit,
            news.touched.silent.lead(from: earlier.changed.silent, to: changed.silent)
        else { return nil }
        if hasLocalColumns, mayHaveLocalChanges || isOfOtherProcess(since: earlier, news) { return nil }
        var rows = Set(news.touched.rows.map(\.id))
        let connection = try DatabaseConnection(borrowing: db)
        guard let others = try ChangedRows(connection).ids(of: table, since: earlier.changed, to: changed, max: limit) else { return nil }
        rows.formUnion(others)
        return rows.count > limit ? nil : rows
    }

    /// Whether an app has written in another process since.
    func isOfOtherProcess(since earlier: LiveMoment, _ news: LiveNews) -> Bool {
        guard let own = changed.own else { return true }
        return changed.vector[own] > earlier.changed.vector[own] &+ UInt64(news.ownCommits)
    }
}
