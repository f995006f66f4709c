import GRDB
import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithTexts

/// How many bytes of a store's file belong to what.
public struct StoreSize: Hashable, Sendable {
    /// What Kith keeps beside the app's tables.
    public enum Metadata: String, Hashable, Sendable, CaseIterable {
        /// Which commit wrote which cell of the rows that are shown.
        case clocks
        /// From commits to the rows they live in.
        case commits
        /// Rows that are not shown: deleted, of unknown tables, refused by a constraint.
        case hidden
        /// What each row adds to the digest.
        case digest
        /// Histories of texts.
        case texts
        /// Everything else: names, replicas, the vector.
        case other
    }

    /// One of the app's tables, its indexes included.
    public struct Table: Hashable, Sendable {
        /// The table's name.
        public let name: String
        /// Bytes in the file.
        public let bytes: Int
        /// Whether the table synchronises.
        public let isTracked: Bool
    }

    /// Of the file, with what waits in the write-ahead log to be written into it.
    public var fileBytes = 0
    /// Pages that are free for new rows.
    public var freeBytes = 0
    /// The app's tables, largest first; empty if ``isDetailed`` is `false`.
    public var tables: [Table] = []
    /// Bytes by kind; empty if ``isDetailed`` is `false`.
    public var metadata: [Metadata: Int] = [:]
    /// Rows in the trash, and the bytes of their contents, which are a part of ``Metadata/hidden``.
    public var trashRows = 0
    /// Bytes of the contents of rows in the trash.
    public var trashBytes = 0
    /// By device, the one that fills most first.
    public var shares: [StoreShare] = []
    /// Whether this SQLite can tell which pages belong to which table (its `dbstat` table).
    public var isDetailed = false

    /// Bytes of the app's tables.
    public var dataBytes: Int { tables.reduce(0) { $0 + $1.bytes } }
    /// Bytes of all that Kith keeps.
    public var metadataBytes: Int { metadata.values.reduce(0, +) }
}

extension SyncedDatabase {
    /// Measures the file in whole pages, in time proportional to it.
    public func size() throws(StoreError) -> StoreSize {
        try read { ledger in try StoreMeasure(ledger: ledger, attachments: attachments).run() }
    }

    /// The same as a part of what is open on `db`.
    public func size(_ db: Database) throws(StoreError) -> StoreSize {
        try read(in: db) { ledger in try StoreMeasure(ledger: ledger, attachments: attachments).run() }
    }
}

/// Attributes the pages of the file.
private struct StoreMeasure {
    let ledger: RowLedger
    let attachments: AttachmentFolder?

    func run() throws -> StoreSize {
        var size = StoreSize()
        let pageBytes = try number("PRAGMA page_size")
        size.fileBytes = try number("PRAGMA page_count") * pageBytes
        size.freeBytes = try number("PRAGMA freelist_count") * pageBytes
        size.shares = try ShareMeasure(ledger: ledger, attachments: attachments).run()
        (size.trashRows, size.trashBytes) = try HiddenRows(ledger.connection).trashSize()
        size.isDetailed = try number("SELECT count(*) FROM pragma_module_list WHERE name = 'dbstat'") > 0
        if size.isDetailed { try attribute(to: &size) }
        return size
    }

    /// Gives each b-tree's pages to the table that it belongs to.
    private func attribute(to size: inout StoreSize) throws {
        let select = try ledger.connection.statement(
            """
            SELECT coalesce(m.tbl_name, s.name), sum(s.pgsize) FROM dbstat s LEFT JOIN sqlite_schema m ON m.name = s.name
            WHERE s.aggregate = TRUE GROUP BY 1 ORDER BY 2 DESC, 1
            """)
        while try select.step() {
            let name = String(decoding: select.blob(0), as: UTF8.self)
            let bytes = select.int(1)
            if name.hasPrefix("kith_") {
                size.metadata[StoreSize.Metadata(table: name), default: 0] += bytes
            } else {
                size.tables.append(StoreSize.Table(name: name, bytes: bytes, isTracked: ledger.tracked(name) != nil))
            }
        }
    }

    private func number(_ sql: String) throws -> Int {
        let select = try ledger.connection.statement(sql)
        defer { select.reset() }
        return try select.step() ? select.int(0) : 0
    }
}

extension StoreSize.Metadata {
    fileprivate init(table: String) {
        switch table {
        case DotIndex.table: self = .commits
        case HiddenRows.table: self = .hidden
        case ClockRuns.table: self = .clocks
        case DigestRows.table: self = .digest
        case let name where name.hasPrefix(TextArchive.table): self = .texts
        case let name where name.hasPrefix(ClockTable.prefix): self = .clocks
        default: self = .other
        }
    }
}
