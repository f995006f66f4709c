import KithCausality
import KithSync

/// Which writes of registers nobody who saw them has overwritten, noted commit by commit, without any merge rule.
struct WriteLedger {
    struct Entry: Hashable {
        var row: RowID
        var column: Int
        var dot: Dot
    }

    private(set) var survivors: Set<Entry> = []

    /// Notes what a commit that led from `before` to `after` wrote and what it overwrote.
    mutating func note(from before: ModelStore, to after: ModelStore) {
        let (old, new) = (Self.kept(in: before), Self.kept(in: after))
        overwritten.formUnion(old.subtracting(new))
        survivors.formUnion(new.subtracting(old))
        survivors.subtract(overwritten)
    }

    private var overwritten: Set<Entry> = []

    /// The writes in a store's registers.
    static func kept(in store: ModelStore) -> Set<Entry> {
        var result: Set<Entry> = []
        for (row, state) in store.rows {
            for entry in state.cells {
                guard case .register(let register) = entry.cell else { continue }
                for write in register.writes { result.insert(Entry(row: row, column: entry.column, dot: write.stamp.dot)) }
            }
        }
        return result
    }
}
