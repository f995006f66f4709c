/// What must be undone and done to get from one version to another: ranges of events, ascending.
struct VersionDifference {
    var onlyFirst: ContiguousArray<Range<Int>> = []
    var onlySecond: ContiguousArray<Range<Int>> = []
}

extension EventGraph {
    private enum Side {
        static let first = 1
        static let second = 2
        static let both = 3
    }

    /// The events that only one of two versions contains (an event is contained with all its ancestors).
    ///
    /// Walks back from both versions, newest event first, until only common ancestors are left.
    /// Gentle and Kleppmann, "Collaborative Text Editing with Eg-walker", 2025, section 3.2.
    ///
    /// - Throws: ``TextError/damagedHistory(_:)`` when that leads to changes that are not loaded, as no sound graph does.
    func difference(_ first: [Int], _ second: [Int]) throws(TextError) -> VersionDifference {
        var result = VersionDifference()
        guard first != second else { return result }
        var heap = EventHeap()
        var open = 0  // entries of the heap that only one side has reached
        func push(_ event: Int, _ side: Int) {
            heap.push(event << 2 | side)
            if side != Side.both { open += 1 }
        }
        func pop() -> (event: Int, side: Int)? {
            guard let item = heap.pop() else { return nil }
            let side = item & Side.both
            if side != Side.both { open -= 1 }
            return (item >> 2, side)
        }
        for event in first { push(event, Side.first) }
        for event in second { push(event, Side.second) }
        while open > 0, var (event, side) = pop() {
            guard event >= firstEvent else { throw .damagedHistory("event \(event) lies below all that is concurrent") }
            let run = runIndex(of: event)
            let start = runs[run].start
            // Other versions inside the same run join here.
            while let next = heap.top, next >> 2 >= start, let (joined, other) = pop() {
                result.add(joined + 1..<event + 1, to: side)
                event = joined
                side |= other
            }
            result.add(start..<event + 1, to: side)
            for parent in parents(ofRun: run) { push(parent, side) }
        }
        result.onlyFirst.reverse()
        result.onlySecond.reverse()
        return result
    }

    /// Whether no event of `versions`, ascending, is an ancestor of another.
    func isReduced(_ versions: [Int]) -> Bool {
        guard versions.count > 1 else { return true }
        let members = versions
        var heap = EventHeap()
        for event in members { heap.push(event << 1 | 1) }
        while let item = heap.pop() {
            let event = item >> 1
            if event < members[0] { return true }
            let run = runIndex(of: event)
            // A member below another event of its run, or one that an older step leads to, is an ancestor.
            while let next = heap.top, next >> 1 >= runs[run].start, next >> 1 <= event {
                if next & 1 == 1 || next >> 1 == event && item & 1 == 1 { return false }
                _ = heap.pop()
            }
            for parent in parents(ofRun: run) { heap.push(parent << 1) }
        }
        return true
    }
}

extension VersionDifference {
    /// Adds a range to one side, newest first; ranges in both versions are not kept.
    fileprivate mutating func add(_ range: Range<Int>, to side: Int) {
        guard !range.isEmpty else { return }
        switch side {
        case 1: Self.add(range, to: &onlyFirst)
        case 2: Self.add(range, to: &onlySecond)
        default: return
        }
    }

    private static func add(_ range: Range<Int>, to ranges: inout ContiguousArray<Range<Int>>) {
        if let last = ranges.last, last.lowerBound == range.upperBound {
            ranges[ranges.count - 1] = range.lowerBound..<last.upperBound
        } else {
            ranges.append(range)
        }
    }
}
