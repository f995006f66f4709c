import KithCausality

/// A counter cell: each replica keeps its own total; the value is their sum.
///
/// Totals are never deltas, so a delivery may be repeated (a grow-only map merged by sequence; Shapiro et al., 2011).
public struct CounterState: Hashable, Sendable {
    /// What one replica has counted, as of its commit `sequence`.
    public struct Total: Hashable, Sendable {
        public var dot: Dot
        public var amount: Int64

        public init(dot: Dot, amount: Int64) {
            self.dot = dot
            self.amount = amount
        }
    }

    /// Sorted by replica, one entry each.
    public var totals: [Total]

    public init(totals: [Total] = []) {
        self.totals = totals
    }

    /// The sum; wraps around at 64 bits, the same on every replica.
    public var value: Int64 { totals.reduce(0) { $0 &+ $1.amount } }

    /// Adds `increment` to the author's own total.
    public mutating func add(_ increment: Int64, dot: Dot) {
        if let index = totals.firstIndex(where: { $0.dot.replica == dot.replica }) {
            totals[index] = Total(dot: dot, amount: totals[index].amount &+ increment)
        } else {
            let index = totals.firstIndex { $0.dot.replica > dot.replica } ?? totals.endIndex
            totals.insert(Total(dot: dot, amount: increment), at: index)
        }
    }

    /// Per replica its last commit that counted here.
    public var touched: VersionVector { VersionVector(totals.map(\.dot)) }

    mutating func merge(_ other: CounterState) {
        var merged: [Total] = []
        merged.reserveCapacity(totals.count + other.totals.count)
        var mine = totals[...]
        for total in other.totals {
            while let next = mine.first, next.dot.replica < total.dot.replica { merged.append(mine.removeFirst()) }
            if let same = mine.first, same.dot.replica == total.dot.replica {
                merged.append(same.dot.sequence < total.dot.sequence ? total : same)
                mine.removeFirst()
            } else {
                merged.append(total)
            }
        }
        totals = merged + mine
    }
}
