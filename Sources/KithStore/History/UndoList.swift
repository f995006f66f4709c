import GRDB
import KithCapture
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
    @discardableResult
    public func group<Result>(_ title: String? = nil, _ body: (Database) throws -> Result) throws -> Result {
        try store.database.writeUnnested { db in
            try mark(db, title)
            return try body(db)
        }
    }

    /// Makes the transaction that is open on `db` a step.
    /// - Throws: ``StoreError`` with code `failed` without a journal, or if the transaction is an undo or a redo.
    public func mark(_ db: Database, _ title: String? = nil) throws(StoreError) {
        let state = try store.writerState(db)
        let journal = try StoreError.typed { try Self.journal(state) }
        if journal.label.isReversion { throw Self.isOneAlready }
        journal.label.scope = scope
        journal.label.title = title
    }

    /// What the open transaction has done so far, without what was rolled back.
    private static func journal(_ state: WriterState) throws -> JournalNotes {
        _ = try state.entry.enter()
        guard let journal = state.ledger.journal else { throw noJournal }
        try JournalRecords(ledger: state.ledger).dropRolledBack(journal)
        return journal
    }

    private static let isOneAlready = StoreError(
        .failed, "This transaction is a step, an undo or a redo already, and can be one alone. Do the next in a transaction of its own.")

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
    public func undo() throws(StoreError) -> UndoReport? { try takeBack(\.undo, \.undoes) }

    /// The same as a part of the transaction that is open on `db`. If it throws, nothing of it stays; if it is rolled back, the step can be
    /// taken back as before.
    ///
    /// What the transaction writes besides to tables with a journal belongs to the undo, and a redo takes that back, too.
    /// - Throws: ``StoreError`` with code `failed` if the transaction is a step, an undo or a redo already.
    @discardableResult
    public func undo(_ db: Database) throws(StoreError) -> UndoReport? { try takeBack(db, \.undo, \.undoes) }

    /// Does again what was taken back last, if no step was made since.
    ///
    /// - Returns: what was left, because it was changed since; `nil` if there is nothing to do again.
    @discardableResult
    public func redo() throws(StoreError) -> UndoReport? { try takeBack(\.redo, \.redoes) }

    /// The same as a part of the transaction that is open on `db`, as with ``undo(_:)``.
    @discardableResult
    public func redo(_ db: Database) throws(StoreError) -> UndoReport? { try takeBack(db, \.redo, \.redoes) }

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

    private typealias Choice = KeyPath<Stacks, [JournalRecords.Entry]>
    private typealias Role = WritableKeyPath<JournalNotes.Label, Int64?>

    private func takeBack(_ choice: Choice, _ role: Role) throws(StoreError) -> UndoReport? {
        try store.write { db, state in try takeBack(db, state, choice, role) }
    }

    private func takeBack(_ db: Database, _ choice: Choice, _ role: Role) throws(StoreError) -> UndoReport? {
        try store.reversion(db) { state in try takeBack(db, state, choice, role) }
    }

    private func takeBack(_ db: Database, _ state: WriterState, _ choice: Choice, _ role: Role) throws -> UndoReport? {
        let journal = try Self.journal(state)
        if journal.label.scope != nil { throw Self.isOneAlready }
        guard let entry = try stacks(state.ledger)[keyPath: choice].last else { return nil }
        journal.label.scope = scope
        journal.label.title = entry.label.title
        journal.label[keyPath: role] = entry.number
        let records = JournalRecords(ledger: state.ledger)
        try records.beginReversion(journal, process: state.capture.processName, nowMilliseconds: state.clock.wallClockMilliseconds)
        var reversion = try Reversion(db, state, store, title: entry.label.title, of: [.own]) { [scope] later, _ in
            later.label.scope == scope
        }
        try reversion.takeBack(entry.number, try records.changes(of: entry.number))
        return try reversion.finish()
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
        try revert(devices: [device], sinceMilliseconds: milliseconds)
    }

    /// The same of a device that had several keys.
    package func revert(devices: Set<Author>, sinceMilliseconds milliseconds: Int64) throws(StoreError) -> UndoReport {
        try write { db, state in try revert(db, state, devices, milliseconds) }
    }

    /// The same as a part of the transaction that is open on `db`, which may hold more. If it throws, nothing of it stays.
    public func revert(_ db: Database, device: Author, sinceMilliseconds milliseconds: Int64) throws(StoreError) -> UndoReport {
        try reversion(db) { state in try revert(db, state, [device], milliseconds) }
    }

    private func revert(_ db: Database, _ state: WriterState, _ devices: Set<Author>, _ milliseconds: Int64) throws -> UndoReport {
        guard state.ledger.journal != nil else { throw UndoList.noJournal }
        let reader = try HistoryReader(state.ledger)
        let isOfDevice = { (entry: JournalRecords.Entry, change: JournalChange) in
            reader.device(change, entry).map(devices.contains) ?? false
        }
        var reversion = try Reversion(db, state, self, title: nil, of: devices, isOwn: isOfDevice)
        var (left, before) = (10_000, Int64.max)
        // The device's may stand behind many of others.
        while left > 0 {
            let entries = try reader.records.entries(sinceMilliseconds: milliseconds, before: before, max: 1_000)
            guard let last = entries.last else { break }
            before = last.number
            for entry in entries where left > 0 && (entry.process == nil || devices.contains(.own)) {
                let changes = try reader.records.changes(of: entry.number).filter { isOfDevice(entry, $0) }
                if changes.isEmpty { continue }
                try reversion.takeBack(entry.number, changes)
                left -= 1
            }
        }
        return try reversion.finish()
    }

    /// Takes back as a part of the transaction that is open on `db`: whole, or not at all.
    fileprivate func reversion<Result>(_ db: Database, _ body: (WriterState) throws -> Result) throws(StoreError) -> Result {
        let state = try writerState(db)
        return try StoreError.typed {
            var result: Result?
            try state.ledger.connection.keepingLastInsertedRowID {
                try db.inSavepoint {
                    _ = try state.entry.enter()
                    result = try body(state)
                    return .commit
                }
            }
            guard let result else { throw StoreError(.failed, "Nothing was changed.") }
            return result
        }
    }
}
