import KithCausality
import KithLedger
import KithSync
import KithText

extension TextCells {
    /// Deletes what is left of insertions that stand for writes of a register (``RegistersMadeTexts``) and were replaced by a later one.
    /// What others have typed into them stays.
    ///
    /// A text whose history is longer than a merge reads keeps them, as does one with those of many replicas some.
    ///
    /// - Parameters:
    ///   - known: commits of which the insertions stay.
    ///   - isReplaced: whether the insertion of such a text by such a commit is one of them.
    ///   - isNull: whether the later write was NULL.
    ///   - stamp: makes a commit of this store, if one is needed.
    func removeInsertions(
        in state: inout TextState, at key: TextKey, besides known: Set<Dot>, where isReplaced: (Dot, String) -> Bool, isNull: Bool,
        stamp: () throws -> Stamp
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
            for header in try insertions(in: state, at: key, besides: known).prefix(Self.replacedMax) {
                var opened = try open(state, at: key, readMax: archive.ledger.textBudget.readMax)
                guard let left = try deleting(header, where: isReplaced, &opened) else { break }
                if left.isEmpty { continue }
                last = try stamp()
                try last.map { try save(left, in: &state, at: key, $0) }
            }
        }
        if isNull, let last, state.text?.isEmpty != false { state.mark(isNull: true, last, replacing: old) }
    }

    /// Insertions that one merge looks at.
    private static let replacedMax = 16

    /// What deletes all that is left of an insertion, if it is to go; `nil` if more of the history would have to be read than a merge may.
    private func deleting(
        _ header: TextChangeHeader, where isReplaced: (Dot, String) -> Bool, _ opened: inout Opened
    ) throws -> TextOperations? {
        let history = opened.history
        return try history.withinAllowance {
            try readingHistory {
                let operations = try history.operations(in: header.firstEvent..<header.end).flatMap { Array($0) }
                guard operations.count == 1, case .insert(let text, _) = operations[0], isReplaced(header.dot, text) else {
                    return TextOperations()
                }
                var all = TextOperations()
                all.delete(header.length, at: 0)
                // The name counts for insertions alone, and there is none.
                return try opened.document.transform(all, from: [header.dot], as: header.dot, history: history)
            }
        }
    }

    /// Of each replica the newest change that built on nothing, newest first: when it came, those before it went.
    private func insertions(in state: TextState, at key: TextKey, besides known: Set<Dot>) throws -> [TextChangeHeader] {
        guard let archived = try archive.find(key) else { throw TextArchive.corrupt }
        let history = StoredTextHistory(
            archive: archive, text: archived.number, applied: archived.applied, readMax: archive.ledger.textBudget.readMax)
        let found = try history.withinAllowance {
            var found: [ReplicaID: TextChangeHeader] = [:]
            try history.forEachPart(before: archived.nextEvent, downTo: 0) { part in
                for header in part.map(\.header) where header.parents.isEmpty && !header.isRestart && !known.contains(header.dot) {
                    let other = found[header.dot.replica]
                    if other.map({ $0.dot.sequence < header.dot.sequence }) ?? true { found[header.dot.replica] = header }
                }
            }
            return found.values.sorted { $0.firstEvent > $1.firstEvent }
        }
        return found ?? []
    }
}
