import GRDB
import KithLedger
import KithSQLite
import KithSync

/// Steps of one editor or window that can be taken back and done again: see ``SyncedDatabase/undo(scope:)``.
public struct UndoList: Sendable {
    /// By which the steps are known, also after a restart.
    public let scope: String
    let store: SyncedDatabase

    /// How many steps are looked back at.
    public static let stepsMax = 1_000

    /// Writes one step, in one transaction.
    ///
    /// - Parameter title: what people call it, such as "Move to freezer".
    public func group<Result>(_ title: String? = nil, _ body: (Database) throws -> Result) throws -> Result {
        try store.database.write { db in
            try mark(db, title)
            return try body(db)
        }
    }

    /// Makes the transaction that is open on `db` a step.
    public func mark(_ db: Database, _ title: String? = nil) throws(StoreError) {
        let state = try store.writerState(db)
        _ = try StoreError.typed { try state.entry.enter() }
        guard let journal = state.ledger.journal else { throw Self.noJournal }
        journal.label.scope = scope
        journal.label.title = title
    }

    static let noJournal = StoreError(
        .failed, "Undo needs a journal. Declare one for each table that it shall cover: TrackedTable(…, journal: .days(30)).")

    /// A step that can be taken back, or done again.
    public struct Step: Hashable, Sendable {
        /// What people call it, if it has a name.
        public let title: String?
    }

    /// What the next undo would take back; `nil` if there is nothing.
    public func nextUndo() throws(StoreError) -> Step? { try step(in: nil, \.undo) }

    /// The same as a part of what is open on `db`.
    public func nextUndo(_ db: Database) throws(StoreError) -> Step? { try step(in: db, \.undo) }

    /// What the next redo would do again; `nil` if there is nothing.
    public func nextRedo() throws(StoreError) -> Step? { try step(in: nil, \.redo) }

    /// The same as a part of what is open on `db`.
    public func nextRedo(_ db: Database) throws(StoreError) -> Step? { try step(in: db, \.redo) }

    private func step(in db: Database?, _ entries: (Stacks) -> [JournalRecords.Entry]) throws(StoreError) -> Step? {
        try store.read(in: db) { ledger in entries(try stacks(ledger)).last.map { Step(title: $0.label.title) } }
    }

    /// Takes the last step back, column by column where it is still what is shown, in one transaction. A deleted row comes back with those
    /// that went with it; of a text only what was typed in the step goes.
    ///
    /// - Returns: what was left, because it was changed since; `nil` if there is nothing to take back.
    @discardableResult
    public func undo() throws(StoreError) -> UndoReport? {
        try takeBack {
            $0.undo.last
        } label: {
            $0.undoes = $1
        }
    }

    /// Does again what was taken back last, if no step was made since.
    ///
    /// - Returns: what was left, because it was changed since; `nil` if there is nothing to do again.
    @discardableResult
    public func redo() throws(StoreError) -> UndoReport? {
        try takeBack {
            $0.redo.last
        } label: {
            $0.redoes = $1
        }
    }

    /// Steps that can be taken back, and undos that can, the newest last. A redo takes an undo back.
    private typealias Stacks = (undo: [JournalRecords.Entry], redo: [JournalRecords.Entry])

    private func stacks(_ ledger: RowLedger) throws -> Stacks {
        var stacks: Stacks = ([], [])
        for entry in try JournalRecords(ledger: ledger).entries(scope: scope, max: Self.stepsMax).reversed() {
            if let undone = entry.label.undoes {
                stacks.undo.removeAll { $0.number == undone }
                stacks.redo.append(entry)
            } else if let redone = entry.label.redoes {
                stacks.redo.removeAll { $0.number == redone }
                stacks.undo.append(entry)
            } else {
                stacks.undo.append(entry)
                stacks.redo = []
            }
        }
        return stacks
    }

    private func takeBack(
        _ choose: (Stacks) -> JournalRecords.Entry?, label: (inout JournalNotes.Label, Int64) -> Void
    ) throws(StoreError) -> UndoReport? {
        try store.write { db, state in
            guard let journal = state.ledger.journal else { throw Self.noJournal }
            guard let entry = choose(try stacks(state.ledger)) else { return nil }
            journal.label.scope = scope
            journal.label.title = entry.label.title
            label(&journal.label, entry.number)
            var reversion = try Reversion(db, state, store, title: entry.label.title) { [scope] later, _ in later.label.scope == scope }
            try reversion.takeBack(entry.number, try JournalRecords(ledger: state.ledger).changes(of: entry.number))
            return try reversion.finish()
        }
    }
}

extension SyncedDatabase {
    /// Undo for one editor or window, of writes to tables with a journal. Its steps are kept in the file: they survive a restart, and a
    /// restored file goes on with them.
    ///
    ///     let undo = store.undo(scope: "editor")
    ///     try undo.group("Move to freezer") { db in try item.update(db) }
    ///     let report = try undo.undo()
    ///
    /// - Parameter scope: whose steps; two windows with scopes of their own take back their own.
    public func undo(scope: String) -> UndoList {
        UndoList(scope: scope, store: self)
    }

    /// Takes back what one device has changed in tables with a journal since a moment, where that is still what is shown: one new
    /// transaction, at most 10,000 of the device's.
    ///
    /// - Parameters:
    ///   - device: whose changes, as ``HistoryChange/device`` names it; `.own` for those of this machine.
    ///   - milliseconds: since 1970, by this machine's clock, when they were made or came here.
    /// - Returns: what was left, because it was changed since.
    public func revert(device: Author, sinceMilliseconds milliseconds: Int64) throws(StoreError) -> UndoReport {
        try write { db, state in
            guard state.ledger.journal != nil else { throw UndoList.noJournal }
            let reader = try HistoryReader(state.ledger)
            let isOfDevice = { (entry: JournalRecords.Entry, change: JournalChange) in reader.change(change, entry, "").device == device }
            var reversion = try Reversion(db, state, self, title: nil, isOwn: isOfDevice)
            let entries = try reader.records.entries(sinceMilliseconds: milliseconds, max: 10_000)
            for entry in entries {
                let changes = try reader.records.changes(of: entry.number).filter { isOfDevice(entry, $0) }
                if !changes.isEmpty { try reversion.takeBack(entry.number, changes) }
            }
            return try reversion.finish()
        }
    }
}
