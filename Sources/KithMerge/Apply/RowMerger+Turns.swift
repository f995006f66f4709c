import KithCausality
import KithLedger
import KithSync
import KithTexts

/// Texts of which more changes came than one transaction takes.
extension RowMerger {
    /// Does something to a text, and shows what it is then.
    ///
    /// - Returns: what `body` says; `nil` if the row has no such text any more.
    package func updateText<Result>(_ key: TextKey, _ body: (TextCells, inout TextState) throws -> Result) throws -> Result? {
        let texts = TextCells(ledger)
        guard let table = ledger.catalog[key.table] else { return nil }
        let held = try find(table, key.id)
        guard case .text(var text)? = held.state[key.column], key.document == 0 || text.adopted?[key.document] != nil else {
            try texts.endTurns(at: key)
            return nil
        }
        var part = text.adopted == nil ? text : text.part(key.document)
        let result = try body(texts, &part)
        if text.adopted == nil {
            text = part
        } else {
            text.put(part)
            text.showLatest()
        }
        var state = held.state
        state[key.column] = .text(text)
        if state == held.state { return result }
        state.context = try ledger.contextVector(held.context)
        try save(state, table, key.id, held)
        return result
    }
}
