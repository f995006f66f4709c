import KithCausality
import KithSync

/// What machines find in their tables when they track them for the first time.
extension Simulation {
    /// The node's store was opened on rows that stood there before: all of them are one commit, which wrote nothing.
    func noteAdoption(_ node: SimulatedNode) throws {
        let rows = node.foundRows.unadopted
        guard !rows.isEmpty, node.isRunning else { return }
        let replica = ledger.number(of: node.summary.replica)
        let event = EventID(replica: replica, sequence: node.known.common[replica] + 1)
        guard let head = node.summary.head(of: node.summary.replica), head.dot.sequence == event.sequence else {
            throw Violation(.wrongState, "\(node.name) was opened on rows that nobody had noted, and its vector is \(node.summary.vector).")
        }
        let effects = rows.compactMap { row in effect(of: row, node, event) }
        try ledger.record(head, node: node.index, effects)
        taint.note(event, effects.map(\.0))
        // A text that was found is a document of its own, beside those that were found elsewhere and what users write.
        taint.setAside(effects.map(\.0).filter { workload.tables[$0.table].columns.contains { $0.kind == .text } })
        var known = node.known.common
        known.insert(event)
        node.known.advance(to: known)
        node.adopted()
        statistics.rowsFound += rows.count
        note(.foundRows)
        plan(.flush(node: node.index, generation: node.generation), at: now + Self.flushMilliseconds)
    }

    private func effect(of row: RowWrite, _ node: SimulatedNode, _ event: EventID) -> (RowKey, RowEffect)? {
        guard let index = node.tables.firstIndex(where: { $0.name == row.table }) else { return nil }
        let table = node.tables[index]
        let changes = table.columns.map { column -> RowEffect.Change? in
            guard column.isKnown else { return nil }
            let given = row.assignments.last { $0.column == column.name }?.value.value.stored
            return .found(given ?? column.defaultValue)
        }
        let stamp = Stamp(dot: Stamp.latest.dot, timestamp: Stamp.latest.timestamp, isAdopted: true)
        return (RowKey(table: index, row: row.row), RowEffect(event: event, stamp: stamp, changes: changes, deletion: nil, revoked: []))
    }
}
