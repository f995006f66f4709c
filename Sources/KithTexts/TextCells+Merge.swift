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
                !after.touched.covers(before.touched)
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

    /// Lets go of texts of a deleted row that the sender of `part` had collected, and whose id the authors of these texts have used again.
    package func beginAnew(_ state: inout RowState, with part: RowState, theirs: VersionVector, table: Int, id: RowID) throws {
        // Who has not heard of the deletion has not collected the row.
        guard !state.tombstones.isEmpty, part.tombstones.isEmpty, state.tombstones.allSatisfy({ theirs.covers($0.dot) }) else { return }
        for entry in part.cells {
            guard case .text(let new) = entry.cell, case .text(let old)? = state[entry.column], new.beginsAnew(after: old, knowing: theirs)
            else { continue }
            let key = TextKey(table: table, id: id, column: entry.column)
            // Changes that travelled ahead of the row are not in the part.
            if try hasAside(at: key) { continue }
            try archive.forgetCell(key)
            state[entry.column] = nil
        }
    }

    private func hasAside(at key: TextKey) throws -> Bool {
        try AsideRows(archive.connection).has(key)
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
        let waiting = try waiting(for: incoming, at: key, of: state)
        if incoming.isEmpty, waiting.isEmpty { return }
        state.changes = []
        if state.text == nil { state.text = [] }
        if case .one(let stamp) = state.past, waiting.isEmpty, incoming.allSatisfy({ $0.stamp.dot == stamp.dot }) { return }
        if state.past == .none, incoming.count == 1, waiting.isEmpty, incoming[0].insertsWholeText,
            !incoming[0].isRoot || incoming[0].isNamedByContent
        {
            state.past = .one(incoming[0].stamp)
            state.text = incoming[0].inserted
            return
        }
        try takeBack(waiting.map(\.stamp.dot), at: key)
        var known: [Dot: TextState.Change] = [:]
        var changes: [TextChange] = []
        for change in incoming + waiting where known.updateValue(change, forKey: change.stamp.dot) == nil {
            do {
                changes.append(try change.decoded)
            } catch {
                try putAside(change, .refused(error.description), at: key)
            }
        }
        var opened = try open(state, at: key)
        let outcome = try merge(changes, into: &opened)
        var appended = try outcome.appended.map { try $0.archived(known[$0.change.dot]) }
        var (rejected, pending) = (outcome.rejected, outcome.pending)
        // A restart stands for itself where the history before it was collected. Those that are left after so many rounds, each of which
        // takes all that build on none of the others, wait for the next change of the text: no author makes such.
        var rounds = 0
        while rounds < Self.restartRoundsMax, let restarts = takeRestarts(of: &pending) {
            rounds += 1
            let retry = try merge(restarts.map { try standIn(for: $0, in: &opened) } + pending, into: &opened)
            let outside = Dictionary(restarts.map { ($0.dot, $0.parents) }) { first, _ in first }
            appended += try retry.appended.map { try $0.archived(known[$0.change.dot], outside: outside[$0.change.dot]) }
            rejected += retry.rejected
            pending = retry.pending
        }
        try keep(appended, of: opened, in: &state, at: key)
        for refusal in rejected { try putAside(known[refusal.change.dot], .refused(refusal.reason.description), at: key) }
        for change in pending {
            try putAside(known[change.dot], .pending, at: key)
            try noteWait(of: change, in: &opened, at: key)
        }
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
    private func noteWait(of change: TextChange, in opened: inout Opened, at key: TextKey) throws {
        var parent = WaitRows.Commit.any
        if !change.isRestart {
            let missing = try readingHistory { try change.parents.first { try !opened.document.contains($0, history: opened.history) } }
            parent = try missing.map(commit) ?? .any
        }
        try WaitRows(archive.connection).note(try commit(change.dot), waitsFor: parent, at: key)
    }

    private func commit(_ dot: Dot) throws -> WaitRows.Commit {
        WaitRows.Commit(replica: try archive.ledger.number(of: dot.replica), sequence: dot.sequence)
    }

    private func merge(_ changes: [TextChange], into opened: inout Opened) throws -> TextMerge {
        try readingHistory { try opened.document.merge(changes, history: opened.history) }
    }

    private func standIn(for restart: TextChange, in opened: inout Opened) throws -> TextChange {
        try readingHistory { try opened.document.standIn(for: restart, history: opened.history) }
    }

    private func readingHistory<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as TextError {
            throw StoreError(.corrupt, error.description)
        }
    }

    // MARK: Changes put aside

    func putAside(_ change: TextState.Change?, _ standing: Standing, at key: TextKey) throws {
        guard let change else { return }
        let replica = try archive.ledger.number(of: change.stamp.dot.replica)
        var record: [UInt8] = []
        try archive.ledger.numberingReplicas { record = change.record(&$0) }
        try AsideRows(archive.connection).put(record, replica: replica, sequence: change.stamp.dot.sequence, standing, at: key)
    }

    /// What may be applied now: early changes of commits that the row now says it knows, and those that waited for one of `incoming` or of these.
    private func waiting(for incoming: [TextState.Change], at key: TextKey, of state: TextState) throws -> [TextState.Change] {
        let rows = AsideRows(archive.connection)
        let select = try rows.selectingEarly(at: key)
        let replicas = archive.ledger.catalog.replicas
        var found: [TextState.Change] = []
        while try select.step() {
            guard replicas.ids.indices.contains(select.int(1)) else { throw TextArchive.corrupt }
            let dot = Dot(replica: replicas.ids[select.int(1)], sequence: UInt64(bitPattern: select.integer(2)))
            if state.touched.covers(dot) || dot.replica == .nobody { found.append(try TextState.Change(record: select.blob(0), replicas)) }
        }
        let waits = WaitRows(archive.connection)
        var open = try (incoming + found).map { try commit($0.stamp.dot) }
        if !open.isEmpty { open.append(.any) }
        while let parent = open.popLast() {
            for commit in try waits.take(waitingFor: parent, at: key) {
                guard let change = try rows.pending(commit, at: key) else { continue }
                found.append(try TextState.Change(record: change, archive.ledger.catalog.replicas))
                open.append(commit)
            }
        }
        return found
    }

    /// Whether a change of any text of the table was put aside.
    package func hasAside(table: Int) throws -> Bool {
        try AsideRows(archive.connection).has(table: table)
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
        /// It came ahead of its row.
        case early
        case refused(String)
    }

    /// The changes of a cell that cannot be applied, by commit; early ones, of which nobody hears, aside.
    package func aside(at key: TextKey) throws -> [TextState.Change] {
        let select = try AsideRows(archive.connection).selectingNotEarly(at: key)
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
