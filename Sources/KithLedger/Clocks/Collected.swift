import KithCausality
import KithSync

extension RowState.Entry {
    /// Whether garbage collection takes the cell: all but counters, whose totals nobody can write for another.
    package var isCollectable: Bool { if case .counter = cell { false } else { true } }
}

extension RowState {
    /// The cells that garbage collection takes.
    package var content: [Entry] { cells.filter(\.isCollectable) }

    /// How many cells ``content`` has.
    package var contentCount: Int { cells.count(where: \.isCollectable) }

    /// Whether nothing is there that garbage collection would take.
    package var isBare: Bool { contentCount == 0 }

    /// Whether the row was deleted here, and the sender of `part`, who knows of all its deletions, remembers none.
    package func hasTombstonesForgotten(by part: RowState, knowing theirs: VersionVector) -> Bool {
        if tombstones.isEmpty { return false }
        let remembered = Set(part.tombstones.map(\.dot))
        return tombstones.allSatisfy { theirs.covers($0.dot) && !remembered.contains($0.dot) }
    }

    /// Whether the deletions of `old` have seen nothing of what is here, counters aside.
    package func isNew(after old: RowState) -> Bool {
        var seen = VersionVector()
        for tombstone in old.tombstones { seen.join(tombstone.seen) }
        return content.allSatisfy { !$0.cell.dots.contains(where: seen.covers) }
    }

    /// Whether the sender of `part` had collected a text or a set of the row that is here.
    package func hasContentForgotten(by part: RowState, knowing theirs: VersionVector) -> Bool {
        func isForgotten(_ old: VersionVector?, _ new: VersionVector?) -> Bool {
            old?.entries.contains { theirs.covers($0) && new?.covers($0) != true } == true
        }
        return cells.contains { entry in
            switch (entry.cell, part[entry.column]) {
            case (.text(let old), .text(let new)?):
                isForgotten(old.touched, new.touched) || isForgotten(old.adopted?.adopters, new.adopted?.adopters)
            case (.set(let old), .set(let new)?): isForgotten(old.touched, new.touched) || isForgotten(old.adopters, new.adopters)
            default: false
            }
        }
    }
}

extension TextState {
    /// Whether a replica with the vector `known` has, or had, changes that are needed beside `sent`, which it lacks.
    package func dependsOnHistory(of known: VersionVector, beside sent: [Change]) -> Bool {
        switch past {
        case .none: return false
        case .one(let stamp): return known.covers(stamp.dot)
        case .kept:
            if sent.contains(where: { $0.replacedScalars != nil }) { return false }
            if sent.isEmpty { return touched.entries.contains { known[$0.replica] > 0 } }
            let dots = Set(sent.map(\.stamp.dot))
            return sent.contains { $0.parents.contains { !dots.contains($0) && known.covers($0) } }
        }
    }

    /// Whether a replica that knows `known`, and has collected the row, had something of this text.
    fileprivate func isForgotten(by known: VersionVector) -> Bool {
        if changes.contains(where: { $0.replacedScalars != nil }) { return false }
        if let adopted, !adopted.live.isEmpty, adopted.adopters.entries.contains(where: known.covers) { return true }
        switch past {
        // Of a text that was only found, its adopters have told.
        case .none where changes.isEmpty: return !touched.isEmpty && known.covers(touched) || present.contains(where: known.covers)
        case .none: return changes.contains { known.covers($0.stamp.dot) }
        case .one(let stamp): return known.covers(stamp.dot)
        case .kept: return touched.entries.contains { known[$0.replica] > 0 }
        }
    }
}

extension SetState {
    /// Whether a merge has left out one of the devices that found something here.
    fileprivate func hasLostFinders(in remaining: Cell?) -> Bool {
        guard case .set(let left)? = remaining else { return !adopters.isEmpty }
        return !left.adopters.covers(adopters)
    }
}

extension Cell {
    /// Whether a replica that knows `known`, and has collected the row, lacks something of this cell.
    ///
    /// - Parameter remaining: what a merge with that replica has left of the cell.
    package func isForgotten(by known: VersionVector, leaving remaining: Cell?) -> Bool {
        switch self {
        case .register(let state): state.writes.contains { known.covers($0.stamp.dot) }
        case .set(let state):
            known.covers(state.touched) && known.covers(state.adopters) || state.elements.contains { $0.dots.contains(where: known.covers) }
                || state.hasLostFinders(in: remaining)
        case .counter: false
        case .text(let state): state.isForgotten(by: known)
        }
    }

    /// This cell of a row that is known to be collected elsewhere, for those who have forgotten what `known` covers of it.
    ///
    /// - Parameter remaining: what is left of the cell without that.
    /// - Returns: what is left, with what was forgotten as written by `stamp`; a register goes on showing what is left of it.
    package func written(again stamp: Stamp, forgetting known: VersionVector, into remaining: Cell?) -> Cell {
        switch (self, remaining) {
        case (.register(let full), .register(var register)?):
            register.set(register.shown?.value ?? full.shown?.value ?? .null, stamp: stamp)
            return .register(register)
        case (.register(let full), _):
            return .register(RegisterState(writes: [Write(stamp: stamp, value: full.shown?.value ?? .null)]))
        case (.set(let full), _):
            var set = SetState()
            if case .set(let left)? = remaining { set = left }
            let found = full.adopters.entries.contains(where: known.covers) ? full.members : []
            set.add(found + full.elements.filter { $0.dots.contains(where: known.covers) }.map(\.json), dot: stamp.dot)
            return .set(set)
        case (.counter, _), (.text, _):
            return remaining ?? self
        }
    }
}
