import GRDB
import KithCapture
import KithCausality
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

extension SyncedDatabase {
    /// How long a deleted row stays in the trash.
    public static let trashMilliseconds: Int64 = Trash.milliseconds

    /// The rows in the trash, most recently deleted first.
    ///
    /// - Parameters:
    ///   - table: only of this table; `nil` for all that this process has declared.
    ///   - max: at most so many.
    public func trash(table: String? = nil, max limit: Int = 1_000) throws(StoreError) -> [TrashedRow] {
        try read { ledger in try Trash(ledger: ledger).rows(table: table, max: limit, after: trashEnd(ledger)) }
    }

    /// The same as a part of what is open on `db`.
    public func trash(_ db: Database, table: String? = nil, max limit: Int = 1_000) throws(StoreError) -> [TrashedRow] {
        try read(in: db, rows: false) { ledger in try Trash(ledger: ledger).rows(table: table, max: limit, after: trashEnd(ledger)) }
    }

    /// Brings a row back from the trash as it was last shown: a new life, without alternatives.
    ///
    /// - Throws: ``StoreError`` with code `notFound` if the row is not in the trash; `valueRejected` if a rule of the
    ///   table does not let it in, or a row it refers to is gone.
    public func restore(table: String, id: RowID) throws(StoreError) {
        try write(obeyingForeignKeys: !writer.declarations.hasForeignKeys) { db, state in
            try StoreError.rejectingValue { try state.capture.restore(table: table, id: id, after: trashEnd(state.ledger)) }
            try state.settleReferences(db)
            try state.capture.checkIsShown(table: table, id: id)
            try state.notifyChanges(in: [table], db)
        }
    }

    /// The same as a part of the transaction that is open on `db`. If it throws, nothing of it stays.
    public func restore(_ db: Database, table: String, id: RowID) throws(StoreError) {
        try change(table, db) { capture in
            try capture.restore(table: table, id: id, after: trashEnd(capture.ledger))
            try capture.checkIsShown(table: table, id: id)
        }
    }

    /// Whether a row is shown, or something is kept of it that garbage collection would take.
    package func keepsContents(of id: RowID, in table: String) throws(StoreError) -> Bool {
        try read { ledger in
            guard let found = ledger.catalog.table(named: Array(table.utf8)) else { return false }
            if let hidden = try ledger.hiddenRow(found.number, id) { return !hidden.state.isBare }
            guard let tracked = found.tracked else { return false }
            return try UserTable(connection: ledger.connection, table: found, tracked: tracked).find(id) != nil
        }
    }

    /// Whether a row is shown, or is known to have been deleted.
    package func knows(_ id: RowID, in table: String) throws(StoreError) -> Bool {
        try read { ledger in
            guard let found = ledger.catalog.table(named: Array(table.utf8)), let tracked = found.tracked else { return false }
            if try ledger.hiddenRow(found.number, id) != nil { return true }
            return try UserTable(connection: ledger.connection, table: found, tracked: tracked).find(id) != nil
        }
    }

    /// Empties the trash of `table`, or of all tables: what is there cannot be restored any more. Its bytes go when
    /// no device needs them any more.
    /// - Returns: how many rows that were.
    @discardableResult
    public func emptyTrash(table: String? = nil) throws(StoreError) -> Int {
        try write { db, state in try emptyTrash(db, state, table) }
    }

    private func emptyTrash(_ db: Database, _ state: WriterState, _ table: String?) throws -> Int {
        let count = try Trash(ledger: state.ledger).empty(table: table, after: trashEnd(state.ledger))
        if count > 0 { try state.notifyChanges(in: table.map { [$0] } ?? writer.declarations.tables.map(\.name), db) }
        return count
    }

    /// The same as a part of the transaction that is open on `db`.
    @discardableResult
    public func emptyTrash(_ db: Database, table: String? = nil) throws(StoreError) -> Int {
        try StoreError.typed {
            let state = try writerState(db)
            try state.entry.enter()
            return try emptyTrash(db, state, table)
        }
    }

    /// Removes for good what was deleted, is no longer in the trash, and is known to be deleted by every member
    /// (``setMembers(_:)``, ``noteMember(_:replica:durable:)``) but those that are silent for ``Member/silenceMilliseconds``.
    ///
    /// Works in transactions of at most ``garbageRowsMax`` rows, each of which looks anew, so that nobody waits long.
    /// - Returns: how many rows were removed.
    @discardableResult
    package func collectGarbage() throws -> Int {
        let now = options.clock().milliseconds
        return try collectGarbage { ledger in
            try MemberRecords(ledger: ledger).all().filter { !$0.isSilent(atMilliseconds: now) }.map(\.durable)
        }
    }

    /// The same for members that the caller keeps account of.
    ///
    /// - Parameter acknowledged: for every other member of the group what it is known to hold durably.
    @discardableResult
    package func collectGarbage(acknowledged: [VersionVector]) throws -> Int {
        try collectGarbage { _ in acknowledged }
    }

    /// Deleted rows that one transaction looks at.
    static let garbageRowsMax = 500

    private func collectGarbage(_ acknowledged: (RowLedger) throws -> [VersionVector]) throws -> Int {
        var count = 0
        var last: Int64? = 0
        while let after = last {
            let step = try write { _, state in
                let trashEnd = try trashEnd(state.ledger)
                try SupersededValues(ledger: state.ledger).expire(until: trashEnd, max: Self.garbageRowsMax)
                try RemovedRows(ledger: state.ledger).expire(until: trashEnd, max: Self.garbageRowsMax)
                try purgeHistory(state)
                if after == 0 { try ConflictRecords(ledger: state.ledger).forgetHidden() }
                let step = try Trash(ledger: state.ledger).collect(
                    acknowledged: try acknowledged(state.ledger), until: trashEnd, after: after, max: Self.garbageRowsMax)
                if step.last == nil { try LocalValues(state.ledger.connection).sweep(unless: RemovedRows.isAmongSQL(as: "l")) }
                return step
            }
            count += step.removed
            last = step.last
        }
        return count
    }

    /// What was deleted before this is no longer in the trash.
    func trashEnd(_ ledger: RowLedger) throws -> Int64 {
        try MassDeletions(ledger: ledger).trashEnd(nowMilliseconds: options.clock().milliseconds)
    }
}
