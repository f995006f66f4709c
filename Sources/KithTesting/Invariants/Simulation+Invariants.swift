import GRDB
import KithCausality
import KithSync

/// What must hold of many rows together, read with plain SQL.
extension Simulation {
    /// Looks at the invariants of the tables that `keys` are of. A table of which a catch-up has brought single rows, and not yet the
    /// rest, keeps none.
    func checkInvariants(_ keys: [RowKey], _ node: SimulatedNode) throws {
        for invariant in workload.schema.invariants {
            guard let index = node.tables.firstIndex(where: { $0.name == invariant.table && $0.isKnown }),
                keys.contains(where: { $0.table == index }), !taint.covers(table: index),
                !node.known.contexts.keys.contains(where: { $0.table == index })
            else { continue }
            statistics.invariantsChecked += 1
            switch invariant {
            case .sum(_, let column): try checkSum(node.tables[index], column, node)
            case .ring(_, let column):
                if !script.setsBack { try checkRings(node.tables[index], column, node) }
            case .order(_, let column): try checkOrder(node.tables[index], column, node)
            case .always, .converged: break
            }
        }
    }

    /// What the app states itself holds: what does so always, or in the end.
    func checkStated(_ node: SimulatedNode, isEnd: Bool = false) throws {
        if node.isOld || taint.reachesStores { return }
        for stated in workload.schema.invariants.lazy.compactMap(\.stated) where stated.isAlways != isEnd {
            statistics.invariantsChecked += 1
            guard let problem = node.database.writeWithoutTransaction(stated.problem) else { continue }
            let moment = isEnd ? "once all know the same" : moment
            throw Violation(
                .brokenInvariant, "\u{201C}\(stated.name)\u{201D} does not hold on \(node.name) \(moment): \(problem)",
                invariant: stated.name)
        }
    }

    /// Where in the script this is.
    private var moment: String {
        if stepsBegun == 0 { return "before the first step" }
        if stepsBegun > script.steps.count { return "after the last step" }
        return "in step \(stepsBegun) (\(script.steps[stepsBegun - 1]))"
    }

    private func checkSum(_ table: WorkloadTable, _ column: String, _ node: SimulatedNode) throws {
        let sum = try node.database.writeWithoutTransaction { db in
            let statement = try db.cachedStatement(sql: "SELECT coalesce(sum(\(quoted(column))), 0) FROM \(quoted(table.name))")
            return try Int64.fetchOne(statement)
        }
        guard sum == 0 else {
            throw Violation(
                .brokenInvariant, "Amounts were only moved between rows, and yet \(table.name) of \(node.name) sums up to \(sum ?? 0).")
        }
    }

    private func checkOrder(_ table: WorkloadTable, _ column: String, _ node: SimulatedNode) throws {
        let equal = try node.database.writeWithoutTransaction { db in
            let name = quoted(column)
            let statement = try db.cachedStatement(
                sql: "SELECT \(name) FROM \(quoted(table.name)) WHERE \(name) <> '' GROUP BY \(name) HAVING count(*) > 1")
            return try String.fetchOne(statement)
        }
        if let equal { throw Violation(.brokenInvariant, "Two rows of \(table.name) of \(node.name) stand at \(equal).") }
    }

    private func checkRings(_ table: WorkloadTable, _ column: String, _ node: SimulatedNode) throws {
        let rows = try node.database.writeWithoutTransaction { db in
            let statement = try db.cachedStatement(sql: "SELECT \(quoted(table.key)), \(quoted(column)) FROM \(quoted(table.name))")
            return try Row.fetchAll(statement).map { (ColumnValue($0[0] as DatabaseValue), ColumnValue($0[1] as DatabaseValue)) }
        }
        for owner in nodes.indices {
            let values = (0..<Ring.size).map { item in
                let id = table.key(of: Ring.row(item, of: owner))
                return rows.first { $0.0 == id }?.1
            }
            let ring = Ring(of: owner, table, values: values)
            guard !ring.isThere || ring.isWhole else {
                throw Violation(.brokenInvariant, "\(node.name) shows the ring of \(nodes[owner].name) as \(ring.next), which is none.")
            }
        }
    }
}
