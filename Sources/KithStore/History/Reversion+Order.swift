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
}
