/// What ``TransactionTable`` tells of the transaction that is open.
extension Capture {
    func savepointWillBegin(_ number: Int32) throws {
        if pending.isFull { try pending.store() }
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
        try pending.store()
        clock.willCommit()
    }

    func transactionDidCommit() {
        pending.clear()
        clock.didLeave()
    }

    func transactionDidRollBack() {
        pending.clear()
        clock.didRollBack()
        clock.didLeave()
    }
}
