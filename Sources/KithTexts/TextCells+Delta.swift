import KithCausality
import KithLedger
import KithSync
import KithText

/// What others lack of a text.
extension TextCells {
    /// Puts the changes into the text cells of a part of a row, whose receiver knows `vector`.
    package func fill(_ part: inout RowState, table: Int, id: RowID, unknownTo vector: VersionVector) throws {
        for index in part.cells.indices {
            guard case .text(var text) = part.cells[index].cell else { continue }
            let key = TextKey(table: table, id: id, column: part.cells[index].column)
            // A change that was put aside is no part of a text that has gone on without it, as no honest device lets it.
            text.changes = try changes(of: text, at: key, unknownTo: vector).filter { $0.isRoot || text.touched.covers($0.stamp.dot) }
            text.past = .none
            text.text = nil
            text.forgetPasts()
            part.cells[index].cell = .text(text)
        }
    }

    /// The changes that someone lacks who knows `vector`, parents first, then those that nobody can apply yet.
    package func changes(of state: TextState, at key: TextKey, unknownTo vector: VersionVector) throws -> [TextState.Change] {
        guard let adopted = state.adopted else { return try documentChanges(of: state, at: key, unknownTo: vector) }
        return try adopted.documents.flatMap { document in
            try documentChanges(of: state.part(document.number), at: key, unknownTo: document.known(to: vector)).map { change in
                var change = change
                change.document = document.number
                return change
            }
        }
    }

    private func documentChanges(
        of state: TextState, at cell: TextKey, unknownTo vector: VersionVector
    ) throws -> [TextState.Change] {
        let key = cell.of(state)
        let aside = try aside(at: key).filter { !vector.covers($0.stamp.dot) } + postponed(at: key, unknownTo: vector)
        switch state.past {
        case .none:
            return aside
        case .one(let stamp):
            return vector.covers(stamp.dot) ? aside : [TextState.Change(insertingAll: state.text ?? [], stamp)] + aside
        case .kept:
            return try kept(state, at: key, unknownTo: vector) + aside
        }
    }

    /// Changes whose turn has not come, at most so many: more than a slice takes tell that it takes them not.
    package func postponed(
        at key: TextKey, unknownTo vector: VersionVector = VersionVector(), max limit: Int = WireLimits.textChangesMax + 1
    ) throws -> [TextState.Change] {
        guard limit > 0, try TurnRows(archive.ledger).has(key) else { return [] }
        let portions = PortionRows(archive.ledger)
        var changes: [TextState.Change] = []
        for portion in try portions.outlines(at: key) where !portion.span.isCovered(by: vector) {
            changes += try portions.changes(portion.number, at: key).filter { !vector.covers($0.stamp.dot) }
            if changes.count >= limit { break }
        }
        return Array(changes.prefix(limit))
    }

    private func kept(_ state: TextState, at key: TextKey, unknownTo vector: VersionVector) throws -> [TextState.Change] {
        try kept(try open(state, at: key, needsText: false), unknownTo: vector)
    }

    /// The same of a text that was opened.
    func kept(_ opened: Opened, unknownTo vector: VersionVector) throws -> [TextState.Change] {
        guard let archived = opened.archived, !archived.heads.allSatisfy({ vector.covers($0.dot) }) else { return [] }
        var document = opened.document
        let changes = try document.changes(unknownTo: vector, history: opened.history)
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
            if fact.outside != nil, let replaced = fact.replacedScalars { operations = operations.deletingFirst(replaced) }
            return TextState.Change(
                stamp: Stamp(dot: change.dot, timestamp: fact.timestamp), parents: fact.outside ?? change.parents,
                replacedScalars: fact.replacedScalars, steps: operations.encodedSteps, inserted: operations.encodedText)
        }
    }
}

// MARK: - More changes than one slice takes

extension TextCells {
    /// Takes changes from the beginning of a row's texts, as many as fill a slice. What waits for other changes stays in `part`.
    package func takePrelude(of part: inout RowState, _ limits: SliceLimits, table: Int, id: RowID) throws -> RowState {
        var prelude = RowState()
        var (count, bytes) = (0, 0)
        for index in part.cells.indices {
            guard case .text(var text) = part.cells[index].cell else { continue }
            let column = part.cells[index].column
            let documents = text.adopted?.documents.map(\.number) ?? [0]
            let aside = Set(
                try documents.flatMap { document in
                    let key = TextKey(table: table, id: id, column: column, document: document)
                    return try (self.aside(at: key) + postponed(at: key)).map(\.stamp.dot)
                })
            let taken = text.changes.prefix { change in
                let fits = count == 0 || (count < limits.textChangesMax && bytes + change.byteCount <= limits.textBytesMax)
                guard fits, !aside.contains(change.stamp.dot) else { return false }
                count += 1
                bytes += change.byteCount
                return true
            }
            if taken.isEmpty { continue }
            prelude.cells.append(RowState.Entry(column: column, cell: .text(TextState(early: Array(taken)))))
            text.changes.removeFirst(taken.count)
            part.cells[index].cell = .text(text)
        }
        return prelude
    }

    /// Keeps changes that came ahead of their row, until its turn comes if the row is here.
    ///
    /// - Returns: the texts that they are of.
    @discardableResult
    package func keepEarly(_ prelude: RowState, table: Int, id: RowID, _ limits: EarlyChanges.Limits) throws -> [TextKey] {
        archive.ledger.keepsEarlyChanges = true
        var keys: [TextKey] = []
        for entry in prelude.cells {
            guard case .text(let text) = entry.cell else { continue }
            for (document, changes) in Dictionary(grouping: text.changes, by: \.document) {
                let key = TextKey(table: table, id: id, column: entry.column, document: document)
                try PortionRows(archive.ledger).append(changes, at: key, max: archive.ledger.textBudget.changesMax)
                try EarlyChanges(archive.ledger).check(key, limits)
                keys.append(key)
            }
        }
        return keys
    }
}

extension RowState {
    /// Takes out what has gone ahead of the row.
    package mutating func leaveOut(_ sent: Preludes, column key: (Int) -> ColumnKey) {
        for index in cells.indices {
            guard case .text(var text) = cells[index].cell, let last = sent[key(cells[index].column)] else { continue }
            // A dot stands once in a document: what goes ends with it.
            var open = last.filter { document, dot in text.changes.contains { $0.document == document && $0.stamp.dot == dot } }
            text.changes.removeAll { change in
                guard let dot = open[change.document] else { return false }
                if change.stamp.dot == dot { open[change.document] = nil }
                return true
            }
            cells[index].cell = .text(text)
        }
    }

    /// Whether the changes of the row's texts are more than one slice takes; a single one is not.
    package func exceedsTextLimits(_ limits: SliceLimits) -> Bool {
        let count = textChangeCount
        var bytes = 0
        for entry in cells {
            guard case .text(let text) = entry.cell else { continue }
            for change in text.changes { bytes += change.byteCount }
        }
        return count > 1 && (count > limits.textChangesMax || bytes > limits.textBytesMax)
    }
}

extension TextState {
    /// Changes alone.
    fileprivate init(early changes: [Change]) {
        self.init(touched: VersionVector(changes.map(\.stamp.dot).filter { $0.replica != .nobody }), changes: changes)
    }
}

extension TextState.Change {
    /// About what it takes in a slice.
    fileprivate var byteCount: Int { steps.count + inserted.count + 32 * (1 + parents.count) }
}
