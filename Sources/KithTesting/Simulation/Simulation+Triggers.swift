import GRDB
import KithStore

/// What triggers of the app make of merges: tables that they fill, and rows that they, or constraints, refuse.
extension Simulation {
    /// Tables that triggers fill hold what these would have written for what is shown.
    func checkFilledTables(_ node: SimulatedNode) throws {
        for table in workload.schema.filled where node.filled.contains(table.name) {
            let (actual, expected) = try node.database.writeWithoutTransaction { db in
                (try Self.rows(of: "SELECT * FROM \(quoted(table.name))", db), try Self.rows(of: table.rule, db))
            }
            if actual == expected { continue }
            let wrong = Set(actual.keys).union(expected.keys).filter { actual[$0] != expected[$0] }
            let first = wrong.map { "(" + $0.map { Literal(ColumnValue($0)).description }.joined(separator: ", ") + ")" }.min() ?? "nothing"
            throw Violation(
                .wrongFilledTable,
                "\(table.name) on \(node.name) is not what its triggers would have written for what is shown: \(first).")
        }
    }

    /// How often each row is there.
    private static func rows(of sql: String, _ db: Database) throws -> [[DatabaseValue]: Int] {
        try Row.fetchAll(try db.cachedStatement(sql: sql)).reduce(into: [:]) { $0[Array($1.databaseValues), default: 0] += 1 }
    }

    /// Rows that a rule of the app refuses here are not compared from now on: they are not shown, or still shown, and their users see
    /// something else than others do.
    func noteRefusals(_ node: SimulatedNode) throws {
        guard workload.hasRules, let store = node.store else { return }
        var refused: Set<RowKey> = []
        for row in try store.refusedRows() {
            guard let table = ledger.table(Array(row.table.utf8)), let key = ledger.key(table, row.id) else { continue }
            guard workload.tables[table].mayRefuse else {
                throw Violation(.wrongState, "\(node.name) refuses \(row.table) \(key.row), and its table has no rule: \(row.reason)")
            }
            refused.insert(key)
        }
        statistics.rowsRefused += refused.subtracting(node.refused).count
        node.refused = refused
        taint.setAside(refused.sorted { $0.table == $1.table ? $0.row < $1.row : $0.table < $1.table })
    }

    /// What is not compared with what users wrote is the same on all machines that know the same, but where it is refused. No character
    /// that one user typed stands twice in a text.
    func checkAside() throws {
        if taint.reachesStores || ledger.hasLosses || members.contains(where: { !$0.known.contexts.isEmpty }) { return }
        let someAreHeldBack = members.contains { !$0.refused.isEmpty }
        let keys = ledger.rows.filter { taint.covers($0) && !(someAreHeldBack && workload.tables[$0.table].isRelated) }
        var first: [RowKey: (node: SimulatedNode, values: [ColumnValue]?)] = [:]
        for node in members {
            guard let store = node.store, !node.isOld else { continue }
            let reader = NodeReader(store: store, database: node.database, tables: node.tables)
            for (key, values) in zip(keys, try reader.values(of: keys)) where !node.refused.contains(key) {
                let table = workload.tables[key.table]
                guard !hasRepetition(values, table) else {
                    throw Violation(
                        .wrongState, "\(node.name) shows what was typed once twice in \(table.name) \(key.row): \(describe(values)).")
                }
                guard let other = first[key] else {
                    first[key] = (node, values)
                    continue
                }
                guard other.values == values else {
                    throw Violation(
                        .noConvergence,
                        "\(other.node.name) shows \(table.name) \(key.row) as \(describe(other.values)), and \(node.name) as \(describe(values))."
                    )
                }
            }
        }
    }

    /// Whether an ideograph stands twice in a text: users type each once. The characters are sorted.
    private func hasRepetition(_ values: [ColumnValue]?, _ table: WorkloadTable) -> Bool {
        zip(values ?? [], table.columns).contains { value, column in
            guard column.kind == .text, case .text(let bytes) = value else { return false }
            let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { $0.value >= 0x3400 }
            return zip(scalars, scalars.dropFirst()).contains { $0 == $1 }
        }
    }
}
