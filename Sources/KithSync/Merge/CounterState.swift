import KithCausality

/// A counter cell: each replica keeps its own total; the value is their sum, on top of one that was adopted.
///
/// Totals are never deltas, so a delivery may be repeated (a grow-only map merged by sequence; Shapiro et al., 2011).
/// Of adopted values the earliest counts, once, however many replicas found it; none where the row was also inserted.
package struct CounterState: Hashable, Sendable {
    /// What one replica has counted, as of its commit `sequence`.
    package struct Total: Hashable, Sendable {
        package var dot: Dot
        package var amount: Int64

        package init(dot: Dot, amount: Int64) {
            self.dot = dot
            self.amount = amount
        }
    }

    /// A value that one replica found in the table when it was first tracked.
    package struct Base: Hashable, Sendable {
        package var stamp: Stamp
        package var amount: Int64

        package init(stamp: Stamp, amount: Int64) {
            self.stamp = stamp
            self.amount = amount
        }
    }

    /// Sorted by replica, one entry each.
    package var totals: [Total]
    /// Whether an ordinary insertion has written it.
    package var isBorn: Bool
    /// The adopted values, sorted by dot.
    package var bases: [Base]
    /// Adopted values that somebody has dismissed.
    package var replaced: ContentSet

    package init(totals: [Total] = [], isBorn: Bool = false, bases: [Base] = [], replaced: ContentSet = ContentSet()) {
        self.totals = totals
        self.isBorn = isBorn
        self.bases = bases
        self.replaced = replaced
    }

    /// The adopted value that counts.
    package var base: Base? {
        guard !isBorn, var best = bases.first else { return nil }
        for base in bases.dropFirst() where base.stamp.isShown(over: best.stamp) { best = base }
        return best
    }

    /// The sum; wraps around at 64 bits, the same on every replica.
    package var value: Int64 { totals.reduce(base?.amount ?? 0) { $0 &+ $1.amount } }

    /// The adopted values that do not count, each once and none that is shown, with the earliest stamp; by dot.
    package var alternatives: [Base] {
        if bases.isEmpty { return [] }
        let (shown, base) = (value, base?.amount)
        var best: [Int64: Base] = [:]
        for other in bases
        where other.amount != shown && other.amount != base && !replaced.contains(ColumnValue.integer(other.amount).contentHash) {
            if let known = best[other.amount], known.stamp.isShown(over: other.stamp) { continue }
            best[other.amount] = other
        }
        return best.values.sorted { $0.stamp.dot < $1.stamp.dot }
    }

    /// A plain save: adds `increment` to the author's own total. An adopted value equal to the one that was shown goes with it.
    package mutating func count(_ increment: Int64, dot: Dot) {
        if !bases.isEmpty {
            let shown = value
            if base?.amount != shown, bases.contains(where: { $0.amount == shown }) {
                replaced.insert(ColumnValue.integer(shown).contentHash)
            }
        }
        add(increment, dot: dot)
    }

    /// The value of a new life, made by an insertion.
    package mutating func restart(with value: Int64, dot: Dot) {
        isBorn = true
        for base in bases { replaced.insert(ColumnValue.integer(base.amount).contentHash) }
        add(value &- self.value, dot: dot)
    }

    /// Writes `value` and dismisses every adopted value that does not count.
    package mutating func resolve(keeping value: Int64, dot: Dot) {
        let base = base?.amount
        for other in bases where other.amount != base { replaced.insert(ColumnValue.integer(other.amount).contentHash) }
        add(value &- self.value, dot: dot)
    }

    private mutating func add(_ increment: Int64, dot: Dot) {
        if let index = totals.firstIndex(where: { $0.dot.replica == dot.replica }) {
            totals[index] = Total(dot: dot, amount: totals[index].amount &+ increment)
        } else {
            let index = totals.firstIndex { $0.dot.replica > dot.replica } ?? totals.endIndex
            totals.insert(Total(dot: dot, amount: increment), at: index)
        }
    }

    /// The commits that live here, sorted.
    var dots: [Dot] {
        let written = totals.map(\.dot)
        return bases.isEmpty ? written : Set(written + bases.map(\.stamp.dot)).sorted()
    }

    /// Per replica its last commit that counted here; not those that merely found a value.
    var touched: VersionVector { VersionVector(totals.map(\.dot)) }

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
        isBorn = isBorn || other.isBorn
        if !other.bases.isEmpty {
            let nothing = VersionVector()
            bases = keep(bases, knowing: nothing, other.bases, knowing: nothing, dot: \.stamp.dot)
            // None is ever taken away, so the earliest of all are the earliest of the earliest.
            if bases.count > WireLimits.replicasMax {
                bases = bases.sorted { $0.stamp.isShown(over: $1.stamp) }.prefix(WireLimits.replicasMax).sorted {
                    $0.stamp.dot < $1.stamp.dot
                }
            }
        }
        replaced.formUnion(other.replaced)
    }
}
