import GRDB
import KithCausality
import KithLedger
import KithMerge
import KithSync

extension SyncedDatabase {
    /// The rows of the trash that were deleted together with a row which is shown again, because another device had changed that one at the
    /// same time, and not them.
    ///
    /// Only until somebody writes the row that came back: with that the trace of its deletion goes.
    ///
    /// - Parameters:
    ///   - db: the access to read in; `nil` for one of its own.
    ///   - column: the column of `child` that holds the id of the other row.
    ///   - parent: the table of the row that came back.
    package func leftBehind(
        _ db: Database? = nil, table child: String, by column: String, of parent: String
    ) throws(StoreError) -> [RowID] {
        try read(in: db, rows: db == nil) { ledger in
            let trashed = try Trash(ledger: ledger).rows(table: child, max: .max, after: trashEnd(ledger))
            guard !trashed.isEmpty, let (number, tracked) = ledger.tracked(parent), let table = ledger.catalog[number] else { return [] }
            let shown = UserTable(connection: ledger.connection, table: table, tracked: tracked)
            var outlived: [RowID: [Dot]] = [:]
            return try trashed.compactMap { row in
                guard case .blob(let bytes)? = row.values[column], let id = RowID(bytes: bytes) else { return nil }
                if outlived[id] == nil {
                    let stored = try shown.find(id).flatMap { try ledger.storedRow(number, row: $0.row) }
                    outlived[id] = stored?.exceptions.tombstones.map(\.dot) ?? []
                }
                return outlived[id]?.contains(where: row.deletions.contains) == true ? row.id : nil
            }
        }
    }
}
