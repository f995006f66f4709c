import KithCausality

/// Puts changes that arrived in any order so that parents come first, and names their parents by number.
struct ArrivalOrder {
    /// A parent: a change that the document has, by its last event, or one of the same arrival, by its place.
    enum Parent {
        case event(Int)
        case arrival(Int)
    }

    struct Entry {
        let change: TextChange
        let parents: [Parent]
    }

    /// The changes to apply, parents first.
    private(set) var entries: [Entry] = []
    private(set) var known: [Dot] = []
    private(set) var rejected: [RejectedTextChange] = []
    private(set) var pending: [TextChange] = []
    /// For the changes here: their place in ``entries``.
    private var places: [Dot: Int] = [:]
    private var alreadyKnown: Set<Dot> = []
    /// Changes that wait for another one of the same arrival or for one that is missing.
    private var waiting: [Dot: [TextChange]] = [:]

    init(_ changes: some Sequence<TextChange>, log: ChangeLog, history: some TextHistory) throws {
        entries.reserveCapacity(changes.underestimatedCount)
        places.reserveCapacity(changes.underestimatedCount)
        for change in changes {
            do throws(TextError) {
                try change.validateShape()
            } catch {
                rejected.append(RejectedTextChange(change: change, reason: error))
                continue
            }
            try place(change, log, history)
        }
        if !waiting.isEmpty { sortOutWaiting(changes) }
    }

    /// Takes a change, and all that waited for it, if its parents are there.
    private mutating func place(_ change: TextChange, _ log: ChangeLog, _ history: some TextHistory) throws {
        if try takes(change, log, history) == false { return }
        guard var ready = waiting.removeValue(forKey: change.dot) else { return }
        while let next = ready.popLast() {
            if try takes(next, log, history) { ready += waiting.removeValue(forKey: next.dot) ?? [] }
        }
    }

    /// Takes a change if it is new and its parents are there; otherwise notes what it waits for.
    private mutating func takes(_ change: TextChange, _ log: ChangeLog, _ history: some TextHistory) throws -> Bool {
        if places[change.dot] != nil { return false }
        if try log.lastEvent(of: change.dot, from: history) != nil {
            if alreadyKnown.insert(change.dot).inserted { known.append(change.dot) }
            return false
        }
        var parents: [Parent] = []
        parents.reserveCapacity(change.parents.count)
        for dot in change.parents {
            if let place = places[dot] {
                parents.append(.arrival(place))
            } else if let event = try log.lastEvent(of: dot, from: history) {
                parents.append(.event(event))
            } else {
                waiting[dot, default: []].append(change)
                return false
            }
        }
        places[change.dot] = entries.count
        entries.append(Entry(change: change, parents: parents))
        return true
    }

    /// What still waits: for a change that may come, or, in a circle, for itself.
    private mutating func sortOutWaiting(_ changes: some Sequence<TextChange>) {
        let unplaced = Set(waiting.values.joined().map(\.dot))
        // What hangs, directly or not, on a change that is not here can be completed; the rest cannot.
        var hopeful: Set<Dot> = []
        var open = waiting.keys.filter { !unplaced.contains($0) }
        while let dot = open.popLast() {
            for change in waiting[dot] ?? [] where hopeful.insert(change.dot).inserted { open.append(change.dot) }
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
}

extension ArrivalOrder {
    /// For each entry whether all later ones build on it or on something after it (they ignore what is older).
    var closings: [Bool] {
        var oldest = Int.max
        var result = [Bool](repeating: false, count: entries.count)
        for index in entries.indices.reversed() {
            result[index] = oldest >= index
            var own = entries[index].parents.isEmpty ? -1 : Int.max
            for parent in entries[index].parents {
                if case .arrival(let place) = parent { own = min(own, place) } else { own = -1 }
            }
            oldest = min(oldest, own)
        }
        return result
    }
}
