/// An order of the nodes of a graph, parents first, that stays on one branch until it ends or joins another.
///
/// A replay undoes one branch to walk the next, so what it costs is how often and how far it changes branches. Where
/// branches part, the one with the shorter way to an end comes first: the short one is undone for the long one.
/// Gentle and Kleppmann, "Collaborative Text Editing with Eg-walker", 2025, ask for such an order.
struct BranchOrder {
    /// A node and one that builds on it.
    typealias Edge = (parent: Int, child: Int)

    /// All nodes, in order.
    private(set) var nodes: ContiguousArray<Int> = []

    /// - Parameters:
    ///   - events: how many events each node has; nodes are numbered parents first.
    ///   - edges: every parent of every node.
    init(events: ContiguousArray<Int>, edges: ContiguousArray<Edge>) {
        let children = Children(edges, count: events.count)
        // The events on the longest way from the beginning of each node to an end.
        var rest = events
        for node in events.indices.reversed() {
            rest[node] += children[node].reduce(0) { max($0, rest[$1]) }
        }
        var missingParents = ContiguousArray(repeating: 0, count: events.count)
        for edge in edges { missingParents[edge.child] += 1 }
        // The one to be taken next is last.
        var ready = ContiguousArray(events.indices.filter { missingParents[$0] == 0 })
        ready.sort { (rest[$0], $0) > (rest[$1], $1) }
        nodes.reserveCapacity(events.count)
        while let node = ready.popLast() {
            nodes.append(node)
            let others = ready.count
            for child in children[node] {
                missingParents[child] -= 1
                if missingParents[child] == 0 { ready.append(child) }
            }
            if ready.count - others > 1 { ready[others...].sort { (rest[$0], $0) > (rest[$1], $1) } }
        }
    }

    /// The children of each node, in one array.
    private struct Children {
        private var starts: ContiguousArray<Int>
        private var all: ContiguousArray<Int>

        init(_ edges: ContiguousArray<Edge>, count: Int) {
            starts = ContiguousArray(repeating: 0, count: count + 1)
            all = ContiguousArray(repeating: 0, count: edges.count)
            for edge in edges { starts[edge.parent] += 1 }
            for node in 1..<count + 1 { starts[node] += starts[node - 1] }
            for edge in edges.reversed() {
                starts[edge.parent] -= 1
                all[starts[edge.parent]] = edge.child
            }
        }

        subscript(node: Int) -> ArraySlice<Int> { all[starts[node]..<starts[node + 1]] }
    }
}

extension EventGraph {
    /// All changes above `base`, where a change ends, as ranges of their indices in an order fit for a replay.
    func changesByBranch(above base: Int) -> ContiguousArray<Range<Int>> {
        changesByBranch(above: base, before: nextEvent)
    }

    /// The same of changes before event `end`, where one begins or all are over.
    func changesByBranch(above base: Int, before end: Int) -> ContiguousArray<Range<Int>> {
        guard base + 1 < end else { return [] }
        let first = runIndex(of: base + 1)
        let last = runIndex(of: end - 1)
        let starts = [base + 1] + runs[(first + 1)..<(last + 1)].map(\.start)
        let indices = starts.map(changeIndex) + [changeIndex(of: end - 1) + 1]
        let ranges = ContiguousArray(zip(indices, indices.dropFirst()).map { $0..<$1 })
        guard ranges.count > 2 else { return ranges }
        let events = ContiguousArray(zip(starts, starts.dropFirst() + [end]).map { $1 - $0 })
        var edges: ContiguousArray<BranchOrder.Edge> = []
        for run in 1..<ranges.count {
            for parent in parents(ofRun: first + run) where parent > base {
                let earlier = runIndex(of: parent) - first
                // In no sound graph; the walker will say what is wrong.
                guard earlier < run else { return ranges }
                edges.append((earlier, run))
            }
        }
        return ContiguousArray(BranchOrder(events: events, edges: edges).nodes.map { ranges[$0] })
    }
}
