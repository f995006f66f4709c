import GRDB
import KithCausality
import KithLedger
import KithMerge
import KithSync

extension SyncedDatabase {
    /// The rows of the trash that a device deleted together with another row, which is shown all the same because another device has changed it
    /// at that time.
    ///
    /// They are found until any device writes that other row: its write removes the trace of the deletion.
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
                guard let id = row.values[column].flatMap(KeyForm.anyID) else { return nil }
                if outlived[id] == nil {
                    let stored = try shown.find(id).flatMap { try ledger.storedRow(number, row: $0.row) }
                    outlived[id] = stored?.exceptions.tombstones.map(\.dot) ?? []
                }
                return outlived[id]?.contains(where: row.deletions.contains) == true ? row.id : nil
            }
        }
    }
}
