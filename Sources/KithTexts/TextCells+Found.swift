import KithCausality
import KithLedger
import KithSync
import KithText

extension TextCells {
    /// Says of a text that was written what must be known before it is merged with texts that were found: when it was edited last.
    package func spellOut(_ state: inout RowState, before part: RowState, table: Int, id: RowID) throws {
        for entry in part.cells {
            guard case .text(let new) = entry.cell, new.adopted != nil, case .text(var old)? = state[entry.column], old.adopted == nil
            else { continue }
            old.adopted = AdoptedTexts(
                written: old, lastEdit: try lastEdit(of: old, at: TextKey(table: table, id: id, column: entry.column)))
            state[entry.column] = .text(old)
        }
    }

    private func lastEdit(of state: TextState, at key: TextKey) throws -> Stamp? {
        switch state.past {
        case .none: return nil
        case .one(let stamp): return stamp
        case .kept:
            guard let archived = try archive.find(key.of(state)) else { throw TextArchive.corrupt }
            // A later change has a later timestamp than all it builds on, so the latest is one of the last.
            var open = Set(archived.heads.map(\.dot))
            var latest: Stamp?
            try StoredTextHistory(archive: archive, text: archived.number).forEachPart(before: archived.nextEvent, downTo: 0) { part in
                for change in part where open.remove(change.header.dot) != nil {
                    let stamp = Stamp(dot: change.header.dot, timestamp: change.timestamp)
                    if latest.map({ stamp.isShown(over: $0) }) ?? true { latest = stamp }
                }
            } until: {
                open.isEmpty
            }
            return latest
        }
    }
}
