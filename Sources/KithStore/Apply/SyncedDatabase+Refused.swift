import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

extension SyncedDatabase {
    /// Tries refused rows again if a trigger or table of the app is not what it was when that was done last.
    func retryRefusedRows() throws {
        guard let rules = writer.schema?.rulesHash else { return }
        let current = ColumnValue.text(Array(String(rules, radix: 16).utf8))
        let rows = try read(rows: false) { ledger -> [RowKey] in
            let refused = RefusedRows(connection: ledger.connection)
            let isTried = try VectorRecords(connection: ledger.connection).meta("rules") == current
            return try isTried ? [] : refused.keys()
        }
        if rows.isEmpty { return }
        var refusals: [RowKey: String] = [:]
        while true {
            do {
                return try writeMerged { [refusals] db, state in
                    state.ledger.refusals = refusals
                    defer { state.ledger.refusals.removeAll() }
                    let merger = try RowMerger(ledger: state.ledger, clock: state.clock)
                    for row in rows { try merger.settle(row.table, row.id) }
                    try state.settleReferences(db)
                    try VectorRecords(connection: state.ledger.connection).setMeta("rules", current)
                    let tables = Set(rows.map(\.table)).compactMap { state.ledger.catalog[$0]?.tracked?.sqlName }
                    try state.notifyChanges(in: tables, db)
                }
            } catch let refused as TransactionRefused where refused.row.map({ refusals[$0] == nil }) ?? false {
                if let row = refused.row { refusals[row] = refused.message }
            }
        }
    }

    /// The rows that rules of the app's tables refuse, by table and id, at most `max`.
    public func refusedRows(max limit: Int = 1_000) throws(StoreError) -> [RefusedRow] {
        try read(rows: false) { ledger in try RefusedRows(connection: ledger.connection).rows(ledger.catalog, max: limit) }
    }

    /// The same as a part of what is open on `db`.
    public func refusedRows(_ db: Database, max limit: Int = 1_000) throws(StoreError) -> [RefusedRow] {
        try read(in: db, rows: false) { ledger in try RefusedRows(connection: ledger.connection).rows(ledger.catalog, max: limit) }
    }
}
