import KithSync

/// Decides what machines find in their tables when they track them for the first time: copies of one backup, which may have gone
/// different ways since, or rows of their own.
struct FoundRowGenerator {
    private let swarm: Swarm
    private let tables: [WorkloadTable]
    private let commitCount: Int
    private var random: SplitMix64
    private var values: ValueGenerator
    /// The machines that find something.
    private let nodes: [Int]
    /// The one of these that begins later, if one does, and before which of the users' transactions.
    private let late: (node: Int, commit: Int)?

    init(seed: UInt64, swarm: Swarm, tables: [WorkloadTable], commitCount: Int) {
        (self.swarm, self.tables, self.commitCount) = (swarm, tables, commitCount)
        values = ValueGenerator(seed: seed, swarm: swarm, tables: tables, for: .found)
        var random = SplitMix64(seed: seed, .workload, 1)
        var nodes = (0..<swarm.nodeCount).filter { _ in random.chance(percent: 60) }
        if nodes.isEmpty { nodes = [random.int(in: 0...swarm.nodeCount - 1)] }
        self.nodes = nodes
        let node = random.pick(nodes) ?? 0
        // A deletion that all members hold and have forgotten does not reach a machine that begins later.
        late = random.chance(percent: 50) && !swarm.collectsGarbage ? (node, random.int(in: 0...max(0, commitCount - 1))) : nil
        self.random = random
    }

    /// What stands in the tables, machine by machine.
    mutating func rows() -> [Step] {
        let share = random.pick([20, 50, 100]) ?? 50
        var found: [[RowWrite]] = Array(repeating: [], count: nodes.count)
        for (index, table) in tables.enumerated() where swarm.tableWeights[index] > 0 && !table.isReserved {
            for row in 1...min(swarm.rowsPerTable, Self.rowsMax) where random.chance(percent: share) {
                var backup = RowWrite(.insert, table.name, row)
                for column in table.columns where random.chance(percent: 80) { backup.assignments.append(assignment(column)) }
                for place in nodes.indices where random.chance(percent: 80) { found[place].append(changed(backup, table)) }
            }
        }
        return zip(nodes, found).flatMap { node, rows in rows.map { .found(node: node, $0) } }
    }

    /// The row as it was in the backup, or as it has become on one machine.
    private mutating func changed(_ backup: RowWrite, _ table: WorkloadTable) -> RowWrite {
        if random.chance(percent: 50) { return backup }
        var row = backup
        for index in row.assignments.indices where random.chance(percent: 40) {
            guard let column = table.column(named: row.assignments[index].column) else { continue }
            row.assignments[index] = assignment(table.columns[column])
        }
        return row
    }

    private mutating func assignment(_ column: WorkloadTable.Column) -> Assignment {
        Assignment(column.name, Literal(values.value(for: column, .insert)))
    }

    /// The machine that begins now.
    func begin(before commit: Int) -> Step? {
        late.flatMap { $0.commit == commit ? .begin($0.node) : nil }
    }

    private static let rowsMax = 4
}
