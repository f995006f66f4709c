import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

extension WriterState {
    /// Makes the app's tables obey their foreign keys, at the end of a transaction in which SQLite does not.
    func settleReferences(_ db: Database) throws {
        guard declarations.hasForeignKeys else { return }
        try notifyChanges(in: settledReferences(), db)
    }

    /// The same, also where a migration has dropped the last foreign key.
    ///
    /// - Returns: the names of the tables that changed.
    func settledReferences() throws -> [String] {
        guard try ReferenceRecords(connection: ledger.connection).hasUnsettled() else { return [] }
        return try ledger.connection.writing(as: .merge) {
            let merger = try RowMerger(ledger: ledger, clock: clock)
            return try ReferenceSettler(merger).settle().sorted().compactMap { ledger.catalog[$0]?.tracked?.sqlName }
        }
    }

    /// After a commit of the app: shows the rows that waited for what it brought, and lets go of those it no longer needs.
    ///
    /// Until then they were shown as before, which breaks no foreign key.
    func settleAfterCommit(_ db: Database) throws {
        guard declarations.hasForeignKeys, try ReferenceRecords(connection: ledger.connection).hasUnsettled() else { return }
        try ledger.connection.waitingForOthers {
            try ledger.connection.keepingLastInsertedRowID {
                try ledger.connection.withoutForeignKeys {
                    try db.inTransaction(.immediate) {
                        try entry.enter()
                        try settleReferences(db)
                        try storeJournal()
                        return .commit
                    }
                }
            }
        }
    }
}

extension DatabaseConnection {
    /// Runs `body`, which begins and ends a transaction, while SQLite does not act on foreign keys.
    func withoutForeignKeys<Result>(_ body: () throws -> Result) throws -> Result {
        let obeys = try obeyForeignKeys(false)
        defer { _ = try? obeyForeignKeys(obeys) }
        return try body()
    }
}
