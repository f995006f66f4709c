extension EventGraph {
    /// Changes in a row that are looked at together.
    struct Zone {
        let changes: Range<Int>
        /// Whether each was made on the one before.
        let isSequential: Bool
    }

    /// All changes of a graph that is loaded to the beginning, cut where a single change is the version and all later ones build on it.
    ///
    /// What is in a zone follows from the graph alone, not from the order in which the changes came.
    var zones: [Zone] {
        let closed = closedVersions
        var zones: [Zone] = []
        var start = 0
        // A restart that something is concurrent to stands among all there ever was.
        let concurrentRestart = hasRestarts ? changes.indices.last { isRestart(change: $0) && !closed[$0] } : nil
        while start < changes.count {
            if closed[start], start > concurrentRestart ?? -1 {
                let end = closed[start...].firstIndex(of: false) ?? changes.count
                zones.append(Zone(changes: start..<end, isSequential: true))
                start = end
            } else {
                let last = closed[max(start, concurrentRestart ?? 0)...].firstIndex(of: true) ?? changes.count - 1
                // A restart deletes all that the zone gives, and needs none of it.
                let end = closed[last] && isRestart(change: last) ? last : last + 1
                zones.append(Zone(changes: start..<end, isSequential: false))
                start = end
            }
        }
        return zones
    }

    /// For each change whether it alone is the version that it leaves, and all later ones build on it.
    private var closedVersions: ContiguousArray<Bool> {
        var result = ContiguousArray(repeating: false, count: changes.count)
        var hasChild = result
        var headCount = 0
        for index in changes.indices {
            headCount += 1
            for parent in parents(ofChange: index) {
                let place = changeIndex(of: parent)
                if !hasChild[place] { headCount -= 1 }
                hasChild[place] = true
            }
            result[index] = headCount == 1
        }
        var oldest = Int.max
        for index in changes.indices.reversed() {
            if oldest < end(ofChange: index) - 1 { result[index] = false }
            oldest = min(oldest, parents(ofChange: index).first ?? Self.root)
        }
        return result
    }
}
