import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithText

extension TextCells {
    /// What does not hold together between a text and its history, which is replayed from the beginning; `nil` if all does.
    package func problem(of state: TextState, at key: TextKey) throws -> String? {
        for number in state.adopted?.documents.map(\.number) ?? [0] {
            if let problem = try problem(ofDocument: state.part(number), at: key) { return problem }
        }
        return nil
    }

    private func problem(ofDocument state: TextState, at key: TextKey) throws -> String? {
        func isKnown(_ dot: Dot) -> Bool { dot.replica == .nobody || state.touched.covers(dot) }
        do {
            switch state.past {
            case .none:
                return state.text?.isEmpty == false ? "there is a text that no change has made" : nil
            case .one(let stamp):
                if !isKnown(stamp.dot) { return "its commit is not among those that touched it" }
                return state.text?.isEmpty == false ? nil : "the text that its commit inserted is gone"
            case .kept:
                var opened = try open(state, at: key)
                guard let archived = opened.archived else { return "its history is missing" }
                if archived.heads.contains(where: { !isKnown($0.dot) }) { return "its version is not known to the row" }
                var replayed = TextDocument()
                let changes = try opened.document.changes(unknownTo: VersionVector(), history: opened.history)
                let outcome = try replayed.merge(changes)
                if !outcome.rejected.isEmpty || !outcome.pending.isEmpty { return "its history cannot be replayed" }
                if replayed.version != opened.document.version { return "its history leads to another version" }
                if replayed.text != opened.document.text { return "it shows another text than its history gives" }
                let isListed = try MergedTexts(ledger: archive.ledger).contains(key.of(state))
                return try isListed || replayed.conflicts().conflicts.isEmpty
                    ? nil : "two machines changed a place of it at once, and the list of conflicts does not have it"
            }
        } catch let error as TextError {
            return error.description
        } catch let error as StoreError {
            return error.message
        }
    }
}
