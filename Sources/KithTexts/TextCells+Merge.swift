import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

/// Changes of others.
extension TextCells {
    /// Applies the changes that a merge has brought to the text cells of a row.
    package func settle(_ state: inout RowState, table: Int, id: RowID) throws {
        for index in state.cells.indices {
            guard case .text(var text) = state.cells[index].cell else { continue }
            try settle(&text, at: TextKey(table: table, id: id, column: state.cells[index].column))
            state.cells[index].cell = .text(text)
        }
    }

    /// Lets go of the histories of texts in `old` that a merge has dropped, because whoever sent the row had collected it.
    package func forget(_ old: RowState, unlessIn state: RowState, table: Int, id: RowID) throws {
        for entry in old.cells {
            // A cell that is gone altogether may yet be written again from its history, when the row is mended.
            guard case .text(let before) = entry.cell, case .text(let after)? = state[entry.column],
                !after.touched.covers(before.touched) || after.lacksAllFound(in: before)
            else { continue }
            try archive.forgetCell(TextKey(table: table, id: id, column: entry.column))
        }
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
    ///   - isWhole: whether `part` has all that its sender holds of the row. If not, only of a row that was deleted here can be told what was
    ///     collected, and of an empty text whose author begins it anew.
    ///   - incomplete: columns of which the sender may lack what no device has removed.
    /// - Returns: for each column from which something goes, its latest edit until now.
    package func leaveCollected(
        _ state: inout RowState, with part: inout RowState, isWhole: Bool, incomplete: [Int], theirs: VersionVector, table: Int, id: RowID
    ) throws -> [Int: Stamp] {
        let isCollected = state.hasTombstonesForgotten(by: part, knowing: theirs)
        var going: [Int: Stamp] = [:]
        for index in part.cells.indices {
            let column = part.cells[index].column
            guard case .text(var new) = part.cells[index].cell, case .text(let old)? = state[column] else { continue }
            let isWhole = isWhole && !incomplete.contains(column)
            guard isWhole || isCollected || new.beginsAnew(after: old) && !incomplete.contains(column) else { continue }
            let key = TextKey(table: table, id: id, column: column)
            if old.adopted == nil || !new.hasForgotten(old, knowing: theirs) {
                guard let kept = try left(of: old, by: new, isWhole: isWhole, knowing: theirs, at: key) else { continue }
                let known = Set(kept.map(\.stamp.dot))
                new.changes = kept + new.changes.filter { !known.contains($0.stamp.dot) }
                part.cells[index].cell = .text(new)
            }
            // The first change of a text that was found is no device's.
            if let edit = try lastEdit(of: old, at: key), edit.dot.replica != .nobody {
                going[column] = edit
            } else {
                going[column] = old.dots.last.map { Stamp(dot: $0, timestamp: .zero) }
            }
            try archive.forgetCell(key)
            state[column] = .text(old.leaving(theirs))
        }
        return going
    }

    /// Takes from the texts in `part` all that was known here before rows were collected, as when an old file brings a row once more whose id
    /// was used again since: what is not here any more was collected, and the rest is here. Columns of which this store may lack something are
    /// left alone.
    ///
    /// - Parameter leaving: columns of which `leaveCollected` has let something go; they are left alone, too.
    package func leaveKnown(
        in part: inout RowState, of state: RowState, leaving: [Int: Stamp], knowing mine: VersionVector, theirs: VersionVector, table: Int
    ) throws {
        for index in part.cells.indices {
            let column = part.cells[index].column
            guard case .text(var new) = part.cells[index].cell, leaving[column] == nil, mine.covers(new.touched) else { continue }
            var old = TextState()
            if case .text(let text)? = state[column] { old = text }
            // Of a deleted row the merge of cells takes the sender's text for the one that is here.
            if !state.tombstones.isEmpty, new.hasForgotten(old, knowing: theirs) { continue }
            if old.hasForgotten(new, knowing: mine) {
                new = new.leaving(mine)
            } else if old.adopted == nil, new.adopted == nil {
                new.changes.removeAll { mine.covers($0.stamp.dot) }
            }
            guard case .text(let before) = part.cells[index].cell, before != new else { continue }
            // A vector may cover what a lie has kept back; what was collected is below the floor.
            let floor = try VectorRecords(connection: archive.connection).floor(archive.ledger.catalog)
            guard floor.covers(before.touched), before.changes.allSatisfy({ floor.covers($0.stamp.dot) }) else { continue }
            let key = archive.ledger.catalog.tables[table].columns[column].key
            if try IncompleteColumns(connection: archive.connection).of(table).contains(key) { continue }
            part.cells[index].cell = .text(new)
        }
    }

    /// Which changes of a text stay, if the sender of `new` knows some that it does not hold any more; `nil` if it knows none, if others
    /// build on these, or if that cannot be told.
    private func left(
        of old: TextState, by new: TextState, isWhole: Bool, knowing theirs: VersionVector, at key: TextKey
    ) throws -> [TextState.Change]? {
        guard old.adopted == nil, new.adopted == nil else { return nil }
        let (last, heads): (VersionVector, [Dot])
        switch old.past {
        case .none: return nil
        case .one(let stamp): (last, heads) = (VersionVector([stamp.dot]), [stamp.dot])
        case .kept:
            let archived = try archive.find(key)
            (last, heads) = (archived?.applied ?? VersionVector(), archived?.heads.map(\.dot) ?? [])
        }
        let authors = last.entries.filter { theirs[$0.replica] > 0 && new.touched[$0.replica] != old.touched[$0.replica] }
        if authors.isEmpty { return nil }
        let budget = archive.ledger.textBudget
        guard try PortionRows(archive.ledger).size(at: key).count <= budget.readCollectedMax else { return nil }
        let ahead = try changesAhead(at: key)
        // What waits of the old text would be taken for a part of the new one.
        if try ahead.contains(where: { old.touched.covers($0.stamp.dot) }) || AsideRows(archive.connection).has(key) { return nil }
        let returned = new.authorsBeginningAnew(after: old, ahead: ahead)
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

    /// The changes whose turn has not come, or that came ahead of their row.
    private func changesAhead(at key: TextKey) throws -> [TextState.Change] {
        let portions = PortionRows(archive.ledger)
        return try portions.outlines(at: key).flatMap { try portions.changes($0.number, at: key) }
    }

    /// Applies `state.changes`, and those that waited for one of them, each to its document. What cannot be applied is put aside; it
    /// is passed on to others all the same, so that all come to the same judgement.
    package func settle(_ state: inout TextState, at key: TextKey) throws {
        guard state.adopted != nil else { return try settleDocument(&state, at: key) }
        if state.text == nil { state.text = [] }
        for number in state.adopted?.documents.map(\.number) ?? [] {
            var part = state.part(number)
            let before = part
            try settleDocument(&part, at: key)
            if part != before { state.put(part) }
        }
        state.changes = []
        state.showLatest()
    }

    private func settleDocument(_ state: inout TextState, at cell: TextKey) throws {
        let key = cell.of(state)
        let incoming = state.changes
        let portions = PortionRows(archive.ledger)
        let ahead = try portions.size(at: key).count
        let budget = archive.ledger.textBudget
        let limit = budget.changesMax
        if incoming.isEmpty, ahead == 0 { return }
        let isTooMuch = incoming.count + ahead > min(limit, budget.changesOfAllMax - archive.ledger.textChangesTaken)
        if isTooMuch { return try postpone(incoming, of: &state, at: key) }
        let due = ahead == 0 ? [] : try portions.due(at: key, of: state)
        if incoming.isEmpty, due.isEmpty { return }
        let arriving = incoming + due.flatMap(\.changes)
        let followers = try followers(of: arriving, at: key, max: limit)
        guard try settle(arriving + followers, in: &state, at: key) else {
            return try postpone(incoming + followers, of: &state, at: key)
        }
        archive.ledger.textChangesTaken += arriving.count + followers.count
        for portion in due { try portions.replace(portion.outline.number, by: portion.left, at: key) }
    }

    /// Keeps changes until their turn comes.
    private func postpone(_ changes: [TextState.Change], of state: inout TextState, at key: TextKey) throws {
        state.changes = []
        if state.text == nil { state.text = [] }
        let portions = PortionRows(archive.ledger)
        try portions.append(changes, at: key, max: archive.ledger.textBudget.changesMax)
        try takeBack(changes.map(\.stamp.dot), at: key)
        if try portions.outlines(at: key).contains(where: { $0.span.meets(state.touched) }) { try TurnRows(archive.ledger).note(key) }
    }

    /// Merges changes that are here.
    ///
    /// - Returns: `false` if more of the history would have to be read than one transaction may. Then nothing was written.
    func settle(_ changes: [TextState.Change], in state: inout TextState, at key: TextKey) throws -> Bool {
        state.changes = []
        if state.text == nil { state.text = [] }
        if case .one(let stamp) = state.past, changes.allSatisfy({ $0.stamp.dot == stamp.dot }) { return true }
        if state.past == .none, changes.count == 1, changes[0].insertsWholeText, !changes[0].isRoot || changes[0].isNamedByContent {
            state.past = .one(changes[0].stamp)
            state.text = changes[0].inserted
            return true
        }
        let budget = archive.ledger.textBudget
        let merged = try merging(changes) {
            var opened = try open(state, at: key, readMax: budget.readMax)
            // A history that begins here is no longer than what comes.
            if opened.archived != nil { opened.stepsMax = budget.stepsMax }
            return opened
        }
        guard var merged, merged.opened.document.heads.count <= budget.headsMax else { return false }
        try takeBack(changes.map(\.stamp.dot), at: key)
        if merged.isAnew { state.past = .none }
        try keep(merged.resolution.appended, of: merged.opened, in: &state, at: key)
        for (change, standing) in merged.resolution.aside { try putAside(change, standing, at: key) }
        for change in merged.resolution.pending { try noteWait(of: change, in: &merged.opened, at: key) }
        return true
    }

    /// What becomes of changes that are merged into an opened text.
    struct Resolution {
        /// Those that are part of its history now, in order.
        var appended: [ArchivedChange] = []
        /// Those that are not.
        var aside: [(TextState.Change, Standing)] = []
        /// Of those the ones of which a parent is missing.
        var pending: [TextChange] = []
    }

    /// Merges changes into an opened text. Writes nothing.
    ///
    /// - Returns: `nil` if more of the history would have to be read than may be.
    func resolve(_ arriving: [TextState.Change], in opened: inout Opened) throws -> Resolution? {
        var known: [Dot: TextState.Change] = [:]
        var changes: [TextChange] = []
        var resolution = Resolution()
        for change in arriving where known.updateValue(change, forKey: change.stamp.dot) == nil {
            do {
                changes.append(try change.decoded)
            } catch {
                resolution.aside.append((change, .refused(error.description)))
            }
        }
        let history = opened.history
        let isComplete: Bool? = try history.withinAllowance {
            let outcome = try merge(changes, into: &opened)
            if outcome.isTooLong { return false }
            resolution.appended = try outcome.appended.map { try $0.archived(known[$0.change.dot]) }
            var (rejected, pending) = (outcome.rejected, outcome.pending)
            // A restart stands for itself where the history before it was collected. Those that are left after so many rounds, each of which
            // takes all that build on none of the others, wait for the next change of the text: no author makes such.
            var rounds = 0
            while rounds < Self.restartRoundsMax, let restarts = takeRestarts(of: &pending) {
                rounds += 1
                let retry = try merge(restarts.map { try standIn(for: $0, in: &opened) } + pending, into: &opened)
                if retry.isTooLong { return false }
                let outside = Dictionary(restarts.map { ($0.dot, $0.parents) }) { first, _ in first }
                resolution.appended += try retry.appended.map { try $0.archived(known[$0.change.dot], outside: outside[$0.change.dot]) }
                rejected += retry.rejected
                pending = retry.pending
            }
            for refusal in rejected {
                if let change = known[refusal.change.dot] { resolution.aside.append((change, .refused(refusal.reason.description))) }
            }
            for change in pending {
                if let change = known[change.dot] { resolution.aside.append((change, .pending)) }
            }
            resolution.pending = pending
            return true
        }
        return isComplete == true ? resolution : nil
    }

    /// How often one arrival lets restarts stand for themselves.
    private static let restartRoundsMax = 64

    /// The pending restarts that build on no other pending change; if there are none, the first one.
    private func takeRestarts(of pending: inout [TextChange]) -> [TextChange]? {
        guard let first = pending.firstIndex(where: \.isRestart) else { return nil }
        let dots = Set(pending.map(\.dot))
        let free = pending.filter { $0.isRestart && dots.isDisjoint(with: $0.parents) }
        if free.isEmpty { return [pending.remove(at: first)] }
        let taken = Set(free.map(\.dot))
        pending.removeAll { taken.contains($0.dot) }
        return free
    }

    /// Notes which change a pending one waits for.
    func noteWait(of change: TextChange, in opened: inout Opened, at key: TextKey) throws {
        var parent = WaitRows.Commit.any
        if !change.isRestart {
            let missing = try readingHistory { try change.parents.first { try !opened.document.contains($0, history: opened.history) } }
            parent = try missing.map(commit) ?? .any
        }
        try WaitRows(archive.connection).note(try commit(change.dot), waitsFor: parent, at: key)
    }

    func commit(_ dot: Dot) throws -> WaitRows.Commit {
        WaitRows.Commit(replica: try archive.ledger.number(of: dot.replica), sequence: dot.sequence)
    }

    private func merge(_ changes: [TextChange], into opened: inout Opened) throws -> TextMerge {
        try readingHistory { try opened.document.merge(changes, history: opened.history, stepsMax: opened.stepsMax) }
    }

    private func standIn(for restart: TextChange, in opened: inout Opened) throws -> TextChange {
        try readingHistory { try opened.document.standIn(for: restart, history: opened.history) }
    }

    func readingHistory<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as TextError {
            throw StoreError(.corrupt, error.description)
        }
    }

    // MARK: Changes put aside

    func putAside(_ change: TextState.Change, _ standing: Standing, at key: TextKey) throws {
        let replica = try archive.ledger.number(of: change.stamp.dot.replica)
        var record: [UInt8] = []
        try archive.ledger.numberingReplicas { record = change.record(&$0) }
        try AsideRows(archive.connection).put(record, replica: replica, sequence: change.stamp.dot.sequence, standing, at: key)
    }

    /// What waited for one of `arriving`, or for one of these, at most so many; the rest is taken when its turn comes.
    private func followers(of arriving: [TextState.Change], at key: TextKey, max limit: Int) throws -> [TextState.Change] {
        let waits = WaitRows(archive.connection)
        var found: [TextState.Change] = []
        var open = try arriving.map { try commit($0.stamp.dot) }
        if !open.isEmpty { open.append(.any) }
        while let parent = open.popLast() {
            let left = limit - found.count
            let taken = left > 0 ? try waits.take(waitingFor: parent, at: key, max: left) : []
            if taken.count == left, parent != .any, try waits.has(waitingFor: parent, at: key) {
                try TurnRows(archive.ledger).note(key, followersOf: parent)
            }
            for commit in taken {
                guard let change = try pending(commit, at: key) else { continue }
                found.append(change)
                open.append(commit)
            }
        }
        return found
    }

    /// A change put aside whose parent was missing.
    func pending(_ commit: WaitRows.Commit, at key: TextKey) throws -> TextState.Change? {
        guard let record = try AsideRows(archive.connection).pending(commit, at: key) else { return nil }
        return try TextState.Change(record: record, archive.ledger.catalog.replicas)
    }

    /// Whether a change of any text of the table was put aside, or waits for its row or its turn.
    package func hasAside(table: Int) throws -> Bool {
        try AsideRows(archive.connection).has(table: table) || PortionRows(archive.ledger).has(table: table)
    }

    package func takeBack(_ dots: [Dot], at key: TextKey) throws {
        if dots.isEmpty { return }
        let commits = try dots.map { (replica: try archive.ledger.number(of: $0.replica), sequence: $0.sequence) }
        try AsideRows(archive.connection).remove(commits, at: key)
    }

    /// Why a change is not applied.
    enum Standing: Equatable {
        /// It builds on a change that is not here.
        case pending
        case refused(String)
    }

    /// The changes of a text that cannot be applied, by commit.
    package func aside(at key: TextKey) throws -> [TextState.Change] {
        let select = try AsideRows(archive.connection).selecting(at: key)
        var found: [TextState.Change] = []
        while try select.step() { found.append(try TextState.Change(record: select.blob(0), archive.ledger.catalog.replicas)) }
        return found
    }
}

extension TextState.Change {
    /// The change as KithText reads it.
    fileprivate var decoded: TextChange {
        get throws(TextError) {
            if isRoot, !isNamedByContent { throw .malformed("a text that was found, under the name of another") }
            return TextChange(
                dot: stamp.dot, parents: parents, isRestart: replacedScalars != nil,
                operations: try TextOperations(steps: steps, text: inserted), lengthBefore: replacedScalars)
        }
    }
}

extension AppendedTextChange {
    fileprivate func archived(_ change: TextState.Change?, outside: [Dot]? = nil) throws -> ArchivedChange {
        guard let change else { throw TextArchive.corrupt }
        return ArchivedChange(self, change.stamp.timestamp, replacedScalars: change.replacedScalars, outside: outside)
    }
}
