import KithCausality

/// Everything known of one row: its cells, its tombstones, and the context it arrived with.
package struct RowState: Hashable, Sendable {
    /// A cell and the column it stands in, a number whose meaning the holder defines.
    package struct Entry: Hashable, Sendable {
        package var column: Int
        package var cell: Cell

        package init(column: Int, cell: Cell) {
            self.column = column
            self.cell = cell
        }
    }

    /// Sorted by column.
    package var cells: [Entry]
    /// Sorted by dot.
    package var tombstones: [Tombstone]
    /// What is known of this row beyond the holder's vector, because the row came with a catch-up that is not complete.
    package var context: VersionVector

    package init(cells: [Entry] = [], tombstones: [Tombstone] = [], context: VersionVector = VersionVector()) {
        self.cells = cells
        self.tombstones = tombstones
        self.context = context
    }

    /// The cell of `column`; `nil` if nobody has written it, which means that it reads as its default.
    package subscript(column: Int) -> Cell? {
        get { cells.first { $0.column == column }?.cell }
        set {
            let index = cells.firstIndex { $0.column >= column } ?? cells.endIndex
            let exists = index < cells.endIndex && cells[index].column == column
            switch (newValue, exists) {
            case (let cell?, true): cells[index].cell = cell
            case (let cell?, false): cells.insert(Entry(column: column, cell: cell), at: index)
            case (nil, true): cells.remove(at: index)
            case (nil, false): break
            }
        }
    }

    /// Whether nothing is left of the row but, perhaps, its context.
    package var isEmpty: Bool { cells.isEmpty && tombstones.isEmpty }

    /// The commits that live in the row's cells.
    package var cellDots: [Dot] { cells.flatMap(\.cell.dots) }

    /// The commits that live in the row, distinct and sorted.
    package var liveDots: [Dot] {
        var result: [Dot] = []
        for dot in (cellDots + tombstones.map(\.dot)).sorted() where result.last != dot { result.append(dot) }
        return result
    }

    /// Everything about the row that its holder has seen.
    package var clock: VersionVector {
        var clock = VersionVector(cellDots)
        for tombstone in tombstones {
            clock.join(tombstone.seen)
            clock.insert(tombstone.dot)
        }
        return clock
    }

    /// Whether readers see the row.
    package func isVisible(_ policy: DeletePolicy) -> Bool {
        if tombstones.isEmpty { return !cells.isEmpty }
        if policy == .deleteWins { return false }
        var seen = VersionVector()
        for tombstone in tombstones { seen.join(tombstone.seen) }
        // What was found is no edit, and brings nothing back.
        return cells.contains { $0.cell.writtenDots.contains { !seen.covers($0) } }
    }

    /// The part of the row that a replica which knows `vector` lacks, with all tombstones; `nil` if it lacks nothing.
    package func uncovered(by vector: VersionVector) -> RowState? {
        if vector.isEmpty, !isEmpty, !cells.contains(where: \.cell.isEmpty) { return self }
        let parts = cells.compactMap { entry in
            entry.cell.uncovered(by: vector).map { Entry(column: entry.column, cell: $0) }
        }
        if parts.isEmpty, tombstones.allSatisfy({ vector.covers($0.dot) }) { return nil }
        return RowState(cells: parts, tombstones: tombstones, context: context)
    }

    /// Merges a part of the row that another replica sent.
    ///
    /// - Parameters:
    ///   - isWhole: whether the sender has no other cells than these. What it has not, and its vector covers, is gone.
    ///   - isListed: whether the part comes in a listing: then its sender may have collected an earlier life of the row.
    ///   - incomplete: columns of which the sender may lack cells all the same.
    ///   - vector: what the holder knows of its whole store; the row's own context is added to it.
    ///   - theirs: what the sender knew of this row: its vector and the part's context.
    package mutating func merge(
        _ part: RowState, isWhole: Bool = false, isListed: Bool = false, incomplete: [Int] = [], knowing vector: VersionVector,
        theirs: VersionVector
    ) {
        let mine = context.isEmpty ? vector : vector.joined(with: context)
        if isWhole { dropCells(besides: part, incomplete, theirs: theirs) }
        let merged = keep(
            tombstones, knowing: mine, part.tombstones, knowing: theirs, dot: \.dot,
            same: { Tombstone(dot: $0.dot, seen: $0.seen.joined(with: $1.seen)) })
        for entry in part.cells {
            var cell = self[entry.column] ?? entry.cell.empty
            // The text of a deleted row that one side has collected, and whose id it may have used again.
            var other = entry.cell
            if case .text(let old) = cell, case .text(let new) = other {
                if !tombstones.isEmpty, new.hasForgotten(old, knowing: theirs) { cell = .text(old.leaving(theirs)) }
                if !part.tombstones.isEmpty, old.hasForgotten(new, knowing: mine) { other = .text(new.leaving(mine)) }
            }
            let before = cell
            cell.merge(other, knowing: mine, theirs: theirs)
            // A row that was collected, and is deleted still or was written anew on the other side.
            let losesMine = isListed && !incomplete.contains(entry.column) || !merged.isEmpty || !tombstones.isEmpty
            if case .set(let old) = before, case .set(let new) = entry.cell, case .set(var set) = cell {
                // Or a set that was known here comes once more.
                let isKnown = mine.covers(new.touched) && mine.covers(new.adopters)
                let losesTheirs = !merged.isEmpty || !part.tombstones.isEmpty || isKnown
                if losesMine || losesTheirs {
                    set.forget(old, new, beyond: losesMine ? theirs : nil, theirs: losesTheirs ? mine : nil)
                    cell = .set(set)
                }
            }
            self[entry.column] = cell.isEmpty ? nil : cell
        }
        tombstones = merged
    }

    private mutating func dropCells(besides part: RowState, _ incomplete: [Int], theirs: VersionVector) {
        for entry in cells where part[entry.column] == nil && !incomplete.contains(entry.column) {
            var cell = entry.cell
            if case .set(let set) = cell, theirs.covers(set.touched), theirs.covers(set.adopters) { cell = cell.empty }
            if case .text(let text) = cell, text.dots.allSatisfy(theirs.covers) { cell = cell.empty }
            cell.merge(entry.cell.empty, knowing: VersionVector(), theirs: theirs)
            self[entry.column] = cell.isEmpty ? nil : cell
        }
    }
}

extension Cell {
    /// A cell of the same kind that nobody has written.
    fileprivate var empty: Cell {
        switch self {
        case .register: .register(RegisterState())
        case .set: .set(SetState())
        case .counter: .counter(CounterState())
        case .text: .text(TextState())
        }
    }

    /// Whether no commit lives here.
    var isEmpty: Bool {
        switch self {
        case .register(let state): state.writes.isEmpty
        case .set(let state): state.touched.isEmpty && state.adopters.isEmpty
        case .counter(let state): state.totals.isEmpty && state.bases.isEmpty
        case .text(let state): state.touched.isEmpty && state.adopted?.adopters.isEmpty != false
        }
    }
}
