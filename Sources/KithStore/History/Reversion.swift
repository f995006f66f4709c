import GRDB
import KithCausality
import KithLedger
import KithSQLite
import KithSync

/// Takes back what transactions of the journal have done, where that is still what is shown: within one transaction of the app, as
/// ordinary writes.
struct Reversion {
    let db: Database
    let state: WriterState
    let store: SyncedDatabase
    let reader: HistoryReader
    /// Whose changes are taken back.
    let devices: Set<Author>
    /// Whether a later change of a row that is about to go belongs to what is taken back.
    let isOwn: (JournalRecords.Entry, JournalChange) -> Bool
    private(set) var report: UndoReport
    private var touched: Set<RowKey> = []
    private var tables: Set<String> = []
    /// Rows that came back from the trash, with the columns to which another device has written what they show.
    private var foreignColumns: [RowKey: Set<Int>] = [:]
    /// What texts said earlier, by row and column.
    private var pasts: [RowKey: [Int: TextPast]] = [:]
    /// Rows that this brought back, with the transaction that had deleted them: what came after it is no part of what they say.
    private var broughtBack: [RowKey: Int64] = [:]
    /// The transaction that is taken back now.
    private var current: Int64 = 0

    init(
        _ db: Database, _ state: WriterState, _ store: SyncedDatabase, title: String?, of devices: Set<Author>,
        isOwn: @escaping (JournalRecords.Entry, JournalChange) -> Bool
    ) throws {
        self.db = db
        self.state = state
        self.store = store
        (self.devices, self.isOwn) = (devices, isOwn)
        reader = try HistoryReader(state.ledger)
        report = UndoReport(title: title)
    }

    private var records: JournalRecords { reader.records }

    /// Takes one transaction back.
    mutating func takeBack(_ number: Int64, _ all: [JournalChange]) throws {
        current = number
        let changes = all.filter { table($0.row) != nil }
        for change in all where table(change.row) == nil { leave(change.row, nil, .refused("The table is not tracked."), by: nil) }
        // A row comes back after those that it refers to. A trigger may refer to more rows than it held, so whatever is refused waits.
        var waiting = parentsFirst(changes.filter { $0.kind == .delete })
        while !waiting.isEmpty {
            var stillWaiting: [(JournalChange, String)] = []
            for change in waiting {
                if let why = try restore(change) { stillWaiting.append((change, why)) }
            }
            if stillWaiting.count == waiting.count {
                let circles = try restoreCircles(waiting)
                for (change, why) in stillWaiting where !circles.contains(change.row) { leave(change.row, nil, .refused(why), by: nil) }
                break
            }
            waiting = stillWaiting.map(\.0)
        }
        for change in changes where change.kind == .delete {
            if let foreign = foreignColumns.removeValue(forKey: change.row) { try setBack(change, after: number, but: foreign) }
        }
        for change in changes where change.kind == .update { try update(change, after: number) }
        // Rows that refer to others go before these. A trigger that removes or changes rows may make another order necessary.
        var going = try childrenFirst(changes.filter { $0.kind == .insert })
        while !going.isEmpty {
            let before = going.count
            let inserted = Set(going.map(\.row))
            going = try going.filter { try !remove($0, after: number, besides: inserted) }
            if going.count < before { continue }
            if try removeCircles(going) { break }
            for change in going { leave(change.row, nil, .isReferredTo, by: nil) }
            break
        }
    }

    mutating func finish() throws -> UndoReport {
        try state.notifyChanges(in: tables.sorted(), db)
        // What is taken back may be a reversion, which is taken back, too.
        report.rowsChanged = try state.ledger.journal.map { try records.changedCount(of: touched, in: $0) } ?? 0
        return report
    }

    private mutating func leave(_ row: RowKey, _ column: String?, _ reason: UndoReport.Left.Reason, by author: Author?) {
        report.left.append(.init(table: reader.name(of: row.table) ?? "", row: row.id, column: column, reason: reason, by: author))
    }

    private mutating func note(_ row: RowKey, _ table: String) {
        touched.insert(row)
        tables.insert(table)
    }

    private func table(_ row: RowKey) -> (CatalogTable, UserTable)? {
        guard let table = state.ledger.catalog[row.table], let tracked = table.tracked else { return nil }
        return (table, UserTable(connection: state.ledger.connection, table: table, tracked: tracked))
    }

    /// Who changed a row, or one of its columns, last after a transaction.
    private func lastAuthor(of row: RowKey, column: Int?, after number: Int64) throws -> Author? {
        for (later, change) in try records.changes(of: row, after: number) {
            guard column == nil || change.kind != .update || change.columns.contains(where: { $0.number == column }),
                let entry = try records.entry(later)
            else { continue }
            // If several devices wrote the row in that transaction, the value says who.
            return try reader.device(change, entry) ?? column.flatMap { try reader.writer(of: row, column: $0) }
        }
        return nil
    }

    // MARK: Rows

    /// Brings a deleted row back. Returns why it does not.
    private mutating func restore(_ change: JournalChange) throws -> String? {
        guard let (_, user) = table(change.row) else { return nil }
        if try user.find(change.row.id) != nil { return nil }
        let name = user.tracked.sqlName
        let foreign = try foreignColumns(of: change.row)
        if let error = restoreFromTrash(name, change.row.id) {
            // The trash no longer has it, or has another life of it, which refers to what is not there.
            let mayBeAnotherLife = error.code == .valueRejected && foreign.isEmpty
            guard error.code == .notFound || mayBeAnotherLife else {
                if error.code == .valueRejected { return error.message }
                throw error
            }
            if let why = try insert(change, user) { return why }
        } else {
            foreignColumns[change.row] = foreign
        }
        broughtBack[change.row] = current
        pasts[change.row] = nil
        note(change.row, name)
        return nil
    }

    /// Brings rows back all at once that refer to each other in circles, since SQLite takes none of them before the others. Returns which
    /// have come back: all, but those that refer to rows which are not there, or none.
    private mutating func restoreCircles(_ changes: [JournalChange]) throws -> Set<RowKey> {
        var rows = Set(changes.map(\.row))
        var count = 0
        repeat {
            count = rows.count
            for change in changes where try !refersToRowsThere(change, or: rows) { rows.remove(change.row) }
        } while rows.count < count
        let isDone = try atOnce { reversion in try changes.allSatisfy { try !rows.contains($0.row) || reversion.restore($0) == nil } }
        return isDone ? rows : []
    }

    /// Runs `body`, in the midst of which rows may refer to rows that are not there. Nothing of it stays if it returns `false`, if a rule of
    /// a table is against it, or if a row refers to one that is not there at its end.
    private mutating func atOnce(_ body: (inout Reversion) throws -> Bool) throws -> Bool {
        let connection = state.ledger.connection
        // What the app has deferred is not looked at here.
        if connection.hasOpenReferences { return false }
        var copy = self
        var isDone = false
        do {
            try connection.deferringForeignKeys {
                try db.inSavepoint {
                    try StoreError.rejectingValue { isDone = try body(&copy) && !connection.hasOpenReferences }
                    return isDone ? .commit : .rollback
                }
            }
        } catch let error as StoreError where error.code == .valueRejected {
            return false
        }
        if isDone { self = copy }
        return isDone
    }

    /// Whether all that a deleted row referred to is there, or among `rows`.
    private func refersToRowsThere(_ change: JournalChange, or rows: Set<RowKey>) throws -> Bool {
        guard let (_, user) = table(change.row) else { return false }
        return try user.tracked.references.allSatisfy { reference in
            guard case .values(let old, _)? = change.columns.first(where: { $0.number == reference.column })?.content,
                let parent = reference.row(named: old)
            else { return true }
            return try rows.contains(parent) || table(parent)?.1.find(parent.id) != nil
        }
    }

    /// The trash has what the row held when it was deleted last. If that was in another life, the row gets what it held before the
    /// transaction that is taken back, unless others have changed it since.
    private mutating func setBack(_ change: JournalChange, after number: Int64, but foreign: Set<Int>) throws {
        guard let (_, user) = table(change.row), let found = try user.find(change.row.id) else { return }
        let isForeign = try records.changes(of: change.row, after: number).contains { later, other in
            try records.entry(later).map { !isOwn($0, other) } ?? true
        }
        var assignments: [Assignment] = []
        for (place, column) in user.tracked.columns.enumerated() {
            // The table did not have a column then of which nothing is written down.
            guard case .values(let wanted, _)? = change.columns.first(where: { $0.number == column })?.content,
                found.values[place] != wanted
            else { continue }
            if isForeign || foreign.contains(column) {
                leave(
                    change.row, state.ledger.catalog[change.row.table]?.columns[column].sqlName, .changedSince,
                    by: try lastAuthor(of: change.row, column: column, after: number))
                continue
            }
            assignments.append(
                Assignment(
                    column: state.ledger.catalog[change.row.table]?.columns[column].sqlName, name: user.tracked.names[place],
                    values: [wanted]))
        }
        for (assignment, why) in try write(assignments, user, found.row) {
            leave(change.row, assignment.column, .refused(why), by: nil)
        }
    }

    private func isForeign(_ dot: Dot) -> Bool { !devices.contains(reader.author(dot.replica)) }

    private func foreignColumns(of row: RowKey) throws -> Set<Int> {
        guard let hidden = try state.ledger.hiddenRow(row.table, row.id) else { return [] }
        return Set(
            hidden.state.cells.filter { entry in
                guard case .register(let register) = entry.cell else { return entry.cell.dots.contains { isForeign($0) } }
                return register.shown.map { isForeign($0.stamp.dot) } ?? false
            }.map(\.column))
    }

    private func restoreFromTrash(_ table: String, _ id: RowID) -> StoreError? {
        do throws(StoreError) {
            try store.restore(db, table: table, id: id)
            return nil
        } catch {
            return error
        }
    }

    /// Inserts what a deleted row held. Returns why a rule of the table is against it.
    private func insert(_ change: JournalChange, _ user: UserTable) throws -> String? {
        var values = [ColumnValue?](repeating: nil, count: user.tracked.columns.count)
        for (number, content) in change.columns {
            if let place = user.tracked.columns.firstIndex(of: number), case .values(let old, _) = content { values[place] = old }
        }
        do {
            try attempt { _ = try user.insert(change.row.id, values) }
            return nil
        } catch let error as StoreError where error.code == .valueRejected {
            return error.message
        }
    }

    /// Removes a row that was inserted. Returns `false` if rows that are removed as well refer to it still.
    private mutating func remove(_ change: JournalChange, after number: Int64, besides inserted: Set<RowKey>) throws -> Bool {
        guard let (_, user) = table(change.row), let found = try user.find(change.row.id) else { return true }
        for (later, other) in try records.changes(of: change.row, after: number) {
            guard let entry = try records.entry(later), !isOwn(entry, other) else { continue }
            leave(change.row, nil, .changedSince, by: reader.device(other, entry))
            return true
        }
        // A row that was there before only goes again.
        let isNew = try records.changes(of: change.row, after: 0, before: number, max: 1).isEmpty
        if isNew, let other = try reader.author(ofSameAs: devices, in: change.row) {
            leave(change.row, nil, .changedSince, by: other)
            return true
        }
        var isReferredTo = false
        for reference in user.tracked.referrers {
            for child in try rows(reference, to: change.row.id) where child != change.row {
                isReferredTo = isReferredTo || inserted.contains(child)
                if inserted.contains(child) { continue }
                leave(change.row, nil, .isReferredTo, by: try lastAuthor(of: child, column: nil, after: number))
                return true
            }
        }
        if isReferredTo { return false }
        do {
            try attempt { try user.delete(found.row, id: change.row.id) }
            note(change.row, user.tracked.sqlName)
        } catch let error as StoreError where error.code == .valueRejected {
            leave(change.row, nil, .refused(error.message), by: nil)
        }
        return true
    }

    /// Removes rows to which none but each other refer. Returns `false` if it does not.
    private mutating func removeCircles(_ changes: [JournalChange]) throws -> Bool {
        try atOnce { reversion in
            for change in changes {
                guard let (_, user) = reversion.table(change.row), let found = try user.find(change.row.id) else { continue }
                try user.delete(found.row, id: change.row.id)
                reversion.note(change.row, user.tracked.sqlName)
            }
            return true
        }
    }

    /// The rows that refer to one.
    func rows(_ reference: Reference, to id: RowID) throws -> [RowKey] {
        guard let child = state.ledger.catalog.tracked(reference.child) else { return [] }
        let select = try state.ledger.connection.statement(
            "SELECT \(quoted(child.key)) FROM \(child.mainName) WHERE \(reference.name) = ? LIMIT 1000")
        select.bind(1, id, as: reference.parentForm)
        var rows: [RowKey] = []
        while try select.step() { rows.append(RowKey(table: reference.child, id: try select.rowID(0, as: child.form))) }
        return rows
    }

    // MARK: Columns

    private mutating func update(_ change: JournalChange, after number: Int64) throws {
        guard let (table, user) = table(change.row) else { return }
        guard let found = try user.find(change.row.id) else {
            let refusal = try RefusedRows(connection: state.ledger.connection).message(of: change.row)
            let reason: UndoReport.Left.Reason = refusal.map { .refused($0) } ?? .deletedSince
            return leave(change.row, nil, reason, by: try lastAuthor(of: change.row, column: nil, after: number))
        }
        var assignments: [Assignment] = []
        for (column, content) in change.columns {
            let name = table.columns[column].sqlName
            guard let place = user.tracked.columns.firstIndex(of: column) else {
                let former = String(decoding: table.columns[column].key.name, as: UTF8.self)
                leave(change.row, name ?? former, .refused("The column is gone, or of another kind now."), by: nil)
                continue
            }
            var after: [UInt8]?
            if user.tracked.kinds[place] == .text {
                var past =
                    pasts[change.row]?.removeValue(forKey: column)
                    ?? TextPast(found.values[place], before: broughtBack[change.row] ?? .max)
                if case .splice = content { after = try past.text(of: change.row, column, after: number, records) }
                pasts[change.row, default: [:]][column] = past
            }
            if let values = try values(content, user, place, shown: found.values[place], after: after) {
                assignments.append(Assignment(column: name, name: user.tracked.names[place], values: values))
            } else {
                leave(change.row, name, .changedSince, by: try lastAuthor(of: change.row, column: column, after: number))
            }
        }
        let refused = try write(assignments.filter { !$0.values.isEmpty }, user, found.row)
        for (assignment, why) in refused { leave(change.row, assignment.column, .refused(why), by: nil) }
        if refused.count < assignments.count { note(change.row, user.tracked.sqlName) }
    }

    /// Writes columns at once, since a rule of the table may tie them together; if it refuses that, one after the other.
    ///
    /// - Returns: those that are refused, and why.
    private func write(_ assignments: [Assignment], _ user: UserTable, _ row: Int64) throws -> [(Assignment, String)] {
        if assignments.isEmpty { return [] }
        do {
            try attempt {
                let update = try state.ledger.connection.passingStatement(
                    "UPDATE \(user.tracked.mainName) SET \(assignments.map(\.sql).joined(separator: ", ")) WHERE rowid = ?")
                let values = assignments.flatMap(\.values)
                for (index, value) in values.enumerated() { update.bind(Int32(index + 1), value) }
                update.bind(Int32(values.count + 1), row)
                try update.run()
            }
            return []
        } catch let error as StoreError where error.code == .valueRejected {
            if assignments.count == 1 { return [(assignments[0], error.message)] }
            return try assignments.flatMap { try write([$0], user, row) }
        }
    }

    /// What a column is to hold so that a change of it is taken back.
    ///
    /// - Parameter after: what a text said right after the change; `nil` if that cannot be told.
    /// - Returns: as ``Assignment/values``; `nil` if the column shows something else by now, which would be lost.
    private func values(
        _ content: JournalChange.Content, _ user: UserTable, _ place: Int, shown: ColumnValue, after: [UInt8]?
    ) throws -> [ColumnValue]? {
        switch (user.tracked.kinds[place], content) {
        case (.text, .splice(let start, let removed, let inserted)):
            guard let after, start + inserted.count <= after.count,
                Array(after[start..<start + inserted.count]) == inserted
            else { return nil }
            let before = Array(after[..<start]) + removed + Array(after[(start + inserted.count)...])
            return [.text(before), .text(after)]
        case (.counter, .values(let old, let new)): return [.integer(shown.integer &- (new.integer &- old.integer))]
        case (.set, .values(let old, let new)):
            let connection = state.ledger.connection
            let (before, after) = (try SetText.elements(of: old, connection), try SetText.elements(of: new, connection))
            var elements = try SetText.elements(of: shown, connection).filter { before.contains($0) || !after.contains($0) }
            elements += before.filter { !after.contains($0) && !elements.contains($0) }
            return [.text(SetText.text(of: SetState.distinct(elements)))]
        case (_, .values(let old, let new)):
            if shown == old { return [] }
            return shown == new ? [old] : nil
        case (_, .splice): return nil
        }
    }

    /// Runs `body`, of which nothing stays if it fails. What a rule of the app's table forbids is `valueRejected`.
    private func attempt<Result>(_ body: () throws -> Result) throws -> Result {
        var result: Result?
        try db.inSavepoint {
            try StoreError.rejectingValue { result = try body() }
            return .commit
        }
        guard let result else { throw StoreError(.failed, "Nothing was changed.") }
        return result
    }
}
