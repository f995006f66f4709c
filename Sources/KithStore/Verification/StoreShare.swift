import KithLedger
import KithMerge
import KithSQLite
import KithTexts

/// What one device has written of what a store's file holds.
public struct StoreShare: Hashable, Sendable {
    /// The device.
    public let author: Author
    /// Rows that are shown. Each counts for one device: as a rule the one that inserted it, or wrote all of it since.
    public internal(set) var rows = 0
    /// Bytes of these rows' values. What Kith keeps beside them is not counted.
    public internal(set) var bytes = 0
    /// Bytes that are kept and not shown: deleted rows, rows of unknown tables, and changes of texts that wait for others or are refused.
    public internal(set) var hiddenBytes = 0
    /// Bytes of what it has written in histories of texts, whoever's rows they are of.
    public internal(set) var textBytes = 0
    /// Bytes of attachments on the disk that its rows name, shown or not. What several devices have named counts for each.
    public internal(set) var attachmentBytes: Int64 = 0
    /// Attachments that its rows name, of which the size is known, and which are not fetched because nobody has asked for them.
    public internal(set) var attachmentsNotFetched = 0

    init(_ author: Author) {
        self.author = author
    }

    /// Of the database's file and the attachments' together.
    package var allBytes: Int64 { Int64(bytes + textBytes + hiddenBytes) + attachmentBytes }
}

/// Attributes rows to the devices that wrote them.
struct ShareMeasure {
    let ledger: RowLedger
    /// Where attachments are, if there is such a place.
    let attachments: AttachmentFolder?

    /// By device, the one that fills most first.
    func run() throws -> [StoreShare] {
        let authors = try Authors(ledger: ledger)
        var shares: [Author: StoreShare] = [:]
        func add(_ sql: String, _ body: (inout StoreShare, PreparedStatement) -> Void) throws {
            let select = try ledger.connection.statement(sql)
            defer { select.reset() }
            while try select.step() {
                let number = select.int(0)
                let ids = ledger.catalog.replicas.ids
                let author = ids.indices.contains(number) ? authors[ids[number]] : .unknown
                body(&shares[author, default: StoreShare(author)], select)
            }
        }
        for table in ledger.catalog.tables {
            guard let tracked = table.tracked else { continue }
            let bytes = (["n.\(quoted(tracked.key))"] + tracked.names.map { "n.\($0)" })
                .map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }
            try add(
                """
                SELECT c.replica, count(*), sum(\(bytes.joined(separator: " + "))) FROM \(tracked.mainName) n
                CROSS JOIN \(ClockTable.name(table.number)) c ON c.row = n.rowid GROUP BY c.replica
                """
            ) { share, select in
                share.rows += select.int(1)
                share.bytes += select.int(2)
            }
        }
        for sql in [HiddenRows.bytesByReplicaSQL, AsideRows.bytesByReplicaSQL] {
            try add(sql) { share, select in share.hiddenBytes += select.int(1) }
        }
        for (replica, bytes) in try PortionRows(ledger).bytesByReplica() {
            shares[authors[replica], default: StoreShare(authors[replica])].hiddenBytes += bytes
        }
        for (replica, bytes) in try TextArchive(ledger: ledger).bytesByReplica() {
            shares[authors[replica], default: StoreShare(authors[replica])].textBytes += bytes
        }
        if let attachments, case let kept = attachments.keptBytes(), !kept.isEmpty {
            let named = try AttachmentShares(ledger, kept: kept)
            for (author, ids) in named.named {
                let missing = ids.count { if case .notFetched = attachments.state($0) { true } else { false } }
                shares[author, default: StoreShare(author)].attachmentBytes = named.bytes[author] ?? 0
                shares[author, default: StoreShare(author)].attachmentsNotFetched = missing
            }
        }
        return shares.values.sorted { ($1.allBytes, $1.rows) < ($0.allBytes, $0.rows) }
    }
}
