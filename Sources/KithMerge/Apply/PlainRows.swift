import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Takes the row parts of one table that need no merge, and does what ``RowMerger`` would do with them without reading what
/// they leave as it is.
///
/// Nearly all that travels is one of two kinds: a row that one commit has written whole and nobody here has met, and newer
/// writes of registers, each of which supersedes the only one there. Everything else is declined.
final class PlainRows {
    private let ledger: RowLedger
    private let table: CatalogTable
    private let tracked: CatalogTable.Tracked
    /// For each column of the slice's table this store's number.
    private let columns: [Int]
    /// For each column of the store its place among the tracked ones.
    private var places: [Int?]
    /// What this store knows, and what the sender does.
    private let known: VersionVector
    private let theirs: VersionVector
    /// Whether rows come before the vector knows of them, and refer to ``context``, which is made for the first of them.
    private let isAhead: Bool
    private var ownContext: Int64?
    private let mergesTexts: Bool
    /// The context that the last row referred to.
    private var lastContext: (number: Int64, isLive: Bool)?

    // Statements at hand.
    private let find: PreparedStatement
    private let saveClocks: PreparedStatement
    private var insertion: (columns: Int, statement: PreparedStatement)?
    /// By the places of what they write, as bits.
    private var updates: [UInt64: PreparedStatement] = [:]
    private static let updatesMax = 32

    /// For each table of a slice, who takes its plain rows, if there can be any.
    static func ofTables(_ tables: [LocalTable], _ merger: RowMerger, theirs: VersionVector) throws -> [PlainRows?] {
        // A listing knows more of some rows than of others.
        guard merger.listed == nil else { return tables.map { _ in nil } }
        let isAhead = !merger.vectorAfter.covers(theirs)
        return try tables.map { try PlainRows($0, merger, theirs, isAhead: isAhead) }
    }

    private init?(_ local: LocalTable, _ merger: RowMerger, _ theirs: VersionVector, isAhead: Bool) throws {
        guard let table = merger.ledger.catalog[local.number], let tracked = table.tracked, tracked.naturalKey == nil, !tracked.isRelated,
            !merger.ledger.connection.rulesMayRaise, zip(local.columns, local.columns.dropFirst()).allSatisfy({ $0 < $1 }),
            RegistersMadeTexts(table) == nil
        else { return nil }
        ledger = merger.ledger
        self.table = table
        self.tracked = tracked
        columns = local.columns
        known = merger.vector
        self.theirs = theirs
        self.isAhead = isAhead
        places = Array(repeating: nil, count: table.columns.count)
        for (place, column) in tracked.columns.enumerated() { places[column] = place }
        mergesTexts = try tracked.kinds.contains(.text) && TextCells(ledger).hasAside(table: table.number)
        find = try ledger.connection.statement(
            """
            SELECT n.rowid, c.replica, c.sequence, c.timestamp, c.columns, c.exceptions, c.context
            FROM \(tracked.mainName) n CROSS JOIN \(ClockTable.name(table.number)) c ON c.row = n.rowid WHERE n.\(quoted(tracked.key)) = ?
            """)
        saveClocks = try ClockTable(ledger.connection, table.number).saving()
    }

    /// Whether `part`, with the slice's numbers of columns, was taken; if not, nothing has changed.
    func take(_ part: RowPart) throws -> Bool {
        guard part.state.context.isEmpty, part.state.tombstones.isEmpty, !part.state.cells.isEmpty else { return false }
        return try part.isCut ? update(part) : insert(part)
    }

    /// What rows refer to that are ahead of the vector. One that no row referred to would never be dropped.
    private func context() throws -> Int64? {
        if isAhead, ownContext == nil { ownContext = try ledger.context(for: theirs) }
        return ownContext
    }

    /// Writes the app's table, unless a rule of the app refuses it.
    private func isAccepted(_ write: PreparedStatement, of row: MergedRow, _ id: RowID) throws -> Bool {
        do {
            try ledger.connection.writingRow(row) { () throws(SQLiteError) in try write.run() }
        } catch {
            guard error.asRefusalOfRow.isConstraint else { throw error }
            if ledger.connection.isOutsideTransaction {
                throw TransactionRefused(message: error.message, row: RowKey(table: table.number, id: id))
            }
            return false
        }
        return ledger.connection.changedRowCount == 1
    }

    // MARK: Rows that are new

    private func insert(_ part: RowPart) throws -> Bool {
        let cells = part.state.cells
        guard let stamp = part.state.commonStamp, !known.covers(stamp.dot), cells.count <= columns.count,
            try ledger.hiddenRow(table.number, part.id) == nil
        else { return false }
        if ledger.connection.firesTriggers {
            // An insertion that fails would have fired triggers.
            find.bind(1, part.id, as: tracked.form)
            defer { find.reset() }
            if try find.step() { return false }
        }
        guard let insert = try insertion(of: cells.count) else { return false }
        insert.bind(1, part.id, as: tracked.form)
        for (index, entry) in cells.enumerated() {
            guard entry.column < columns.count, columns[entry.column] == index,
                let value = entry.cell.value(writtenBy: stamp, mergesTexts: mergesTexts)
            else { return false }
            insert.bind(Int32(index + 2), value)
        }
        guard try isAccepted(insert, of: .new(table: table.number, id: part.id), part.id) else { return false }
        ledger.touch(table.number, part.id)
        ledger.noteForJournal(table.number, part.id, shown: nil, from: [], to: [stamp.dot])
        try noteClocks(part.id, row: ledger.connection.lastInsertedRow, stamp, columns: cells.count)
        return true
    }

    private func noteClocks(_ id: RowID, row: Int64, _ stamp: Stamp, columns: Int) throws {
        let replica = try ledger.number(of: stamp.dot.replica)
        saveClocks.bind(1, row)
        saveClocks.bind(2, id)
        saveClocks.bind(3, replica)
        saveClocks.bind(4, Int64(bitPattern: stamp.dot.sequence))
        saveClocks.bind(5, Int64(bitPattern: stamp.markedTimestamp))
        saveClocks.bind(6, columns)
        saveClocks.bindNull(7)
        if let context = try context() { saveClocks.bind(8, context) } else { saveClocks.bindNull(8) }
        try saveClocks.run()
        try ledger.index(stamp.dot, replica: replica, table.number, row)
    }

    /// Inserts the key and the first `count` columns; a row that is there stays as it is.
    private func insertion(of count: Int) throws -> PreparedStatement? {
        if let insertion, insertion.columns == count { return insertion.statement }
        guard count <= places.count else { return nil }
        let present = places[..<count].compactMap(\.self)
        guard present.count == count else { return nil }
        let names = [quoted(tracked.key)] + present.map { tracked.names[$0] }
        let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
        let statement = try ledger.connection.passingStatement(
            """
            INSERT INTO \(tracked.mainName) (\(names.joined(separator: ", "))) VALUES (\(marks))
            ON CONFLICT (\(quoted(tracked.key))) DO NOTHING
            """)
        insertion = (count, statement)
        return statement
    }

    // MARK: Registers that are written anew

    private func update(_ part: RowPart) throws -> Bool {
        // A journal needs what the row showed before.
        if ledger.journal?.keeps(table.number) == true { return false }
        guard case (let row, var stored)? = try clocks(of: part.id), try !isLive(stored.context),
            stored.exceptions.tombstones.isEmpty
        else { return false }
        let before = stored.liveDots
        var changed: [Int] = []
        for entry in part.state.cells {
            guard entry.column < columns.count, let place = places[columns[entry.column]],
                case .register(let register) = entry.cell, register.writes.count == 1, register.isPlain,
                supersedes(register.writes[0].stamp.dot, stored.register(columns[entry.column]))
            else { return false }
            changed.append(place)
            stored.exceptions[columns[entry.column]] = .register(
                RegisterState(writes: [Write(stamp: register.writes[0].stamp, value: .null)]))
        }
        let update = try self.update(of: changed)
        for (index, entry) in part.state.cells.enumerated() {
            guard case .register(let register) = entry.cell else { return false }
            update.bind(Int32(index + 1), register.writes[0].value)
        }
        update.bind(Int32(changed.count + 1), row)
        guard try isAccepted(update, of: .shown(table: table.number, row: row), part.id) else { return false }
        ledger.touch(table.number, part.id)
        stored.context = try context()
        try ledger.save(stored, table.number, row: row, id: part.id)
        try ledger.reindex(table.number, from: before, at: row, to: stored.liveDots, at: row)
        return true
    }

    private func clocks(of id: RowID) throws -> (row: Int64, stored: StoredRow)? {
        find.bind(1, id, as: tracked.form)
        guard try find.step() else { return nil }
        defer { find.reset() }
        return (find.integer(0), try ledger.storedRow(find, at: 1, table: table.number))
    }

    /// Whether a row that refers to `context` is ahead of the vector; most that refer to one no longer are.
    private func isLive(_ context: Int64?) throws -> Bool {
        guard let context else { return false }
        if let lastContext, lastContext.number == context { return lastContext.isLive }
        let isLive = try !ledger.contextVector(context).isEmpty
        lastContext = (context, isLive)
        return isLive
    }

    /// Whether the write `dot` takes the place of all that `held` has.
    private func supersedes(_ dot: Dot, _ held: RegisterState) -> Bool {
        if known.covers(dot) || held.writes.count > 1 || !held.isPlain { return false }
        guard let old = held.writes.first?.stamp.dot else { return true }
        return old != dot && theirs.covers(old)
    }

    private func update(of places: [Int]) throws -> PreparedStatement {
        let bits = places.reduce(0 as UInt64) { $0 | 1 << UInt64($1) }
        if let known = updates[bits] { return known }
        let statement = try UserTable(connection: ledger.connection, table: table, tracked: tracked).update(of: places)
        if updates.count >= Self.updatesMax { updates.removeAll() }
        updates[bits] = statement
        return statement
    }
}

extension RegisterState {
    /// Whether nothing in it was adopted.
    fileprivate var isPlain: Bool { replaced.isEmpty && !writes.contains(where: \.stamp.isAdopted) }
}

extension RowState {
    /// The stamp of the first write that has one.
    fileprivate var commonStamp: Stamp? {
        for entry in cells {
            switch entry.cell {
            case .register(let state): return state.writes.first?.stamp
            case .text(let state):
                if let found = state.adopted?.documents.first?.found { return found }
                if let change = state.changes.first { return change.stamp }
            case .set, .counter: break
            }
        }
        return nil
    }
}

extension TextState {
    /// What the cell shows, if it is what one commit has found and nobody has changed since.
    fileprivate func value(foundBy stamp: Stamp) -> ColumnValue? {
        var shown = self
        shown.document = adopted?.documents.first?.number ?? 0
        guard shown.isWhole(foundBy: stamp) else { return nil }
        if shown.document == 0 { return changes.isEmpty ? .null : nil }
        if changes.isEmpty { return shown.document == Self.documentNumber(of: []) ? .text([]) : nil }
        guard changes.count == 1, changes[0].isRoot, changes[0].isNamedByContent, changes[0].document == shown.document else { return nil }
        return .text(changes[0].inserted)
    }
}

extension Cell {
    /// What the cell shows, if it is what one commit has written and nobody has changed since.
    fileprivate func value(writtenBy stamp: Stamp, mergesTexts: Bool) -> ColumnValue? {
        switch self {
        case .register(let state):
            guard state.writes.count == 1, state.writes[0].stamp == stamp, state.replaced.isEmpty else { return nil }
            return state.writes[0].value
        case .set(let state):
            let members = state.members
            guard state.isWhole(writtenBy: stamp), members.count <= WireLimits.setElementsMax else { return nil }
            return .text(SetText.text(of: members))
        case .counter(let state):
            return state.isWhole(writtenBy: stamp) ? .integer(state.value) : nil
        case .text(let state):
            guard !mergesTexts else { return nil }
            if stamp.isAdopted { return state.value(foundBy: stamp) }
            guard state.adopted == nil, state.touched.entries == [stamp.dot] else { return nil }
            if state.changes.isEmpty { return state.present.isEmpty ? .null : state.present == [stamp.dot] ? .text([]) : nil }
            guard state.changes.count == 1, state.present == [stamp.dot], state.changes[0].stamp == stamp, state.changes[0].insertsWholeText
            else { return nil }
            return .text(state.changes[0].inserted)
        }
    }
}
