import KithCausality

/// One column of one row. Behind a reference, because rows are copied much more often than their cells are looked into.
package indirect enum Cell: Hashable, Sendable {
    case register(RegisterState)
    case set(SetState)
    case counter(CounterState)
    case text(TextState)

    /// The cell of a column of this kind that nobody has written.
    package init(empty kind: ColumnKind) {
        switch kind {
        case .register: self = .register(RegisterState())
        case .set: self = .set(SetState())
        case .counter: self = .counter(CounterState())
        case .text: self = .text(TextState())
        }
    }

    /// The commits that live in this cell.
    package var dots: [Dot] {
        switch self {
        case .register(let state): state.writes.map(\.stamp.dot)
        case .set(let state): state.dots
        case .counter(let state): state.dots
        case .text(let state): state.dots
        }
    }

    /// Those of them that wrote, and not merely found.
    var writtenDots: [Dot] {
        switch self {
        case .register(let state): state.writes.compactMap { $0.stamp.isAdopted ? nil : $0.stamp.dot }
        case .set(let state): state.touched.entries
        case .counter(let state): state.totals.map(\.dot)
        case .text(let state): state.touched.entries
        }
    }

    /// What a replica that knows `vector` lacks of this cell; `nil` if nothing.
    ///
    /// Registers and sets travel whole, a counter's totals and a text's changes one by one.
    func uncovered(by vector: VersionVector) -> Cell? {
        switch self {
        case .register(let state):
            return state.writes.contains { !vector.covers($0.stamp.dot) } ? self : nil
        case .set(let state):
            return vector.covers(state.touched) && vector.covers(state.adopters) ? nil : self
        case .counter(let state):
            var part = state
            part.totals.removeAll { vector.covers($0.dot) }
            part.bases.removeAll { vector.covers($0.stamp.dot) }
            return part.totals.isEmpty && part.bases.isEmpty ? nil : .counter(part)
        case .text(let state):
            return state.uncovered(by: vector).map(Cell.text)
        }
    }

    /// Merges what another replica knows. Cells of different kinds never meet: the kind is part of a column's identity.
    mutating func merge(_ other: Cell, knowing mine: VersionVector, theirs: VersionVector) {
        switch (self, other) {
        case (.register(var state), .register(let theirState)):
            state.merge(theirState, knowing: mine, theirs: theirs)
            self = .register(state)
        case (.set(var state), .set(let theirState)):
            state.merge(theirState, knowing: mine, theirs: theirs)
            self = .set(state)
        case (.counter(var state), .counter(let theirState)):
            state.merge(theirState)
            self = .counter(state)
        case (.text(var state), .text(let theirState)):
            state.merge(theirState, knowing: mine, theirs: theirs)
            self = .text(state)
        default:
            break
        }
    }
}
