import KithSync

/// Makes a script from a seed: what the users of a swarm do, and what befalls them.
struct ScriptGenerator {
    let tables: [WorkloadTable]
    let swarm: Swarm
    private let seed: UInt64
    private var workload: SplitMix64
    private var values: ValueGenerator
    private var faults: FaultGenerator

    init(seed: UInt64, nodeCount: Int, workload users: Workload, faults: [Fault], rates: [Fault: Double] = [:]) {
        self.seed = seed
        tables = users.tables
        swarm = Swarm(seed: seed, nodeCount: nodeCount, workload: users, faults: faults, rates: rates)
        workload = SplitMix64(seed: seed, .workload)
        values = ValueGenerator(seed: seed, swarm: swarm, tables: users.tables)
        self.faults = FaultGenerator(seed: seed, swarm: swarm)
    }

    /// A script of `commitCount` users' transactions.
    mutating func script(commitCount: Int) -> Script {
        var steps: [Step] = []
        var finder = swarm.findsRows ? FoundRowGenerator(seed: seed, swarm: swarm, tables: tables, commitCount: commitCount) : nil
        steps += finder?.rows() ?? []
        if swarm.crowd > 0, let crowd = crowd() { steps.append(.commit(node: 0, crowd)) }
        for number in 0..<commitCount {
            if let begin = finder?.begin(before: number) { steps.append(begin) }
            steps += faults.next()
            if swarm.pauseMillisecondsMax > 0, workload.chance(percent: 50) {
                steps.append(.wait(milliseconds: Int64(workload.int(in: 0...swarm.pauseMillisecondsMax))))
            }
            steps.append(.commit(node: workload.int(in: 0...swarm.nodeCount - 1), transaction()))
        }
        var script = Script(seed: seed, nodeCount: swarm.nodeCount, conditions: swarm.conditions, steps: steps)
        if let node = swarm.staysOld { script.oldNodes = [node] }
        return script
    }

    /// Many rows of a table that others can delete one by one.
    private mutating func crowd() -> [UserOperation]? {
        guard let table = tables.first(where: { !$0.isReserved && !$0.isRelated && !$0.mayRefuse && $0.keyColumns.isEmpty }),
            let column = table.columns.first(where: { $0.kind == .register })
        else { return nil }
        return (1...swarm.crowd).map { number in
            var write = RowWrite(.upsert, table.name, number)
            write.assignments = [Assignment(column.name, Literal(values.value(for: column, .upsert)))]
            return .write(write)
        }
    }

    private mutating func transaction() -> [UserOperation] {
        var operations: [UserOperation] = []
        let count = workload.int(in: 1...swarm.operationsMax)
        for _ in 0..<count {
            if let operation = operation() { operations.append(operation) }
        }
        if workload.chance(percent: 4) {
            operations.insert(.savepoint, at: workload.int(in: 0...operations.count))
            operations.append(.undo)
            if let operation = operation(), workload.chance(percent: 70) { operations.append(operation) }
        }
        if workload.chance(percent: 2) { operations.append(.rollback) }
        return operations
    }

    private mutating func operation() -> UserOperation? {
        if swarm.invariantPercent > 0, workload.chance(percent: swarm.invariantPercent), let invariant = workload.pick(swarm.invariants),
            let pair = pair(invariant)
        {
            return .pair(pair)
        }
        return write().map { .write($0) }
    }

    private mutating func pair(_ invariant: Invariant) -> RowPair? {
        switch invariant {
        case .sum(let table, let column):
            let rows = 1...max(2, swarm.rowsPerTable)
            return RowPair(
                verb: .move, table: table, column: column, amount: workload.int(in: 1...99), first: workload.int(in: rows),
                second: workload.int(in: rows))
        case .order(let table, let column):
            let rows = 1...max(3, 2 * swarm.rowsPerTable)
            return RowPair(
                verb: .place, table: table, column: column, first: workload.int(in: rows), second: workload.int(in: rows))
        case .ring(let table, let column):
            let items = 1...Ring.size
            return RowPair(
                verb: .relink, table: table, column: column, first: workload.int(in: items), second: workload.int(in: items))
        case .always, .converged:
            return nil
        }
    }

    private mutating func write() -> RowWrite? {
        let index = workload.index(weighted: swarm.tableWeights)
        guard index < tables.count, !tables[index].isReserved else { return nil }
        let table = tables[index]
        let verb = RowWrite.Verb.allCases[workload.index(weighted: swarm.verbWeights(of: table))]
        let row = workload.int(in: 1...swarm.rowsPerTable)
        let columns = candidates(table, verb)
        if columns.isEmpty, ![.delete, .insert, .rewrite].contains(verb) { return RowWrite(.delete, table.name, row) }
        var write = RowWrite(verb, table.name, row)
        for column in chosen(columns, verb) {
            write.assignments.append(Assignment(column.name, Literal(values.value(for: column, verb))))
        }
        return write
    }

    /// The columns that a statement of this verb may name.
    private func candidates(_ table: WorkloadTable, _ verb: RowWrite.Verb) -> [WorkloadTable.Column] {
        switch verb {
        case .insert, .replace, .rewrite, .upsert, .update: table.columns
        case .resolve: table.columns.filter { $0.kind == .register && $0.reference == nil }
        case .add, .remove: table.columns.filter { $0.kind == .set }
        case .count: table.columns.filter { $0.kind == .counter }
        case .type, .erase, .open, .save: table.columns.filter { $0.kind == .text }
        case .delete: []
        }
    }

    private mutating func chosen(_ columns: [WorkloadTable.Column], _ verb: RowWrite.Verb) -> [WorkloadTable.Column] {
        guard let one = workload.pick(columns) else { return [] }
        switch verb {
        case .add, .remove, .count, .resolve, .type, .erase, .open, .save: return [one]
        // Often a row is saved just as it was loaded.
        case .rewrite where workload.chance(percent: 60): return []
        case .insert, .replace, .rewrite, .upsert, .update, .delete:
            var chosen: [WorkloadTable.Column] = []
            for column in columns where column.name == one.name || workload.chance(percent: 40) { chosen.append(column) }
            return verb == .insert && workload.chance(percent: 50) ? columns : chosen
        }
    }
}
