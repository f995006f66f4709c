/// What ``TransactionTable`` tells of the transaction that is open.
extension Capture {
    func savepointWillBegin(_ number: Int32) {
        pending.savepointWillBegin(number)
    }

    func savepointDidEnd(_ number: Int32) {
        pending.savepointDidEnd(number)
    }

    func transactionDidRollBack(to number: Int32) {
        pending.didRollBack(to: number)
        clock.didRollBack()
    }

    func transactionWillCommit() throws {
        // What was written before the schema changed cannot be told from what was written after.
        try entry.checkSchema()
        try pending.store()
        clock.willCommit()
    }

    func transactionDidCommit() {
        pending.clear()
        open.removeAll()
        clock.didLeave()
    }

    func transactionDidRollBack() {
        pending.clear()
        open.removeAll()
        clock.didRollBack()
        clock.didLeave()
    }
}
