import KithStore
import KithSync

/// What a store does by itself with cells in which more values stand side by side than ``SyncedDatabase/alternativesMax``.
extension RowView {
    /// What the commit `event` of a store does to the row when that has taken in a part of it; `nil` if there is nothing to do.
    ///
    /// The store whose own write is shown writes the value anew and supersedes the oldest alternatives with it; beyond twice as many,
    /// any store does.
    func folding(by event: EventID, _ policy: DeletePolicy) -> RowEffect? {
        guard isVisible(policy) else { return nil }
        let changes = columns.map { Self.folding($0, by: event.replica) }
        if changes.allSatisfy({ $0 == nil }) { return nil }
        return RowEffect(event: event, stamp: .latest, changes: changes, deletion: nil, revoked: deletions.map(\.event))
    }

    private static func folding(_ column: Column, by replica: Int) -> RowEffect.Change? {
        guard case .register(let writes) = column, let winner = winner(writes) else { return nil }
        var alternatives = alternatives(writes)
        let countMax = winner.event.replica == replica ? SyncedDatabase.alternativesMax : 2 * SyncedDatabase.alternativesMax
        guard alternatives.count > countMax else { return nil }
        var replaced = writes.filter { $0.value == winner.value }.map(\.event)
        while alternatives.count > SyncedDatabase.alternativesMax, let oldest = oldest(alternatives) {
            replaced += writes.filter { $0.value == oldest.value }.map(\.event)
            alternatives.removeAll { $0.value == oldest.value }
        }
        return .register(wrote: winner.value, replaced: replaced)
    }

    /// The write that every other one is shown over.
    private static func oldest(_ writes: [RegisterWrite]) -> RegisterWrite? {
        writes.min { left, right in right.stamp.isShown(over: left.stamp) }
    }

    /// The values that lost, each once and none that is shown, with the write that would be shown first.
    static func alternatives(_ writes: [RegisterWrite]) -> [RegisterWrite] {
        guard let shown = winner(writes)?.value else { return [] }
        let others = Dictionary(grouping: writes.filter { $0.value != shown }, by: \.value)
        return others.values.compactMap(winner).sorted { $0.stamp.dot < $1.stamp.dot }
    }
}
