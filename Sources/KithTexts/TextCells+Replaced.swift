import KithCausality
import KithLedger
import KithSync
import KithText

extension TextCells {
    /// Deletes what is left of insertions that stand for writes of a register (``RegistersMadeTexts``) and were replaced by a later one.
    /// What others have typed into them stays.
    ///
    /// A text whose history is longer than a merge reads keeps them.
    ///
    /// - Parameters:
    ///   - isReplaced: whether the insertion of such a text by such a commit is one of them.
    ///   - isNull: whether the later write was NULL.
    ///   - stamp: makes a commit of this store, if one is needed.
    func removeInsertions(
        in state: inout TextState, at key: TextKey, where isReplaced: (Dot, String) -> Bool, isNull: Bool, stamp: () throws -> Stamp
    ) throws {
        guard state.document == 0 else { return }
        let old = state.text
        var last: Stamp?
        switch state.past {
        case .none: return
        case .one(let written):
            guard isReplaced(written.dot, String(decoding: state.text ?? [], as: UTF8.self)) else { return }
            last = try stamp()
            try last.map { try save([], in: &state, at: key, $0) }
        case .kept:
            for insertion in try insertions(in: state, at: key, where: isReplaced) {
                guard let left = try deleting(insertion, in: state, at: key) else { break }
                if left.isEmpty { continue }
                last = try stamp()
                try last.map { try save(left, in: &state, at: key, $0) }
            }
        }
        if isNull, let last, state.text?.isEmpty != false { state.mark(isNull: true, last, replacing: old) }
    }

    /// What deletes all that is left of an insertion; `nil` if more of the history would have to be read than a merge may.
    private func deleting(_ insertion: ArchivedChange, in state: TextState, at key: TextKey) throws -> TextOperations? {
        var opened = try open(state, at: key, readMax: archive.ledger.textBudget.readMax)
        var all = TextOperations()
        all.delete(insertion.header.length, at: 0)
        let history = opened.history
        return try history.withinAllowance {
            try readingHistory {
                // The name counts for insertions alone, and there is none.
                try opened.document.transform(all, from: [insertion.header.dot], as: insertion.header.dot, history: history)
            }
        }
    }

    /// The changes that built on nothing and do nothing but insert.
    private func insertions(in state: TextState, at key: TextKey, where isTaken: (Dot, String) -> Bool) throws -> [ArchivedChange] {
        guard let archived = try archive.find(key) else { throw TextArchive.corrupt }
        let history = StoredTextHistory(
            archive: archive, text: archived.number, applied: archived.applied, readMax: archive.ledger.textBudget.readMax)
        let found = try history.withinAllowance {
            var found: [ArchivedChange] = []
            try history.forEachPart(before: archived.nextEvent, downTo: 0, for: .operations) { part in
                for change in part where change.header.parents.isEmpty && !change.header.isRestart && change.operations.count == 1 {
                    guard case .insert(let text, _)? = Array(change.operations).first else { continue }
                    if isTaken(change.header.dot, text) { found.append(change) }
                }
            }
            return found
        }
        return found ?? []
    }
}
