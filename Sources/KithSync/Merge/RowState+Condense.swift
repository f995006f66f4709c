import KithCausality

/// How much one row may hold, so that a record and a frame carry it; bytes aside.
package struct RowLimits: Sendable {
    /// Alternatives that a cell keeps when room is made in it.
    package static let alternativesMax = 8

    /// Writes of a register, dots of an element, marks of a text, tombstones of the row.
    package var concurrent = WireLimits.concurrentMax
    /// Elements of a set.
    package var elements = WireLimits.setElementsMax
    /// Entries of all lists together.
    package var entries = WireLimits.rowEntriesMax

    package init() {}
}

extension RowState {
    /// Makes room in a row in which merges have gathered more than a record or a frame carries, by one commit of this replica: what
    /// the row shows is written anew, and takes the place of all that stood for it. What is hidden stays hidden.
    ///
    /// A register keeps what it shows and a few alternatives, a set all elements but those of who added the most, a text its marks as
    /// one, and deletions become one that has seen what they had. See docs/decisions/rows-beyond-a-frame.md.
    ///
    /// - Parameters:
    ///   - policy: what becomes of an edit that did not know of a deletion.
    ///   - stamp: makes the commit, if one is needed.
    package mutating func condense(
        _ limits: RowLimits = RowLimits(), policy: DeletePolicy, stamp: () throws -> Stamp
    ) rethrows {
        if isOvergrown(limits) { condense(limits, isThorough: false, policy, try stamp()) }
        // So much less that others may do the same at once.
        var ample = limits
        ample.entries /= 4
        guard exceededLimit(limits) == "entriesMax" else { return }
        var thorough = self
        thorough.condense(limits, isThorough: true, policy, Stamp(dot: Dot(replica: .nobody, sequence: 1), timestamp: .zero))
        if thorough.exceededLimit(ample) == nil { condense(limits, isThorough: true, policy, try stamp()) }
    }

    private func isOvergrown(_ limits: RowLimits) -> Bool {
        tombstones.count > limits.concurrent || cells.contains { $0.cell.isOvergrown(limits) }
    }

    private mutating func condense(_ limits: RowLimits, isThorough: Bool, _ policy: DeletePolicy, _ stamp: Stamp) {
        let wasVisible = isVisible(policy)
        for index in cells.indices where isThorough || cells[index].cell.isOvergrown(limits) {
            cells[index].cell.condense(limits, isThorough: isThorough, stamp)
        }
        guard !tombstones.isEmpty else { return }
        var seen = VersionVector(tombstones.map(\.dot))
        for tombstone in tombstones { seen.join(tombstone.seen) }
        if !wasVisible { seen.insert(stamp.dot) }
        tombstones = [Tombstone(dot: stamp.dot, seen: seen)]
    }
}

extension Cell {
    fileprivate func isOvergrown(_ limits: RowLimits) -> Bool {
        switch self {
        case .register(let state): state.writes.count > limits.concurrent
        case .set(let state): state.isOvergrown(limits)
        case .counter: false
        case .text(let state): state.present.count > limits.concurrent
        }
    }

    fileprivate mutating func condense(_ limits: RowLimits, isThorough: Bool, _ stamp: Stamp) {
        switch self {
        case .register(var state):
            state.condense(stamp)
            self = .register(state)
        case .set(var state):
            state.condense(limits, isThorough: isThorough, stamp)
            self = .set(state)
        case .counter:
            break
        case .text(var state):
            if state.present.isEmpty { return }
            state.present = [stamp.dot]
            state.touched.insert(stamp.dot)
            self = .text(state)
        }
    }
}

extension RegisterState {
    /// Writes what is shown anew, and keeps each of the latest alternatives once.
    fileprivate mutating func condense(_ stamp: Stamp) {
        guard writes.count > 1, let value = shown?.value else { return }
        set(value, stamp: stamp)
        keepAlternatives(RowLimits.alternativesMax)
        let kept = Set(alternatives.map(\.stamp.dot) + [stamp.dot])
        supersede { !kept.contains($0.stamp.dot) }
    }

    /// Removes the oldest of the values that lost, so that no more than `count` are left. One that was adopted does not come back with
    /// an equal one.
    package mutating func keepAlternatives(_ count: Int) {
        guard let shown else { return }
        let latest = alternatives.sorted { $0.stamp.isShown(over: $1.stamp) }.prefix(count)
        let kept = Set(latest.map(\.value))
        supersede { $0.value != shown.value && !kept.contains($0.value) }
    }

    private mutating func supersede(_ isRemoved: (Write) -> Bool) {
        writes.removeAll { write in
            guard isRemoved(write) else { return false }
            if write.stamp.isAdopted { replaced.insert(write.value.contentHash) }
            return true
        }
    }
}

extension SetState {
    fileprivate func isOvergrown(_ limits: RowLimits) -> Bool {
        if elements.count > limits.elements || adopted.count > limits.elements { return true }
        if elements.contains(where: { $0.dots.count > limits.concurrent }) { return true }
        return elements.count + adopted.count > limits.elements && members.count > limits.elements
    }

    fileprivate mutating func condense(_ limits: RowLimits, isThorough: Bool, _ stamp: Stamp) {
        if elements.isEmpty, adopted.isEmpty { return }
        if !adopted.isEmpty, isThorough || elements.count + adopted.count > limits.elements {
            // What was found is written from now on: lists of it can only grow.
            let written = Set(elements.map(\.json))
            let found = adopted.filter { !written.contains($0) && !removed.contains(Self.contentHash($0)) }
            elements += found.map { Element(json: $0, dots: [stamp.dot]) }
            elements.sort { $0.json.lexicographicallyPrecedes($1.json) }
            removed = .everything
            dropRemoved()
        }
        for index in elements.indices where elements[index].dots.count > (isThorough ? 1 : limits.concurrent) {
            elements[index].dots = [stamp.dot]
        }
        if elements.count > limits.elements { keepFairly(limits.elements) }
        touched.insert(stamp.dot)
    }

    /// Keeps at most `limit` elements. Those go first of whose replica there are the most, and of them the latest: who fills a set does
    /// not drive out what others have added.
    private mutating func keepFairly(_ limit: Int) {
        var counts: [ReplicaID: Int] = [:]
        for element in elements {
            for dot in element.dots { counts[dot.replica, default: 0] += 1 }
        }
        func author(_ element: Element) -> Dot? {
            element.dots.min { (counts[$0.replica] ?? 0, $0) < (counts[$1.replica] ?? 0, $1) }
        }
        var shares: [ReplicaID: [(dot: Dot, index: Int)]] = [:]
        for (index, element) in elements.enumerated() {
            guard let author = author(element) else { continue }
            shares[author.replica, default: []].append((author, index))
        }
        var left = limit
        var kept: Set<Int> = []
        let smallestFirst = shares.sorted { ($0.value.count, $0.key) < ($1.value.count, $1.key) }
        for (place, share) in smallestFirst.enumerated() {
            let room = left / (smallestFirst.count - place)
            let oldest = share.value.sorted { ($0.dot, $0.index) < ($1.dot, $1.index) }.prefix(room)
            kept.formUnion(oldest.map(\.index))
            left -= oldest.count
        }
        elements = elements.indices.filter(kept.contains).map { elements[$0] }
    }
}
