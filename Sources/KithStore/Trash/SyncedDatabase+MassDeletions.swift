import GRDB
import KithLedger
import KithMerge
import KithSync

extension SyncedDatabase {
    /// Where another device has deleted at least 50 rows of a table within a day, and more than a third of it: people may not have meant
    /// it. Rows that this store never showed do not count.
    ///
    /// Such a deletion stands, and what went stays in the trash, until ``dismiss(_:)`` says that somebody has looked.
    public func massDeletions() throws(StoreError) -> [MassDeletion] {
        try read { ledger in try MassDeletions(ledger: ledger).all() }
    }

    /// The same as a part of what is open on `db`.
    public func massDeletions(_ db: Database) throws(StoreError) -> [MassDeletion] {
        try read(in: db, rows: false) { ledger in try MassDeletions(ledger: ledger).all() }
    }

    /// Somebody has said that a deletion was meant, or has undone it. Nothing is restored; what is older than
    /// ``trashMilliseconds`` leaves the trash again.
    public func dismiss(_ deletion: MassDeletion) throws(StoreError) {
        try write { db, state in try dismiss(db, state, deletion) }
    }

    /// The same as a part of the transaction that is open on `db`.
    public func dismiss(_ db: Database, _ deletion: MassDeletion) throws(StoreError) {
        try StoreError.typed {
            let state = try writerState(db)
            try state.entry.enter()
            try dismiss(db, state, deletion)
        }
    }

    private func dismiss(_ db: Database, _ state: WriterState, _ deletion: MassDeletion) throws {
        try MassDeletions(ledger: state.ledger).dismiss(deletion)
        try state.notifyChanges(in: [deletion.table], db)
    }
}
