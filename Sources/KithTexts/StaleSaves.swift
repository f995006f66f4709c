import KithLedger
import KithSQLite
import KithText

/// What `kith_text` has merged, until the update of the row is noted that shows it, or the transaction ends.
package struct StaleSaves {
    /// An update has at most a few text columns; what is merged and not saved is forgotten.
    private static let countMax = 4

    private var merges: [ThreeWayText] = []

    package mutating func note(_ merge: ThreeWayText) {
        if merges.count == Self.countMax { merges.removeFirst() }
        merges.append(merge)
    }

    /// What the save does that made `new` of `old`; `nil` if it was not made by `kith_text`.
    package mutating func take(from old: [UInt8]?, to new: [UInt8]?) -> TextOperations? {
        if merges.isEmpty { return nil }
        guard let index = merges.lastIndex(where: { $0.current == old ?? [] && $0.merged == new }) else { return nil }
        return merges.remove(at: index).operations
    }

    package init() {}
}
