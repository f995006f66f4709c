import KithCausality
import KithSync

extension Simulation {
    /// Taking in these rows, a store makes room in cells with too many alternatives, by a commit of its own, exactly if it has to.
    ///
    /// - Parameter hasUnknown: whether there are others, of which no promise is known.
    /// - Returns: that commit; `nil` if there was nothing to do.
    func checkFolding(
        _ keys: [RowKey], besidesUnknown hasUnknown: Bool, _ summary: StoreSummary, _ node: SimulatedNode
    ) throws -> Dot? {
        let sequence = node.summary.vector[node.summary.replica] + 1
        let event = EventID(replica: ledger.number(of: node.summary.replica), sequence: sequence)
        let head = summary.head(of: node.summary.replica).flatMap { $0.dot.sequence == sequence ? $0 : nil }
        var known = node.known
        var received = ledger.knowledge(summary.vector)
        received[event.replica] = sequence - 1
        known.advance(to: received)
        var effects: [(RowKey, RowEffect)] = []
        for key in keys where node.tables[key.table].isKnown && !taint.covers(key) {
            let view = ledger.view(key, seenBy: known.of(key))
            guard let effect = view.folding(by: event, node.tables[key.table].deletePolicy) else { continue }
            effects.append((key, effect))
        }
        if effects.isEmpty {
            // What a row in doubt makes necessary nobody can tell.
            guard let head, hasUnknown || keys.contains(where: taint.covers) else { return nil }
            try ledger.recordMending(head, node: node.index)
            return head.dot
        }
        guard let head else {
            let (key, _) = effects[0]
            throw Violation(
                .wrongAlternatives, "\(node.name) makes no room in \(workload.tables[key.table].name) \(key.row), which it had to.")
        }
        try ledger.record(head, node: node.index, effects)
        taint.note(event, effects.map(\.0))
        return head.dot
    }
}
