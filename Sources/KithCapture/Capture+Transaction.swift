import KithLedger
import KithSQLite
import KithTexts

/// What ``TransactionTable`` tells of the transaction that is open.
extension Capture: TransactionFollower {
    package func savepointWillBegin(_ number: Int32) {
        pending.savepointWillBegin(number)
        looseValues.savepointWillBegin(number)
    }

    package func savepointDidEnd(_ number: Int32) {
        pending.savepointDidEnd(number)
        looseValues.savepointDidEnd(number)
    }

    package func transactionDidRollBack(to number: Int32) {
        pending.didRollBack(to: number)
        looseValues.didRollBack(to: number)
        rows.removeAll()
        clock.tell(.rolledBackToSavepoint)
    }

    package func transactionWillCommit() throws {
        // What was written before the schema changed cannot be told from what was written after.
        try entry.checkSchema()
        if clock.machine.isCatalogInDoubt { try entry.enter() }
        try pending.store()
        try tidyValues()
        try storeJournal()
        clock.tell(.tableWillCommit)
    }

    /// Rows of an app with a rule that may end a transaction, or leave half a statement, stay as they were written: at this point nothing
    /// could be taken back.
    private func tidyValues() throws {
        if looseValues.rows.isEmpty { return }
        defer { looseValues.clear() }
        if entry.mayEndTransactions { return }
        try connection.keepingLastInsertedRowID {
            try connection.writing(as: .merge) {
                // A trigger that writes the row first would be taken for this write: such a row stays as it was written, too.
                for number in looseValues.tables where !entry.mayForestall(number) { try tidier(of: number).tidy(looseValues.rows) }
            }
        }
    }

    private func tidier(of number: Int) throws -> ValueTidier {
        let (table, tracked) = try trackedTable(number)
        return ValueTidier(connection: ledger.connection, table: table, tracked: tracked, writesInPlace: entry.mayWriteInPlace(number))
    }

    /// Sets and counters that were found, or that a migration wrote, get the form in which peers show them.
    package func tidyValues(ofAll tables: [Int]) throws {
        if entry.mayEndTransactions { return }
        if !tables.isEmpty { try ledger.noteSilentChanges() }
        try connection.writing(as: .merge) {
            for number in tables where !entry.mayForestall(number) { try tidier(of: number).tidyAll() }
        }
    }

    package func transactionDidCommit() {
        pending.clear()
        open.removeAll()
        rows.removeAll()
        looseValues.clear()
        clock.tell(.tableCommitted)
    }

    package func transactionDidRollBack() {
        pending.clear()
        open.removeAll()
        rows.removeAll()
        looseValues.clear()
        clock.tell(.tableRolledBack)
    }
}
