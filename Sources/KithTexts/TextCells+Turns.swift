import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

/// Texts of which more changes came than one transaction takes.
///
/// Their merge is computed beside the writers (``prepare(_:at:)``). Then its changes are written behind the end of the history, some in each
/// transaction, so that the app writes in between, and the last one makes them part of it (``writePart(of:in:at:)``). If the text has changed by
/// then, all begins anew. A text that is made anew gets a history of its own, which takes the place of the other one in the last transaction.
extension TextCells {
    /// What came of a turn.
    package enum Turn {
        /// Nothing of the text is left that is to be taken.
        case over
        case taken
        /// The merge is more than one transaction takes. Nothing was written.
        case tooLong
    }

    /// Takes what waits for its turn if it is one portion.
    package func takeTurn(of state: inout TextState, at key: TextKey) throws -> Turn {
        let (turns, portions) = (TurnRows(archive.ledger), PortionRows(archive.ledger))
        let limit = archive.ledger.textBudget.changesMax
        if let parent = try turns.parent(at: key) {
            let commits = try WaitRows(archive.connection).take(waitingFor: parent, at: key, max: limit)
            if commits.count < limit { try turns.end(key, followersOf: parent) }
            let changes = try commits.compactMap { try pending($0, at: key) }
            try portions.append(changes, at: key, max: limit)
            try takeBack(changes.map(\.stamp.dot), at: key)
            if !changes.isEmpty { try turns.note(key) }
            return .taken
        }
        let due = try portions.due(at: key, of: state, max: 2)
        guard let portion = due.first else {
            try turns.end(key)
            // A process that was killed, or found the text changed, may have begun to make it anew.
            try archive.forget(key.beside)
            return .over
        }
        guard due.count == 1, try settle(portion.changes, in: &state, at: key) else { return .tooLong }
        try portions.replace(portion.outline.number, by: portion.left, at: key)
        try noteFollowers(of: portion.changes.map(\.stamp.dot), at: key)
        return .taken
    }

    private func noteFollowers(of dots: [Dot], at key: TextKey) throws {
        let waits = WaitRows(archive.connection)
        for dot in dots {
            let commit = try commit(dot)
            if try waits.has(waitingFor: commit, at: key) { try TurnRows(archive.ledger).note(key, followersOf: commit) }
        }
    }

    /// How far a text has come, and how much waits for its turn.
    package func standing(of key: TextKey) throws -> TextStanding {
        let size = try PortionRows(archive.ledger).size(at: key)
        return TextStanding(nextEvent: try archive.find(key)?.nextEvent ?? 0, changes: size.count, bytes: size.bytes)
    }

    /// No row is left of a text: what came for it waits for the row again.
    package func endTurns(at key: TextKey) throws {
        try TurnRows(archive.ledger).remove(at: key)
    }

    // MARK: Beside the writers

    /// A merge that was computed and is not written yet.
    package struct Prepared {
        /// The text that it was computed for; of a text without a history, the number is 0.
        var base: ArchivedText
        let merged: Merged
        let portions: [PortionRows.Due]
        /// How much of the resolution is written.
        var written = 0
    }

    /// Computes a merge of portions of a text.
    ///
    /// - Returns: `nil` if there is nothing to take, or more of the history would have to be read than may be.
    package func prepare(_ state: TextState, at key: TextKey) throws -> Prepared? {
        let budget = archive.ledger.textBudget
        var (portions, count) = ([PortionRows.Due](), 0)
        for portion in try PortionRows(archive.ledger).due(at: key, of: state, changesMax: budget.changesAsideMax) {
            portions.append(portion)
            count += portion.changes.count
        }
        if count == 0 { return nil }
        let changes = portions.flatMap(\.changes)
        let opening = {
            var opened = try open(state, at: key, readMax: budget.readAsideMax, isForEachPurpose: true)
            opened.stepsMax = budget.stepsAsideMax
            return opened
        }
        let opened = try opening()
        var merged = try merging(changes, readingIn: opening)
        if merged == nil {
            let late = try archive.replacedByRestarts(changes, in: opened.archived)
            if !late.isEmpty { merged = try merging(changes, into: opened, leaving: late) }
        }
        guard let merged, merged.opened.document.heads.count <= budget.headsMax else { return nil }
        let base =
            opened.archived ?? ArchivedText(number: 0, heads: opened.document.heads, nextEvent: opened.document.nextEvent)
        return Prepared(base: base, merged: merged, portions: portions)
    }

    /// What came of a part of a prepared merge.
    package enum Part {
        case more
        case done
        /// The text is another one than the merge was prepared for.
        case stale
    }

    /// Writes a part of a prepared merge.
    package func writePart(of prepared: inout Prepared, in state: inout TextState, at key: TextKey) throws -> Part {
        let (resolution, document) = (prepared.merged.resolution, prepared.merged.opened.document)
        let limit = archive.ledger.textBudget.changesMax
        if prepared.written == 0, try !begin(&prepared, in: &state, at: key) { return .stale }
        guard state.past == .kept, try archive.find(key) == prepared.base,
            var archived = prepared.merged.isAnew ? try archive.find(key.beside) : prepared.base
        else { return .stale }
        let count = resolution.appended.count
        if prepared.written < count {
            let part = resolution.appended[prepared.written...].prefix(limit)
            for change in part { try archive.append(change, to: archived) }
            prepared.written += part.count
            return .more
        }
        let aside = resolution.aside[(prepared.written - count)...].prefix(limit)
        for (change, standing) in aside { try putAside(change, standing, at: key) }
        prepared.written += aside.count
        if prepared.written < count + resolution.aside.count { return .more }
        let outlines = try PortionRows(archive.ledger).outlines(at: key)
        guard prepared.portions.allSatisfy({ portion in outlines.contains(portion.outline) }) else { return .stale }
        archived.staging = 0
        if prepared.merged.isAnew { try archive.replace(key, by: archived) }
        try keepVersion(of: document, resolution.appended, &archived)
        state.text = document.text.utf8
        var opened = try open(state, at: key)
        for change in resolution.pending { try noteWait(of: change, in: &opened, at: key) }
        for portion in prepared.portions { try PortionRows(archive.ledger).replace(portion.outline.number, by: portion.left, at: key) }
        try noteFollowers(of: prepared.portions.flatMap(\.changes).map(\.stamp.dot), at: key)
        return .done
    }

    /// Begins to write a prepared merge. What another process has begun to write ends here.
    ///
    /// - Returns: `false` if the text is another one than it was prepared for.
    private func begin(_ prepared: inout Prepared, in state: inout TextState, at key: TextKey) throws -> Bool {
        let opened = try open(state, at: key)
        guard (opened.archived?.number ?? 0) == prepared.base.number, opened.document.heads == prepared.base.heads,
            opened.document.nextEvent == prepared.base.nextEvent
        else { return false }
        if opened.archived == nil { try keepHistory(of: opened, in: &state, at: key) }
        guard var archived = try archive.find(key) else { throw TextArchive.corrupt }
        try archive.dropStaged(archived)
        if prepared.merged.isAnew { _ = try archive.create(key.beside) } else { try archive.forget(key.beside) }
        archived.staging = Int64.random(in: 1 ... .max)
        try archive.save(archived)
        prepared.base = archived
        return true
    }

    /// Packs some of a long history. Returns whether more is to be packed.
    package func packSome(at key: TextKey) throws -> Bool {
        guard let archived = try archive.find(key) else { return false }
        return try archive.packIfLarge(archived)
    }
}

/// How far a text has come, and how much waits for its turn.
package struct TextStanding: Hashable, Sendable {
    let nextEvent: Int
    let changes: Int
    let bytes: Int
}

extension PortionRows {
    /// A portion of which a row knows some commits.
    struct Due {
        let outline: Outline
        /// Those that are to be taken.
        let changes: [TextState.Change]
        /// Those that wait for another commit of the row.
        let left: [TextState.Change]
    }

    /// The portions that a row which says `state` knows, the oldest first, at most so many, or so many changes.
    func due(at key: TextKey, of state: TextState, max limit: Int = .max, changesMax: Int = .max) throws -> [Due] {
        var found: [Due] = []
        var count = 0
        for outline in try outlines(at: key) where outline.span.meets(state.touched) {
            if found.count >= limit || count + outline.count > changesMax, !found.isEmpty { break }
            let changes = try changes(outline.number, at: key)
            let isDue = { (change: TextState.Change) in change.stamp.dot.replica == .nobody || state.touched.covers(change.stamp.dot) }
            found.append(Due(outline: outline, changes: changes.filter(isDue), left: changes.filter { !isDue($0) }))
            count += outline.count
        }
        return found
    }
}
