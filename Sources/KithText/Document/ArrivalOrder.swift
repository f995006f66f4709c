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
    /// Changes that wait for another one of the same arrival or for one that is missing.
    private var waiting: [Dot: [TextChange]] = [:]

    init(_ changes: [TextChange], log: ChangeLog, history: some TextHistory) throws {
        var arrived: Set<Dot> = []
        entries.reserveCapacity(changes.count)
        places.reserveCapacity(changes.count)
        for change in changes {
            do throws(TextError) {
                try change.validateShape()
            } catch {
                rejected.append(RejectedTextChange(change: change, reason: error))
                continue
            }
            if arrived.insert(change.dot).inserted { try place(change, log, history) }
        }
        sortOutWaiting(changes, arrived)
    }

    /// Takes a change, and all that waited for it, if its parents are there.
    private mutating func place(_ change: TextChange, _ log: ChangeLog, _ history: some TextHistory) throws {
        var ready = [change]
        while let change = ready.popLast() {
            if try log.lastEvent(of: change.dot, from: history) != nil {
                known.append(change.dot)
                continue
            }
            var parents: [Parent] = []
            var missing: Dot?
            for dot in change.parents {
                if let place = places[dot] {
                    parents.append(.arrival(place))
                } else if let event = try log.lastEvent(of: dot, from: history) {
                    parents.append(.event(event))
                } else {
                    missing = dot
                    break
                }
            }
            if let missing {
                waiting[missing, default: []].append(change)
            } else {
                places[change.dot] = entries.count
                entries.append(Entry(change: change, parents: parents))
                ready.append(contentsOf: waiting.removeValue(forKey: change.dot)?.reversed() ?? [])
            }
        }
    }

    /// What still waits: for a change that may come, or, in a circle, for itself.
    private mutating func sortOutWaiting(_ changes: [TextChange], _ arrived: Set<Dot>) {
        guard !waiting.isEmpty else { return }
        // What hangs, directly or not, on a change that is not here can be completed; the rest cannot.
        var hopeful: Set<Dot> = []
        var open = changes.flatMap(\.parents).filter { !arrived.contains($0) }
        while let dot = open.popLast() {
            for change in waiting[dot] ?? [] where hopeful.insert(change.dot).inserted { open.append(change.dot) }
        }
        var seen: Set<Dot> = []
        let unplaced = Set(waiting.values.joined().map(\.dot))
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
