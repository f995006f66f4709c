import KithLedger
import KithSQLite
import KithSync

/// What a row with a journal showed before a write of the app.
extension Capture {
    func noteInsertForJournal(_ table: Int, _ id: RowID) {
        guard let journal = ledger.journal, journal.keeps(table) else { return }
        journal.noteInsert(RowKey(table: table, id: id))
    }

    /// - Parameters:
    ///   - changed: a bit for each tracked column, in order.
    ///   - values: old and new value of each column that is no register, then the old value of each register.
    func noteForJournal(_ table: Int, _ id: RowID, _ changed: UInt64, _ values: ColumnValues) {
        guard changed != 0, let journal = ledger.journal, journal.keeps(table), let tracked = ledger.catalog.tracked(table) else { return }
        let row = RowKey(table: table, id: id)
        for (place, index) in tracked.placesOfOldValues.enumerated() where changed >> UInt64(place) & 1 == 1 {
            journal.noteUpdate(row, place: place, old: values[index])
        }
    }

    /// Writes down what the open transaction, of the app, has changed; see ``JournalRecords``.
    func storeJournal() throws {
        guard let journal = ledger.journal, !journal.isEmpty else { return }
        try connection.keepingLastInsertedRowID {
            try JournalRecords(ledger: ledger).store(
                journal, process: processName, own: clock.machine.noted?.replicaNumber, nowMilliseconds: clock.wallClockMilliseconds)
        }
    }
}
