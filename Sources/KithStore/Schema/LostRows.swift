import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

/// Rows that a migration has left out of their table, or dropped with it, are gone here without a commit: nobody deletes them elsewhere.
struct LostRows {
    let ledger: RowLedger

    /// Forgets the rows of a table that is not in the file any more.
    func forgetTable(_ table: CatalogTable) throws {
        let select = try ledger.connection.statement(
            """
            SELECT 1 FROM \(ClockTable.name(table.number))
            WHERE NOT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE) LIMIT 1
            """)
        select.bind(1, .text(table.name))
        let hasLost = try select.step()
        select.reset()
        if !hasLost { return }
        try DotIndex(ledger.connection).removeVisible(of: table.number)
        try ClockTable(ledger.connection, table.number).removeAll()
        try forgetRemains(of: table.number)
    }

    /// Forgets what else is kept of rows whose clocks are gone.
    func forgetRemains(of table: Int) throws {
        try TextArchive(ledger: ledger).forgetLost(of: table)
        try ReferenceRecords(connection: ledger.connection).stopWaitingForLost(in: table)
        try DigestLedger(ledger: ledger).distrust()
    }
}
