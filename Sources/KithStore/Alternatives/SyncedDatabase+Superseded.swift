import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSync
import KithTexts

extension SyncedDatabase {
    /// More alternatives than this, equal ones counted once, make a cell's oldest move to the history.
    public static let alternativesMax = SupersededValues.alternativesMax

    /// The alternatives of a row that are gone from it for less than ``trashMilliseconds``, last gone first.
    ///
    /// Each store keeps those that it has seen going.
    public func supersededValues(table: String, id: RowID) throws(StoreError) -> [SupersededValue] {
        try supersededValues(in: nil, table, id)
    }

    /// The same as a part of what is open on `db`.
    public func supersededValues(_ db: Database, table: String, id: RowID) throws(StoreError) -> [SupersededValue] {
        try supersededValues(in: db, table, id)
    }

    private func supersededValues(in db: Database?, _ table: String, _ id: RowID) throws(StoreError) -> [SupersededValue] {
        try read(in: db, rows: false) { ledger in
            guard let (number, _) = ledger.tracked(table) else { return [] }
            return try SupersededValues(ledger: ledger).of(ledger.catalog.tables[number], id, after: trashEnd(ledger))
        }
    }
}
