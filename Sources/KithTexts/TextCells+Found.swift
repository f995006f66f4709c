import KithCausality
import KithLedger
import KithSync
import KithText

extension TextCells {
    /// Says of a text that was written what must be known before it is merged with texts that were found: when it was edited last.
    package func spellOut(_ state: inout RowState, with part: inout RowState, table: Int, id: RowID) throws {
        for index in part.cells.indices {
            let column = part.cells[index].column
            let key = TextKey(table: table, id: id, column: column)
            guard case .text(var new) = part.cells[index].cell, case .text(var old)? = state[column] else { continue }
            if new.adopted != nil, old.adopted == nil {
                let last = Self.latest(try lastEdit(of: old, at: key), try lastEditAhead(of: old, at: key))
                old.adopted = AdoptedTexts(written: old, lastEdit: last)
                state[column] = .text(old)
            } else if new.adopted == nil, old.adopted != nil, new.changes.isEmpty {
                new.adopted = AdoptedTexts(written: new, lastEdit: try lastEditAhead(of: new, at: key))
                part.cells[index].cell = .text(new)
            }
        }
    }

    private static func latest(_ one: Stamp?, _ other: Stamp?) -> Stamp? {
        guard let one, let other else { return one ?? other }
        return other.isShown(over: one) ? other : one
    }

    /// The latest change of those that wait for their turn, or came ahead of the row.
    private func lastEditAhead(of state: TextState, at key: TextKey) throws -> Stamp? {
        let portions = PortionRows(archive.ledger)
        var last: Stamp?
        for outline in try portions.outlines(at: key) where outline.span.meets(state.touched) {
            for change in try portions.changes(outline.number, at: key) where state.touched.covers(change.stamp.dot) {
                last = Self.latest(last, change.stamp)
            }
        }
        return last
    }

    func lastEdit(of state: TextState, at key: TextKey) throws -> Stamp? {
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
