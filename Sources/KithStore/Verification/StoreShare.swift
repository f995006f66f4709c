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

    init(_ author: Author) {
        self.author = author
    }
}

/// Attributes rows to the devices that wrote them.
struct ShareMeasure {
    let ledger: RowLedger

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
                SELECT c.replica, count(*), sum(\(bytes.joined(separator: " + "))) FROM \(quoted(tracked.sqlName)) n
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
        return shares.values.sorted { ($1.bytes + $1.hiddenBytes, $1.rows) < ($0.bytes + $0.hiddenBytes, $0.rows) }
    }
}
