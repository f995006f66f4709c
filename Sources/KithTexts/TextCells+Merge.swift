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

    /// Applies `state.changes`, and those that waited for one of them, each to its document. What cannot be applied is put aside; it
    /// is passed on to others all the same, so that all come to the same judgement.
    package func settle(_ state: inout TextState, at key: TextKey) throws {
        guard state.adopted != nil else { return try settleDocument(&state, at: key) }
        if state.text == nil { state.text = [] }
        // There may be many documents, and many changes.
        let changes = Dictionary(grouping: state.changes, by: \.document)
        for number in state.adopted?.documents.map(\.number) ?? [] {
            var part = state.part(number, changes[number] ?? [])
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
        for change in arriving where known[change.stamp.dot] == nil {
            known[change.stamp.dot] = change
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
