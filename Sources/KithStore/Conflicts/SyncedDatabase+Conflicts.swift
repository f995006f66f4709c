import GRDB
import KithCapture
import KithLedger
import KithMerge
import KithSync
import KithTexts

extension SyncedDatabase {
    /// Everything of which several versions are kept, in all tracked tables, the latest write first.
    ///
    /// Takes time in proportion to the conflicts and to the histories of texts that were changed on two machines at once and not searched
    /// since, not to the store. Columns that machines write without a person, such as the time of
    /// the last change, are among them: leave out what is not worth a question.
    public func conflicts() throws(StoreError) -> [Conflict] {
        let found = try read { ledger in try ConflictRecords(ledger: ledger).all() }
        // Only so that they need not be searched again: a store that cannot be written now can be read all the same.
        if !found.settled.isEmpty { try? write { _, state in try MergedTexts(ledger: state.ledger).forget(found.settled) } }
        return found.conflicts
    }

    /// The same as a part of the access `db` to this store's database, such as an observation or a transaction that resolves them.
    public func conflicts(_ db: Database) throws(StoreError) -> [Conflict] {
        try read(db) { ledger in try ConflictRecords(ledger: ledger).all().conflicts }
    }

    /// The conflicts of one visible row, by column; none if it is not there.
    public func conflicts(table: String, id: RowID) throws(StoreError) -> [Conflict] {
        try read { ledger in
            guard let (number, _) = ledger.tracked(table) else { return [] }
            return try ConflictRecords(ledger: ledger).conflicts(number, id, try Authors(ledger: ledger))
        }
    }

    /// How many rows are noted to have, or to have had, several versions of something: it grows when a merge brings them.
    package func conflictsNoted() throws -> Int {
        try read(rows: false) { ledger in try ConflictRecords(ledger: ledger).count() }
    }

    /// The same as a part of what is open on `db`.
    public func conflicts(_ db: Database, table: String, id: RowID) throws(StoreError) -> [Conflict] {
        try read(db) { ledger in
            guard let (number, _) = ledger.tracked(table) else { return [] }
            return try ConflictRecords(ledger: ledger).conflicts(number, id, try Authors(ledger: ledger))
        }
    }

    /// Who wrote the commits of each replica, as far as is known here.
    public func authors() throws(StoreError) -> Authors {
        try read { ledger in try Authors(ledger: ledger) }
    }

    /// The same as a part of what is open on `db`.
    public func authors(_ db: Database) throws(StoreError) -> Authors {
        try read(db) { ledger in try Authors(ledger: ledger) }
    }
}
