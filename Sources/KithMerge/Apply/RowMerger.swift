import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// Merges row parts into the store, one at a time, within the transaction of a slice.
package struct RowMerger {
    package let ledger: RowLedger
    package let clock: CommitClock
    /// Who this store is.
    package let own: ReplicaID
    /// What the receiver knows, before the delta.
    package let vector: VersionVector
    /// What it will know when the transaction ends. A row that knows more keeps that as its context.
    package let vectorAfter: VersionVector
    /// A listing under way: what it has passed is known as of its vector, absent or not.
    package let listed: Resumption?
    /// The device that brings what is merged; `nil` if that is not known.
    package var device: [UInt8]?
    let losses = LossCount()

    package init(
        ledger: RowLedger, clock: CommitClock, own: ReplicaID, vector: VersionVector, vectorAfter: VersionVector, listed: Resumption?
    ) {
        self.ledger = ledger
        self.clock = clock
        self.own = own
        self.vector = vector
        self.vectorAfter = vectorAfter
        self.listed = listed
    }

    /// What the store holds of a row.
    package struct Held {
        package var state = RowState()
        package var context: Int64?
        package var visible: (row: Int64, values: [ColumnValue])?
        package var hidden: HiddenRow?

        package init(
            state: RowState = RowState(), context: Int64? = nil, visible: (row: Int64, values: [ColumnValue])? = nil,
            hidden: HiddenRow? = nil
        ) {
            self.state = state
            self.context = context
            self.visible = visible
            self.hidden = hidden
        }

        var dots: [Dot] { state.liveDots }
        /// Whether nothing is left that garbage collection would have taken.
        var isBare: Bool { visible == nil && state.isBare }
        /// Whether a rule of the app may have refused what was merged before.
        var mayBeRefused: Bool { visible == nil ? hidden?.reason.isRefusal == true : !state.tombstones.isEmpty }
    }

    /// - Parameters:
    ///   - part: with column numbers of this store; empty for a row that the sender does not hold.
    ///   - isCut: whether the sender has cells of the row that are not in the part.
    ///   - isListed: whether the part has all that the sender holds of the row, and what it lacks is gone.
    ///   - incomplete: columns whose cells the sender may lack although nobody has removed them.
    ///   - theirs: what the sender knew of the row.
    /// - Returns: `false` if the row was collected here and now more than the part is needed. Then the transaction must not stay.
    func merge(
        _ part: RowState, isCut: Bool, isListed: Bool = false, incomplete: [Int], into tableNumber: Int, id: RowID,
        theirs: VersionVector
    ) throws -> Bool {
        guard let table = ledger.catalog[tableNumber] else { return true }
        let held = try find(table, id)
        // A row that is shown although no commit of it is known: nobody else can tell that it was deleted.
        if part.isEmpty, held.visible != nil, held.state.isEmpty { return true }
        var known = vector
        if let listed, SlicePosition(table: table.name, row: id) <= listed.position { known.join(listed.vector) }
        var state = held.state
        state.context = try ledger.contextVector(held.context)
        let mine = known.joined(with: state.context)
        var part = part
        if mine.covers(part.clock) {
            // The row comes once more, from somebody who has not heard that all of it was known here. If it was collected, or was deleted and
            // written anew, what it says was forgotten, and counts no more.
            if !part.tombstones.isEmpty, held.visible != nil, held.state.tombstones.isEmpty { return true }
            if held.isBare { part.cells.removeAll { $0.isCollectable } }
        }
        let carrying = RegistersMadeTexts(table)
        let carried = carrying?.carryOver(&part, beside: held.state) ?? []
        // Of a column that was a register, the sender may hold that alone.
        let left = try TextCells(ledger).leaveCollected(
            &state, with: &part, isListed: isListed, isCut: isCut || carrying != nil, incomplete: incomplete,
            theirs: theirs, table: tableNumber, id: id)
        if held.state.hasTombstonesForgotten(by: part, knowing: theirs) {
            if !left.isEmpty || held.state.hasContentForgotten(by: part, knowing: theirs) { try keepFloor(of: held.state) }
        }
        if !held.isBare, carrying == nil {
            try TextCells(ledger).leaveKnown(
                in: &part, of: state, leaving: left, knowing: mine, theirs: theirs, table: tableNumber)
        }
        try TextCells(ledger).spellOut(&state, with: &part, table: tableNumber, id: id)
        state.merge(
            part, isWhole: !isCut, isListed: isListed && !isCut, incomplete: incomplete, knowing: known, theirs: theirs)
        let dropped = try TextCells(ledger).forget(held.state, unlessIn: state, leaving: left, table: tableNumber, id: id)
        try noteWhatGoes(fromTextsOf: held, left.merging(dropped) { $1 }, table, id)
        try TextCells(ledger).settle(&state, table: tableNumber, id: id)
        try carrying?.settle(carried, in: &state, id: id, TextCells(ledger), knowing: theirs) { try clock.stamp(ledger.catalog).stamp }
        let told = state
        if held.isBare || part.isBare, state.isVisible(table.deletePolicy) {
            if isCut {
                if held.isBare { return false }
            } else {
                try mend(&state, table, id, held, part, incomplete, mine: mine, theirs: theirs)
            }
        }
        try TextCells(ledger).forgetGone(held.state, from: state, table: tableNumber, id: id)
        let merged = state
        if let tracked = table.tracked, state.isVisible(tracked.deletePolicy) { try fold(&state) }
        try condense(&state, table)
        try noteWhatGoes(fromSetsOf: held, merged, table, id, in: state)
        if isListed { try noteWhatGoes(fromFoundSetsOf: held, table, id, in: merged) }
        for (before, after) in [(held.state, merged), (merged, state)] where before != after {
            try SupersededValues(ledger: ledger).note(
                before, after, tableNumber, id, nowMilliseconds: clock.wallClockMilliseconds)
        }
        state.context.join(theirs)
        if vectorAfter.covers(state.context) { state.context = VersionVector() }
        try save(state, table, id, held)
        // Later than the deletion, if there is one: what went last counts in the trash.
        try noteWhatGoes(of: held, told, table, id, in: state)
        return true
    }

    /// What was merged is complete: writes down how much of it went.
    package func finish() throws {
        try losses.note(ledger, bringer: device, nowMilliseconds: clock.wallClockMilliseconds)
    }

    /// Shows a row that was kept until the schema knew it, or whatever the app's table now allows to be shown of it.
    ///
    /// - Parameters:
    ///   - columns: those that the app's table has only now; what their clocks hold is written there.
    ///   - found: cells of what stands there now, to be kept beside that.
    package func settle(
        _ tableNumber: Int, _ id: RowID, revealing columns: [Int] = [],
        beside found: (RowState, StoredRow, (row: Int64, values: [ColumnValue])) throws -> RowState = { _, _, _ in RowState() }
    ) throws {
        guard let table = ledger.catalog[tableNumber] else { return }
        let held = try find(table, id)
        var state = held.state
        if let visible = held.visible, let stored = try ledger.storedRow(tableNumber, row: visible.row) {
            state.reveal(columns, of: stored)
            try adopt(found(state, stored, visible), into: &state, tableNumber, id)
        }
        state.context = try ledger.contextVector(held.context)
        try save(state, table, id, held)
    }

    /// Takes cells that were found into a row. A found cell supersedes no write, and goes only if somebody has replaced the same content.
    package func adopt(_ found: RowState, into state: inout RowState, _ table: Int, _ id: RowID) throws {
        if found.cells.isEmpty { return }
        var part = found
        let (nothing, texts) = (VersionVector(), TextCells(ledger))
        try texts.fill(&part, table: table, id: id, unknownTo: nothing)
        try texts.spellOut(&state, with: &part, table: table, id: id)
        state.merge(part, knowing: nothing, theirs: nothing)
        try texts.settle(&state, table: table, id: id)
    }

    /// Makes the store hold `state`, whose context says what it must keep.
    package func save(_ state: RowState, _ table: CatalogTable, _ id: RowID, _ held: Held) throws {
        try write(state, table, id, held)
        // The digest looks for new commits. If all of a changed row were known, as when a text's turn comes, the merge tells it.
        if state.cells != held.state.cells || state.tombstones != held.state.tombstones, isKnown(state) {
            try DigestLedger(ledger: ledger).reread([SlicePosition(table: table.name, row: id)])
        }
    }

    private func write(_ state: RowState, _ table: CatalogTable, _ id: RowID, _ held: Held) throws {
        let context = try ledger.context(for: state.context)
        var bare = state
        bare.context = VersionVector()
        if let tracked = table.tracked, state.isVisible(tracked.deletePolicy) {
            if let key = tracked.naturalKey, !key.names(id, showing: state.shownValues(tracked)) {
                let message = "Its id does not follow from its key: its author has declared no key, or another one."
                return try refuse(bare, table, id, held, context, message, reason: .wrongKey)
            }
            return try showUnlessRefused(bare, table, tracked, id, held, context)
        }
        let reason: HiddenReason = state.isEmpty ? .contextOnly : table.tracked == nil ? .unknownTable : .deleted
        try hide(bare, table, id, held, context, reason)
    }

    /// Whether no commit lives in a row that was not known before.
    private func isKnown(_ state: RowState) -> Bool { state.liveDots.allSatisfy(vector.covers) }

    package func show(
        _ state: RowState, _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ id: RowID, _ held: Held, _ context: Int64?,
        isRefused: Bool = false
    ) throws {
        let user = UserTable(connection: ledger.connection, table: table, tracked: tracked)
        let values = state.shownValues(tracked)
        ledger.touch(table.number, id)
        if isKnown(state), held.visible?.values != values || state != held.state { try ledger.noteSilentChange(table.number, id) }
        ledger.noteForJournal(table.number, id, shown: held.visible?.values, from: held.dots, to: state.liveDots)
        if held.mayBeRefused, !isRefused {
            try RefusedRows(connection: ledger.connection).forget(RowKey(table: table.number, id: id))
        }
        let row: Int64
        if let visible = held.visible {
            row = visible.row
            try user.update(row, from: visible.values, to: values)
        } else {
            row = try user.insert(id, values)
        }
        if tracked.isRelated { try references.stopWaiting(RowKey(table: table.number, id: id)) }
        if let hidden = held.hidden { try ledger.removeHidden(hidden.number) }
        if state == held.state, held.visible != nil, context == held.context { return }
        let stored = StoredRow(state, table, tracked, context: context)
        try ledger.save(stored, table.number, row: row, id: id)
        try ledger.reindex(table.number, from: held.dots, at: reference(held), to: state.liveDots, at: row)
    }

    /// Shows a row, unless a rule of the app is against it: then it is kept, and shown once the rule allows it.
    func showUnlessRefused(
        _ state: RowState, _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ id: RowID, _ held: Held, _ context: Int64?
    ) throws {
        let key = RowKey(table: table.number, id: id)
        if let message = ledger.refusals[key] { return try refuse(state, table, id, held, context, message, ends: true) }
        do {
            try show(state, table, tracked, id, held, context)
        } catch let error as SQLiteError where error.isConstraint && !error.isForeignKey {
            try refuse(state, table, id, held, context, error.message)
        } catch let error as TransactionRefused {
            throw TransactionRefused(message: error.message, row: key)
        }
    }

    private func refuse(
        _ state: RowState, _ table: CatalogTable, _ id: RowID, _ held: Held, _ context: Int64?, _ message: String,
        reason: HiddenReason = .refused, ends: Bool = false
    ) throws {
        try hide(state, table, id, held, context, reason)
        try note(RowKey(table: table.number, id: id), message, ends: ends)
    }

    private func note(_ row: RowKey, _ message: String, ends: Bool) throws {
        try RefusedRows(connection: ledger.connection).note(
            row, message, ends: ends, sinceMilliseconds: clock.wallClockMilliseconds)
    }

    /// Takes a row out of the app's table, as far as the app's rules allow it.
    ///
    /// - Returns: why they do not allow a deletion; a row that could not be shown as it is goes without their being asked.
    private func remove(_ visible: Int64, _ user: UserTable, _ key: RowKey, mayStay: Bool) throws -> (why: String, ends: Bool)? {
        if let message = ledger.refusals[key], mayStay { return (message, true) }
        do {
            if ledger.refusals[key] == nil {
                try user.delete(visible, id: key.id)
                return nil
            }
        } catch let error as SQLiteError where error.isConstraint && !error.isForeignKey {
            if mayStay { return (error.message, false) }
        } catch let error as TransactionRefused {
            throw TransactionRefused(message: error.message, row: key)
        }
        try ledger.connection.withoutTriggers { try user.delete(visible, id: key.id) }
        return nil
    }

    /// A rule of the app refuses the deletion of a row: it is shown as it was merged, and stays deleted for everybody else.
    private func keepShown(
        _ state: RowState, _ table: CatalogTable, _ tracked: CatalogTable.Tracked, _ id: RowID, _ held: Held, _ context: Int64?,
        _ refusal: (why: String, ends: Bool)
    ) throws -> Bool {
        do {
            try show(state, table, tracked, id, held, context, isRefused: true)
        } catch let error as SQLiteError where error.isConstraint && !error.isForeignKey {
            return false
        } catch let error as TransactionRefused {
            throw TransactionRefused(message: error.message, row: RowKey(table: table.number, id: id))
        }
        try note(RowKey(table: table.number, id: id), refusal.why, ends: refusal.ends)
        return true
    }

    /// - Parameter mayStay: whether a rule of the app may refuse the deletion of the row, so that it stays shown.
    package func hide(
        _ state: RowState, _ table: CatalogTable, _ id: RowID, _ held: Held, _ context: Int64?, _ reason: HiddenReason,
        mayStay: Bool = true
    ) throws {
        if table.tracked?.isRelated == true { try references.note(RowKey(table: table.number, id: id)) }
        if isKnown(state), held.visible != nil || state != held.state { try ledger.noteSilentChange(table.number, id) }
        if let visible = held.visible, let tracked = table.tracked {
            if !tracked.referrers.isEmpty, ledger.connection.obeysForeignKeys { throw SQLiteError.foreignKey }
            let key = RowKey(table: table.number, id: id)
            let user = UserTable(connection: ledger.connection, table: table, tracked: tracked)
            ledger.touch(table.number, id)
            ledger.noteForJournal(table.number, id, shown: visible.values, from: held.dots, to: state.liveDots)
            if let refusal = try remove(visible.row, user, key, mayStay: mayStay && reason == .deleted) {
                if try keepShown(state, table, tracked, id, held, context, refusal) { return }
                try ledger.connection.withoutTriggers { try user.delete(visible.row, id: id) }
            }
            try ledger.removeClocks(table.number, row: visible.row)
        }
        if held.mayBeRefused, !reason.isRefusal {
            try RefusedRows(connection: ledger.connection).forget(RowKey(table: table.number, id: id))
        }
        if held.state.hasTexts, !state.hasTexts { try TextArchive(ledger: ledger).forget(table: table.number, id: id) }
        // Nothing is left that could tell the digest of it.
        if state.isEmpty { try DigestLedger(ledger: ledger).forget([(table: table.number, id: id)]) }
        if state.isEmpty, context == nil {
            if let hidden = held.hidden { try ledger.removeHidden(hidden.number) }
            try ledger.reindex(table.number, from: held.dots, at: reference(held), to: [], at: 0)
            return
        }
        let hidden = HiddenRow(number: 0, state: state, context: context, reason: reason)
        let number = try ledger.save(hidden, table.number, id: id, sinceMilliseconds: clock.wallClockMilliseconds)
        try ledger.reindex(table.number, from: held.dots, at: reference(held), to: state.liveDots, at: -number)
    }

    /// Makes room in cells that have gathered too many alternatives.
    private func fold(_ state: inout RowState) throws {
        for index in state.cells.indices {
            guard case .register(var register) = state.cells[index].cell, register.writes.count > SupersededValues.alternativesMax,
                register.isToBeFolded(by: own)
            else { continue }
            register.fold(try clock.stamp(ledger.catalog).stamp)
            state.cells[index].cell = .register(register)
            state.tombstones = []
        }
    }

    /// Makes room in a row that no record and no frame would carry.
    func condense(_ state: inout RowState, _ table: CatalogTable) throws {
        try state.condense(policy: table.deletePolicy) { try clock.stamp(ledger.catalog).stamp }
    }

    /// One side has collected the row, and the other brings it back with a write that did not know of the deletion. What the
    /// first side has forgotten is written anew by this replica, so that it reaches everybody; where deletions win, so does this one.
    private func mend(
        _ state: inout RowState, _ table: CatalogTable, _ id: RowID, _ held: Held, _ part: RowState, _ incomplete: [Int],
        mine: VersionVector, theirs: VersionVector
    ) throws {
        guard held.isBare != part.isBare else { return }
        let (full, forgetful) = held.isBare ? (part, mine) : (held.state, theirs)
        let forgotten = full.content.filter { $0.cell.isForgotten(by: forgetful, leaving: state[$0.column]) }
        // A sender without cells of a column that its app let go of need not have collected the row.
        if forgotten.allSatisfy({ !held.isBare && incomplete.contains($0.column) }) { return }
        let stamp = try clock.stamp(ledger.catalog).stamp
        for entry in forgotten {
            guard case .text(var text)? = state[entry.column] else { continue }
            let key = TextKey(table: table.number, id: id, column: entry.column)
            try TextCells(ledger).restart(with: text.shown.utf8, in: &text, at: key, stamp)
            state[entry.column] = .text(text)
        }
        for entry in forgotten { state[entry.column] = entry.cell.written(again: stamp, forgetting: forgetful, into: state[entry.column]) }
        state.tombstones = table.deletePolicy == .deleteWins ? [Tombstone(dot: stamp.dot, seen: state.clock)] : []
    }

    package func find(_ table: CatalogTable, _ id: RowID) throws -> Held {
        var held = Held()
        if let tracked = table.tracked,
            let found = try UserTable(connection: ledger.connection, table: table, tracked: tracked).find(id)
        {
            guard let stored = try ledger.storedRow(table.number, row: found.row) else {
                throw StoreError(.corrupt, "A row of \(tracked.sqlName) has no clocks. Verify the store.")
            }
            held.state = try stored.state(tracked, values: found.values) { try SetText.elements(of: $0, ledger.connection) }
            held.context = stored.context
            held.visible = found
        } else if let hidden = try ledger.hiddenRow(table.number, id) {
            held.state = hidden.state
            held.context = hidden.context
            held.hidden = hidden
        }
        return held
    }

    private var references: ReferenceRecords { ReferenceRecords(connection: ledger.connection) }

    private func reference(_ held: Held) -> RowReference {
        held.visible?.row ?? held.hidden.map { -$0.number } ?? 0
    }
}

extension CatalogTable {
    /// What becomes of an edit that did not know of a deletion; for a table of another schema, as long as nobody knows better, it counts.
    fileprivate var deletePolicy: DeletePolicy { tracked?.deletePolicy ?? .updateWins }
}

extension RowState {
    package var hasTexts: Bool {
        cells.contains { if case .text = $0.cell { true } else { false } }
    }
}
