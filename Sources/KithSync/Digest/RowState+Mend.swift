import KithCausality

extension RowState {
    /// A value that gives way to another one of the same commit.
    package struct LostValue: Hashable, Sendable {
        package let column: Int
        package let value: ColumnValue
    }

    /// Both sides' knowledge of a row that differs although both know the same commits, which a merge never causes: one of
    /// them has lost or changed something. Nothing tells who, so nothing is taken away: every write that one of them
    /// still has stays. See docs/decisions/mending-keeps-everything.md.
    ///
    /// Commutative and idempotent. Of two values of one commit the greater one stays; `lost` are those of `self` that give
    /// way and that no other write has.
    ///
    /// - Returns: `nil` if the row counts on neither side (``digest(at:column:)``), or if nothing changes.
    package func mended(with other: RowState) -> (state: RowState, lost: [LostValue])? {
        guard counts || other.counts else { return nil }
        // A cell without a commit says nothing, whoever sends it.
        var state = RowState(cells: cells.filter { !$0.cell.isEmpty }, tombstones: [], context: context)
        for entry in other.cells where !entry.cell.isEmpty {
            state[entry.column] = state[entry.column]?.united(with: entry.cell) ?? entry.cell
        }
        let lost = cells.flatMap { entry in
            entry.cell.values(missingFrom: state[entry.column]).map { LostValue(column: entry.column, value: $0) }
        }
        return state == self ? nil : (state, lost)
    }

    /// Whether the row is a part of the digest.
    private var counts: Bool { tombstones.isEmpty && cells.contains { !$0.cell.dots.isEmpty } }
}

extension Cell {
    /// Every write of both.
    fileprivate func united(with other: Cell) -> Cell {
        switch (self, other) {
        case (.register(let mine), .register(let theirs)): .register(mine.united(with: theirs))
        case (.set(let mine), .set(let theirs)): .set(mine.united(with: theirs))
        case (.counter(let mine), .counter(let theirs)): .counter(mine.united(with: theirs))
        case (.text(let mine), .text(let theirs)): .text(mine.united(with: theirs))
        // Cells of different kinds never meet: the kind is part of a column's identity.
        default: self
        }
    }

    /// The values of a register that `other` shows nowhere, neither as its own nor as alternatives.
    fileprivate func values(missingFrom other: Cell?) -> [ColumnValue] {
        guard case .register(let mine) = self, case .register(let theirs)? = other else { return [] }
        return mine.writes.map(\.value).filter { value in !theirs.writes.contains { $0.value == value } }
    }
}

extension RegisterState {
    fileprivate func united(with other: RegisterState) -> RegisterState {
        let nothing = VersionVector()
        var state = RegisterState(
            writes: keep(writes, knowing: nothing, other.writes, knowing: nothing, dot: \.stamp.dot) { mine, theirs in
                Write(
                    stamp: mine.stamp.markedTimestamp < theirs.stamp.markedTimestamp ? theirs.stamp : mine.stamp,
                    value: max(mine.value, theirs.value))
            }, replaced: replaced)
        state.replaced.formUnion(other.replaced)
        state.dropReplaced()
        return state
    }
}

extension TextState {
    /// With the other's changes, for the store to apply those it lacks.
    fileprivate func united(with other: TextState) -> TextState {
        var state = self
        state.merge(other, knowing: VersionVector(), theirs: VersionVector())
        return state
    }
}

extension SetState {
    fileprivate func united(with other: SetState) -> SetState {
        var state = self
        // With vectors that cover nothing, a merge keeps everything.
        state.merge(other, knowing: VersionVector(), theirs: VersionVector())
        return state
    }
}

extension CounterState {
    fileprivate func united(with other: CounterState) -> CounterState {
        var state = self
        state.merge(other)
        for total in other.totals {
            guard let index = state.totals.firstIndex(where: { $0.dot == total.dot }) else { continue }
            state.totals[index].amount = max(state.totals[index].amount, total.amount)
        }
        for base in other.bases {
            guard let index = state.bases.firstIndex(where: { $0.stamp.dot == base.stamp.dot }) else { continue }
            state.bases[index].amount = max(state.bases[index].amount, base.amount)
        }
        return state
    }
}
