import KithLedger
import KithSQLite

extension Reversion {
    /// Deleted rows, each after those that it referred to, so that each comes back at the first attempt; circles in any order.
    func parentsFirst(_ changes: [JournalChange]) -> [JournalChange] {
        let places = Dictionary(changes.indices.map { (changes[$0].row, $0) }) { first, _ in first }
        func parents(_ change: JournalChange) -> [Int] {
            let references = state.ledger.catalog[change.row.table]?.tracked?.references ?? []
            return references.compactMap { reference in
                guard case .values(let old, _)? = change.columns.first(where: { $0.number == reference.column })?.content
                else { return nil }
                return reference.row(named: old).flatMap { places[$0] }
            }
        }
        var isSeen = [Bool](repeating: false, count: changes.count)
        var ordered: [JournalChange] = []
        for start in changes.indices where !isSeen[start] {
            isSeen[start] = true
            var path = [start]
            while let last = path.last {
                if let parent = parents(changes[last]).first(where: { !isSeen[$0] }) {
                    isSeen[parent] = true
                    path.append(parent)
                } else {
                    ordered.append(changes[path.removeLast()])
                }
            }
        }
        return ordered
    }

    /// Inserted rows, each after those that refer to it, so that each goes at the first attempt; circles in any order.
    func childrenFirst(_ changes: [JournalChange]) throws -> [JournalChange] {
        let places = Dictionary(changes.indices.map { (changes[$0].row, $0) }) { first, _ in first }
        var isSeen = [Bool](repeating: false, count: changes.count)
        var ordered: [JournalChange] = []
        for start in changes.indices where !isSeen[start] {
            isSeen[start] = true
            // Rows with those of their children that have not been looked at.
            var path = [(row: start, children: try children(changes[start].row, in: places))]
            while let last = path.last {
                if let child = last.children.last {
                    path[path.count - 1].children.removeLast()
                    if isSeen[child] { continue }
                    isSeen[child] = true
                    path.append((child, try children(changes[child].row, in: places)))
                } else {
                    ordered.append(changes[path.removeLast().row])
                }
            }
        }
        return ordered
    }

    /// The places of the rows that refer to one.
    private func children(_ row: RowKey, in places: [RowKey: Int]) throws -> [Int] {
        let referrers = state.ledger.catalog[row.table]?.tracked?.referrers ?? []
        return try referrers.flatMap { try rows($0, to: row.id) }.compactMap { places[$0] }
    }
}
