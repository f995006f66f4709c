import KithCausality

/// Puts changes that arrived in any order so that parents come first, and names their parents by number.
struct ArrivalOrder {
    /// A parent: a change that the document has, by its last event, or one of the same arrival, by its place.
    enum Parent {
        case event(Int)
        case arrival(Int)
    }

    /// A change by its place in ``changes``, and its parents by theirs in ``parentPool``.
    private struct Entry {
        let change: Int
        let parents: Range<Int>
    }

    private let changes: ArraySlice<TextChange>
    /// The changes to apply, parents first and branch by branch.
    private var entries: ContiguousArray<Entry> = []
    private var parentPool: ContiguousArray<Parent> = []
    private(set) var known: [Dot] = []
    private(set) var rejected: [RejectedTextChange] = []
    private(set) var pending: [TextChange] = []
    /// For the changes here: their place in ``entries``.
    private var places: [Dot: Int] = [:]
    private var alreadyKnown: Set<Dot> = []
    /// Changes that wait for another one of the same arrival or for one that is missing.
    private var waiting: [Dot: [Int]] = [:]

    init(_ changes: ArraySlice<TextChange>, log: ChangeLog, history: some TextHistory) throws {
        self.changes = changes
        entries.reserveCapacity(changes.count)
        places.reserveCapacity(changes.count)
        for index in changes.indices {
            do throws(TextError) {
                try changes[index].validateShape()
            } catch {
                rejected.append(RejectedTextChange(change: changes[index], reason: error))
                continue
            }
            try place(index, log, history)
        }
        if !waiting.isEmpty { sortOutWaiting() }
        arrangeByBranch()
    }

    /// The changes to apply, by number.
    var indices: Range<Int> { entries.indices }

    /// The change to apply as number `index`.
    subscript(index: Int) -> TextChange { changes[entries[index].change] }

    func parents(of index: Int) -> ArraySlice<Parent> { parentPool[entries[index].parents] }

    /// Takes a change, and all that waited for it, if its parents are there.
    private mutating func place(_ index: Int, _ log: ChangeLog, _ history: some TextHistory) throws {
        if try takes(index, log, history) == false || waiting.isEmpty { return }
        guard var ready = waiting.removeValue(forKey: changes[index].dot) else { return }
        while let next = ready.popLast() {
            if try takes(next, log, history) { ready += waiting.removeValue(forKey: changes[next].dot) ?? [] }
        }
    }

    /// Takes a change if it is new and its parents are there; otherwise notes what it waits for.
    private mutating func takes(_ index: Int, _ log: ChangeLog, _ history: some TextHistory) throws -> Bool {
        let dot = changes[index].dot
        if try log.lastEvent(of: dot, from: history) != nil {
            if alreadyKnown.insert(dot).inserted { known.append(dot) }
            return false
        }
        let parents = parentPool.count
        for parent in changes[index].parents {
            if let place = places[parent] {
                parentPool.append(.arrival(place))
            } else if let event = try log.lastEvent(of: parent, from: history) {
                parentPool.append(.event(event))
            } else {
                parentPool.removeSubrange(parents...)
                waiting[parent, default: []].append(index)
                return false
            }
        }
        if let earlier = places.updateValue(entries.count, forKey: dot) {
            places[dot] = earlier
            parentPool.removeSubrange(parents...)
            return false
        }
        entries.append(Entry(change: index, parents: parents..<parentPool.count))
        return true
    }

    /// What still waits: for a change that may come, or, in a circle, for itself.
    private mutating func sortOutWaiting() {
        let unplaced = Set(waiting.values.joined().map { changes[$0].dot })
        // What hangs, directly or not, on a change that is not here can be completed; the rest cannot.
        var hopeful: Set<Dot> = []
        var open = waiting.keys.filter { !unplaced.contains($0) }
        while let dot = open.popLast() {
            for index in waiting[dot] ?? [] where hopeful.insert(changes[index].dot).inserted {
                open.append(changes[index].dot)
            }
        }
        var seen: Set<Dot> = []
        for change in changes where unplaced.contains(change.dot) && seen.insert(change.dot).inserted {
            if hopeful.contains(change.dot) {
                pending.append(change)
            } else {
                rejected.append(RejectedTextChange(change: change, reason: .cycle))
            }
        }
    }

    private mutating func arrangeByBranch() {
        guard entries.count > 2 else { return }
        var events = ContiguousArray(repeating: 0, count: entries.count)
        var edges: ContiguousArray<BranchOrder.Edge> = []
        for (child, entry) in entries.enumerated() {
            events[child] = changes[entry.change].operations.eventCount
            for parent in entry.parents {
                if case .arrival(let place) = parentPool[parent] { edges.append((place, child)) }
            }
        }
        let order = BranchOrder(events: events, edges: edges).nodes
        var newPlaces = order
        for (place, old) in order.enumerated() { newPlaces[old] = place }
        for parent in parentPool.indices {
            if case .arrival(let old) = parentPool[parent] { parentPool[parent] = .arrival(newPlaces[old]) }
        }
        entries = ContiguousArray(order.map { entries[$0] })
    }
}

extension ArrivalOrder {
    /// Whether a change is a first one, or a restart: where it stands depends on all there ever was.
    func standsAmongAll(_ index: Int) -> Bool { parents(of: index).isEmpty || self[index].isRestart }

    /// For each change to apply whether all later ones build on it or on something after it (they ignore what is older).
    var closings: [Bool] {
        var oldest = Int.max
        var result = [Bool](repeating: false, count: entries.count)
        for index in entries.indices.reversed() {
            result[index] = oldest >= index
            let parents = parents(of: index)
            var own = standsAmongAll(index) ? -1 : Int.max
            for parent in parents {
                if case .arrival(let place) = parent { own = min(own, place) } else { own = -1 }
            }
            oldest = min(oldest, own)
        }
        return result
    }
}
