/// What ``TransactionTable`` tells of the transaction that is open.
extension Capture {
    func savepointWillBegin(_ number: Int32) {
        pending.savepointWillBegin(number)
        looseSets.savepointWillBegin(number)
    }

    func savepointDidEnd(_ number: Int32) {
        pending.savepointDidEnd(number)
        looseSets.savepointDidEnd(number)
    }

    func transactionDidRollBack(to number: Int32) {
        pending.didRollBack(to: number)
        looseSets.didRollBack(to: number)
        clock.didRollBack()
    }

    func transactionWillCommit() throws {
        // What was written before the schema changed cannot be told from what was written after.
        try entry.checkSchema()
        try pending.store()
        try tidySets()
        clock.willCommit()
    }

    /// Rows of an app with a rule that may end a transaction, or leave half a statement, stay as they were written: at this point nothing
    /// could be taken back.
    private func tidySets() throws {
        if looseSets.rows.isEmpty { return }
        defer { looseSets.clear() }
        if entry.mayEndTransactions { return }
        let wasSuspended = isSuspended
        isSuspended = true
        defer { isSuspended = wasSuspended }
        try ledger.connection.keepingLastInsertedRowID {
            for loose in looseSets.rows {
                let (table, tracked) = try trackedTable(loose.table)
                try SetTidier(connection: ledger.connection, table: table, tracked: tracked).tidy(loose.row, columns: loose.columns)
            }
        }
    }

    func transactionDidCommit() {
        pending.clear()
        open.removeAll()
        looseSets.clear()
        clock.didLeave()
    }

    func transactionDidRollBack() {
        pending.clear()
        open.removeAll()
        looseSets.clear()
        clock.didRollBack()
        clock.didLeave()
    }
}
