import KithCausality
import KithSync
import KithText

/// What others lack of a text.
extension TextCells {
    /// Puts the changes into the text cells of a part of a row, whose receiver knows `vector`.
    func fill(_ part: inout RowState, table: Int, id: RowID, unknownTo vector: VersionVector) throws {
        for index in part.cells.indices {
            guard case .text(var text) = part.cells[index].cell else { continue }
            let key = TextKey(table: table, id: id, column: part.cells[index].column)
            text.changes = try changes(of: text, at: key, unknownTo: vector)
            text.past = .none
            text.text = nil
            part.cells[index].cell = .text(text)
        }
    }

    /// The changes that someone lacks who knows `vector`, parents first, then those that nobody can apply yet.
    func changes(of state: TextState, at key: TextKey, unknownTo vector: VersionVector) throws -> [TextState.Change] {
        let aside = try aside(at: key).map(\.change).filter { !vector.covers($0.stamp.dot) }
        switch state.past {
        case .none:
            return aside
        case .one(let stamp):
            return vector.covers(stamp.dot) ? aside : [TextState.Change(insertingAll: state.text ?? [], stamp)] + aside
        case .kept:
            return try kept(state, at: key, unknownTo: vector) + aside
        }
    }

    private func kept(_ state: TextState, at key: TextKey, unknownTo vector: VersionVector) throws -> [TextState.Change] {
        var opened = try open(state, at: key, needsText: false)
        guard let archived = opened.archived, !archived.heads.allSatisfy({ vector.covers($0.dot) }) else { return [] }
        let changes = try opened.document.changes(unknownTo: vector, history: opened.history)
        var facts: [Dot: ArchivedChange] = [:]
        var open = Set(changes.map(\.dot))
        try StoredTextHistory(archive: archive, text: archived.number).forEachPart(before: archived.nextEvent, downTo: 0) { part in
            for change in part where open.remove(change.header.dot) != nil { facts[change.header.dot] = change }
        } until: {
            open.isEmpty
        }
        return try changes.map { change in
            guard let fact = facts[change.dot] else { throw TextArchive.corrupt }
            var operations = change.operations
            if fact.outside != nil, let replaced = fact.replacedScalars {
                operations = TextOperations([.delete(count: replaced, at: 0)])
                operations.append(change.operations)
            }
            return TextState.Change(
                stamp: Stamp(dot: change.dot, timestamp: fact.timestamp), parents: fact.outside ?? change.parents,
                replacedScalars: fact.replacedScalars, steps: operations.encodedSteps, inserted: operations.encodedText)
        }
    }
}
