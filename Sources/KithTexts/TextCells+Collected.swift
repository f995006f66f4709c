import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

/// Texts of rows that were collected, here or by the sender of a row, and whose ids may have been used again.
extension TextCells {
    /// Lets go of the histories of texts in `old` that a merge has dropped, because the sender of the row had collected it.
    ///
    /// - Parameter left: columns of which ``leaveCollected`` has let the history go already.
    /// - Returns: for each other column from which something goes, its latest edit until now.
    package func forget(
        _ old: RowState, unlessIn state: RowState, leaving left: [Int: Stamp], table: Int, id: RowID
    ) throws -> [Int: Stamp] {
        var going: [Int: Stamp] = [:]
        for entry in old.cells {
            // A cell that is gone altogether may yet be written again from its history, when the row is mended.
            guard case .text(let before) = entry.cell, case .text(let after)? = state[entry.column],
                !after.touched.covers(before.touched) || after.lacksAllFound(in: before)
            else { continue }
            let key = TextKey(table: table, id: id, column: entry.column)
            if left[entry.column] == nil { going[entry.column] = try lastChange(of: before, at: key) }
            try archive.forgetCell(key)
        }
        return going
    }

    /// Lets go of the histories of texts in `old` whose cells are gone from the row, and were not written again from them.
    package func forgetGone(_ old: RowState, from state: RowState, table: Int, id: RowID) throws {
        for entry in old.cells where state[entry.column] == nil {
            if case .text = entry.cell { try archive.forgetCell(TextKey(table: table, id: id, column: entry.column)) }
        }
    }

    /// Lets go of what the sender of `part` had collected of the texts of a row, where the merge of cells would let go of too much or too
    /// little: where authors of the text have used its id again, or other changes stand beside what was collected.
    ///
    /// - Parameters:
    ///   - isListed: whether `part` comes in a listing. If not, or if it is cut, only of a row that was deleted here can be told what was
    ///     collected, and of an empty text whose author begins it anew.
    ///   - isCut: whether the sender may have more of the row than it sends.
    ///   - incomplete: columns of which the sender may lack what no device has removed.
    /// - Returns: for each column from which something goes, its latest edit until now.
    package func leaveCollected(
        _ state: inout RowState, with part: inout RowState, isListed: Bool, isCut: Bool, incomplete: [Int], theirs: VersionVector,
        table: Int, id: RowID
    ) throws -> [Int: Stamp] {
        let isCollected = state.hasTombstonesForgotten(by: part, knowing: theirs)
        let isNewRow = isCollected && !isCut && part.isNew(after: state)
        var going: [Int: Stamp] = [:]
        for index in part.cells.indices {
            let column = part.cells[index].column
            guard case .text(var new) = part.cells[index].cell, case .text(let old)? = state[column] else { continue }
            let isWhole = isListed && !isCut && !incomplete.contains(column)
            let key = TextKey(table: table, id: id, column: column)
            if isWhole || !part.tombstones.isEmpty, !incomplete.contains(column), new.hasForgotten(old, knowing: theirs),
                try isUnread(old, at: key)
            {
                state[column] = .text(old.leaving(theirs))
                continue
            }
            // Else a member that lies could take the versions of an empty text.
            let isBegunAnew =
                try !incomplete.contains(column) && new.beginsAnew(after: old) && floor().covers(past(of: old, at: key).applied)
            guard isWhole || isCollected || isBegunAnew else { continue }
            if old.adopted == nil || !new.hasForgotten(old, knowing: theirs) {
                guard let kept = try left(of: old, by: new, isWhole: isWhole, isNewRow: isNewRow, knowing: theirs, at: key)
                else { continue }
                let known = Set(kept.map(\.stamp.dot))
                new.changes = kept + new.changes.filter { !known.contains($0.stamp.dot) }
                part.cells[index].cell = .text(new)
            }
            going[column] = try lastChange(of: old, at: key)
            try archive.forgetCell(key)
            state[column] = .text(old.leaving(theirs))
        }
        return going
    }

    /// The latest change of a text. The first change of one that was found is no device's.
    private func lastChange(of text: TextState, at key: TextKey) throws -> Stamp? {
        if let edit = try lastEdit(of: text, at: key), edit.dot.replica != .nobody { return edit }
        return text.dots.last.map { Stamp(dot: $0, timestamp: .zero) }
    }

    /// Takes from the texts in `part` what this store had collected, as when an old file brings a row once more whose id was used again
    /// since: of what was known here when rows were collected, all that counts is here.
    ///
    /// - Parameter leaving: columns from which ``leaveCollected`` has let something go; they stay as they are, as do columns of which this
    ///   store may lack something.
    package func leaveKnown(
        in part: inout RowState, of state: RowState, leaving: [Int: Stamp], knowing mine: VersionVector, theirs: VersionVector, table: Int
    ) throws {
        for index in part.cells.indices {
            let column = part.cells[index].column
            guard case .text(let sent) = part.cells[index].cell, leaving[column] == nil, mine.covers(sent.touched) else { continue }
            var held = TextState()
            if case .text(let text)? = state[column] { held = text }
            // Of a deleted row the merge of cells takes the sender's text for the one that is here.
            if !state.tombstones.isEmpty, sent.hasForgotten(held, knowing: theirs) { continue }
            var left = sent
            if held.hasForgotten(sent, knowing: mine) {
                left = sent.leaving(mine)
            } else if held.adopted == nil, sent.adopted == nil {
                left.changes.removeAll { mine.covers($0.stamp.dot) }
            }
            // A vector may cover what a lie kept back; what was collected is below the floor.
            guard left != sent, try sent.isCovered(by: floor()) else { continue }
            let key = archive.ledger.catalog.tables[table].columns[column].key
            if try IncompleteColumns(connection: archive.connection).of(table).contains(key) { continue }
            part.cells[index].cell = .text(left)
        }
    }

    /// All that was known here of rows that were collected.
    private func floor() throws -> VersionVector { try VectorRecords(connection: archive.connection).floor(archive.ledger.catalog) }

    /// Which changes of a text stay, if the sender of `new` knows some that it does not hold any more; `nil` if it knows none, if others
    /// build on these, or if that cannot be told.
    private func left(
        of old: TextState, by new: TextState, isWhole: Bool, isNewRow: Bool, knowing theirs: VersionVector, at key: TextKey
    ) throws -> [TextState.Change]? {
        guard old.adopted == nil, new.adopted == nil else { return nil }
        let (last, heads) = try past(of: old, at: key)
        let authors = last.entries.filter { theirs[$0.replica] > 0 && new.touched[$0.replica] != old.touched[$0.replica] }
        if authors.isEmpty { return nil }
        let budget = archive.ledger.textBudget
        guard try PortionRows(archive.ledger).size(at: key).count <= budget.readCollectedMax else { return nil }
        let ahead = try changesAhead(at: key)
        // What waits of the old text would be taken for a part of the new one.
        if try ahead.contains(where: { old.touched.covers($0.stamp.dot) }) || AsideRows(archive.connection).has(key) { return nil }
        let returned = new.authorsBeginningAnew(after: old, isNewRow: isNewRow, ahead: ahead)
        let sent = Set((ahead + new.changes).map(\.stamp.dot))
        func isGone(_ dot: Dot) -> Bool {
            theirs.covers(dot)
                && (isWhole ? !sent.contains(dot) : new.touched[dot.replica] < dot.sequence || returned.contains(dot.replica))
        }
        if isWhole {
            // Who holds a change holds what it builds on.
            if !heads.contains(where: isGone) { return nil }
        } else if authors.allSatisfy({
            !returned.contains($0.replica) && new.touched[$0.replica] >= min($0.sequence, theirs[$0.replica])
        }) {
            return nil
        }
        // All are gone, however many there are: none has to be read.
        if last.entries.allSatisfy({ theirs.covers($0) && (new.touched[$0.replica] == 0 || returned.contains($0.replica)) }) { return [] }
        let all: [TextState.Change]
        if case .one(let stamp) = old.past {
            all = [TextState.Change(insertingAll: old.text ?? [], stamp)]
        } else {
            let opened = try open(old, at: key, needsText: false, readMax: budget.readCollectedMax, isForEachPurpose: true)
            guard let read = try opened.history.withinAllowance({ try kept(opened, unknownTo: VersionVector()) }) else { return nil }
            all = read
        }
        // Parents first. Who held a change held what it builds on, and let go of both.
        var gone: Set<Dot> = []
        for change in all.reversed() where isGone(change.stamp.dot) || gone.contains(change.stamp.dot) {
            gone.insert(change.stamp.dot)
            gone.formUnion(change.parents.filter(theirs.covers))
        }
        let left = all.filter { !gone.contains($0.stamp.dot) }
        let dots = Set(left.map(\.stamp.dot))
        return left.count < all.count && left.allSatisfy { dots.isSuperset(of: $0.parents) } ? left : nil
    }

    /// Whether the text never had a change. If its row is collected, written anew and deleted again elsewhere, that deletion has not seen the
    /// authors of the text, and they would keep the row shown.
    private func isUnread(_ text: TextState, at key: TextKey) throws -> Bool {
        try text.past == .none && text.adopted == nil && PortionRows(archive.ledger).size(at: key).count == 0
            && !AsideRows(archive.connection).has(key)
    }

    /// Per replica its last change of a text, and those on which none builds.
    private func past(of text: TextState, at key: TextKey) throws -> (applied: VersionVector, heads: [Dot]) {
        switch text.past {
        case .none: return (VersionVector(), [])
        case .one(let stamp): return (VersionVector([stamp.dot]), [stamp.dot])
        case .kept:
            let archived = try archive.find(key)
            return (archived?.applied ?? VersionVector(), archived?.heads.map(\.dot) ?? [])
        }
    }

    /// The changes whose turn has not come, or that came ahead of their row.
    private func changesAhead(at key: TextKey) throws -> [TextState.Change] {
        let portions = PortionRows(archive.ledger)
        return try portions.outlines(at: key).flatMap { try portions.changes($0.number, at: key) }
    }
}
