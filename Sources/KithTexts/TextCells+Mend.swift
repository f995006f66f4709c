import KithCausality
import KithLedger
import KithSync
import KithText

/// Texts of which two stores know the same commits, and not the same of what one of these did.
extension TextCells {
    /// Brings two histories of a text together that tell different things of one change: a merge never makes such, but damage or a lie does.
    ///
    /// Of two changes with one name the greater one stays, here as at the peer, and the text is made anew from all changes. What `own` showed and the
    /// new text does not is inserted by a commit of this store. To know that, all changes are taken at once, if they are no more than a
    /// transaction takes of all texts; else it inserts all that `own` showed. See docs/decisions/mending-keeps-everything.md.
    ///
    /// - Parameters:
    ///   - text: the cell of both, with the changes of the peer; unchanged if they contradict none that is here.
    ///   - own: the cell of this store.
    ///   - stamp: makes a commit, if one is needed.
    package func mend(_ text: inout TextState, of own: TextState, at key: TextKey, stamp: () throws -> Stamp) throws {
        let mine = try changes(of: own, at: key, unknownTo: VersionVector())
        var chosen = Dictionary(mine.map { ($0.stamp.dot, $0) }, uniquingKeysWith: { $0.isLess(than: $1) ? $1 : $0 })
        var differs = false
        for change in text.changes {
            if let here = chosen[change.stamp.dot], here != change {
                differs = true
                if change.isLess(than: here) { continue }
            }
            chosen[change.stamp.dot] = change
        }
        guard differs else { return }
        try archive.forgetCell(key)
        for number in text.adopted?.documents.map(\.number) ?? [0] {
            try takeBack(Array(chosen.keys), at: TextKey(table: key.table, id: key.id, column: key.column, document: number))
        }
        text.changes = chosen.values.sorted { $0.stamp.dot < $1.stamp.dot }
        text.forgetPasts()
        (text.text, text.past) = ([], .none)
        try settleAtOnce(&text, at: key)
        let lost = try TextBuffer(utf8: text.text ?? []).insertions(to: TextBuffer(utf8: own.text ?? []))
        if !lost.isEmpty { try save(lost, in: &text, at: key, stamp()) }
    }

    /// Takes as many changes of one text as a transaction takes of all.
    private func settleAtOnce(_ text: inout TextState, at key: TextKey) throws {
        let budget = archive.ledger.textBudget
        defer { archive.ledger.textBudget = budget }
        archive.ledger.textBudget.changesMax = max(budget.changesMax, budget.changesOfAllMax)
        try settle(&text, at: key)
    }
}

extension TextBuffer {
    /// What must be inserted to have all of `other`, too.
    fileprivate func insertions(to other: TextBuffer) -> TextOperations {
        var insertions = TextOperations()
        var kept = 0
        // From left to right; what would have been deleted stays in front of what takes its place.
        for operation in TextOperations(from: self, to: other) {
            switch operation {
            case .delete(let count, _): kept += count
            case .insert(let text, let position): insertions.insert(text, at: position + kept)
            }
        }
        return insertions
    }
}

extension TextState.Change {
    /// Any order of all that a change can say, the same everywhere.
    fileprivate func isLess(than other: Self) -> Bool {
        if stamp != other.stamp { return (stamp.timestamp, stamp.dot) < (other.stamp.timestamp, other.stamp.dot) }
        if replacedScalars != other.replacedScalars { return replacedScalars ?? -1 < other.replacedScalars ?? -1 }
        if parents != other.parents { return parents.lexicographicallyPrecedes(other.parents) }
        if steps != other.steps { return steps.lexicographicallyPrecedes(other.steps) }
        return inserted.lexicographicallyPrecedes(other.inserted)
    }
}
