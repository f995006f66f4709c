/// What one seed is like: which faults it has and how often, and what its users mostly do.
///
/// Seeds that each leave most things out find more than seeds that all do everything. See Groce et al., "Swarm Testing",
/// 2012.
struct Swarm {
    var nodeCount: Int
    var conditions = NetworkConditions()
    /// Of each verb of ``RowWrite/Verb``, in order.
    private var verbWeights: [Int]
    var rowsPerTable: Int
    var operationsMax: Int
    var tableWeights: [Int]
    /// Those that statements keep.
    var invariants: [Invariant]
    /// Percent of statements that keep one of these.
    var invariantPercent: Int
    /// Percent of steps that are faults of each kind.
    var faultWeights: [(fault: Fault, weight: Int)]
    /// Faults that every seed has, and before what share of the users' transactions each occurs.
    var faultRates: [(fault: Fault, rate: Double)]
    var hasOlderVersion: Bool
    /// The machine, if any, on which the older version of the app stays.
    var staysOld: Int?
    var collectsGarbage: Bool
    /// Whether a deleted row can be gone for good: each store knows what the others hold.
    var removesRows: Bool { collectsGarbage || faultWeights.contains { $0.fault == .stick } || faultRates.contains { $0.fault == .stick } }
    /// Whether some machines begin with rows.
    var findsRows: Bool
    /// How many rows one transaction inserts in the beginning, so that somebody may delete many.
    var crowd = 0
    /// Percent of steps at which a fault occurs.
    var faultPercent: Int
    /// Percent of values that are odd: empty, huge, not normalised, of another type.
    var oddValuePercent: Int
    /// How many different values users write; few of them make users write the same.
    var valueVariety: Int
    var pauseMillisecondsMax: Int

    init(seed: UInt64, nodeCount: Int, workload: Workload, faults: [Fault], rates: [Fault: Double]) {
        var random = SplitMix64(seed: seed, .swarm)
        self.nodeCount = nodeCount
        var typing = SplitMix64(seed: seed, .swarm, 1)
        verbWeights = RowWrite.Verb.allCases.map { verb in
            func weight(_ random: inout SplitMix64) -> Int {
                random.chance(percent: 25) ? 0 : Self.usualWeight(verb) * random.int(in: 1...4)
            }
            return verb.editsText ? weight(&typing) : weight(&random)
        }
        rowsPerTable = random.pick([1, 2, 4, 8, 20]) ?? 4
        operationsMax = random.pick([1, 2, 4, 8]) ?? 2
        tableWeights = workload.tables.map { $0.isReserved ? 0 : random.int(in: 0...4) }
        let usesReferences = typing.chance(percent: 30)
        invariants = workload.schema.invariants.filter { $0.table != nil }
        invariantPercent = typing.pick([0, 0, 10, 40]) ?? 0
        hasOlderVersion = workload.olderTables != nil
        // A stream of their own: seeds that do without them stay as they were.
        var later = SplitMix64(seed: seed, .swarm, 2)
        var finding = SplitMix64(seed: seed, .swarm, 3)
        let laterFaults = faults.filter { $0.isLater && rates[$0] == nil }
        var reverting = SplitMix64(seed: seed, .swarm, 4)
        var chosen = faults.filter { fault in
            switch fault {
            case .foundRows: false
            case .revert: reverting.chance(percent: fault.percent) || faults.count == 1
            default: !fault.isLater && (random.chance(percent: fault.percent) || faults.count == 1)
            }
        }
        chosen.removeAll { rates[$0] != nil }
        faultRates = Fault.allCases.compactMap { fault in rates[fault].map { (fault, $0) } }.filter { $0.1 > 0 }
        findsRows =
            faultRates.contains { $0.fault == .foundRows }
            || faults.contains(.foundRows) && rates[.foundRows] == nil
                && (finding.chance(percent: Fault.foundRows.percent) || faults.count == 1)
        faultRates.removeAll { $0.fault == .foundRows }
        let collectsAlways = faultRates.contains { $0.fault == .garbage }
        if !collectsAlways, faultRates.contains(where: \.fault.confusesGarbage) { chosen.removeAll { $0 == .garbage } }
        collectsGarbage = collectsAlways || chosen.contains(.garbage)
        if collectsGarbage {
            chosen.removeAll(where: \.confusesGarbage)
            faultRates.removeAll(where: \.fault.confusesGarbage)
        }
        // A deletion that all members hold and have forgotten does not reach a machine that gets the row's table with an update, and finds it.
        if collectsGarbage, (chosen + faultRates.map(\.fault)).contains(.oldVersion) { findsRows = false }
        // A parent that was collected cannot be brought back for a row that was under way.
        for index in workload.tables.indices where workload.tables[index].isRelated && (collectsGarbage || !usesReferences) {
            tableWeights[index] = 0
        }
        faultWeights = chosen.map { ($0, random.int(in: 1...4)) }
        faultPercent = faultWeights.isEmpty ? 0 : random.pick([0, 2, 5, 10, 20]) ?? 5
        for fault in laterFaults where later.chance(percent: fault.percent) || faults.count == 1 {
            if faultWeights.isEmpty { faultPercent = later.pick([2, 5, 10]) ?? 5 }
            faultWeights.append((fault, later.int(in: 1...4)))
        }
        if (faultWeights.map(\.fault) + faultRates.map(\.fault)).contains(.forgery), later.chance(percent: 20) {
            crowd = later.int(in: 50...80)
        }
        if hasOlderVersion, (faultWeights.map(\.fault) + faultRates.map(\.fault)).contains(.oldVersion), later.chance(percent: 35) {
            staysOld = later.int(in: 0...nodeCount - 1)
        }
        oddValuePercent = random.pick([0, 0, 5, 30]) ?? 0
        valueVariety = random.pick([2, 1_000_000, 1_000_000]) ?? 1_000_000
        pauseMillisecondsMax = random.pick([0, 10, 100, 1_000, 5_000]) ?? 100
        conditions.latencyMilliseconds = 0...Int64(random.pick([1, 20, 200, 2_000]) ?? 20)
        conditions.storeMilliseconds = 0...Int64(random.pick([0, 5, 50]) ?? 5)
        conditions.bytesPerSecond = random.pick([20_000, 1_000_000, 100_000_000]) ?? 1_000_000
        conditions.sliceRowsMax = random.pick([1, 2, 5, 2_000, 2_000]) ?? 2_000
        conditions.topology = random.pick([.mesh, .mesh, .star, .chain, .ring]) ?? .mesh
        focus(workload.tables, onReferences: usesReferences && !collectsGarbage, &typing)
    }

    /// Whether files are carried on sticks.
    var carries: Bool { faultWeights.contains { $0.fault == .stick } || faultRates.contains { $0.fault == .stick } }

    /// Users who write few rows and little else meet there more often.
    private mutating func focus(_ tables: [WorkloadTable], onReferences: Bool, _ random: inout SplitMix64) {
        if onReferences {
            guard random.chance(percent: 60) else { return }
            for index in tables.indices where !tables[index].isRelated { tableWeights[index] = 0 }
            rowsPerTable = random.int(in: 1...3)
        } else if random.chance(percent: 30), let favourite = random.pick(tables.indices.filter { tableWeights[$0] > 0 }) {
            tableWeights[favourite] = 20
            rowsPerTable = min(rowsPerTable, 4)
        }
    }

    /// Of each verb of ``RowWrite/Verb``, in order, for statements on `table`.
    func verbWeights(of table: WorkloadTable) -> [Int] {
        if table.columns.contains(where: { $0.kind == .text }) { return verbWeights }
        return zip(RowWrite.Verb.allCases, verbWeights).map { $0.editsText ? 0 : $1 }
    }

    private static func usualWeight(_ verb: RowWrite.Verb) -> Int {
        switch verb {
        case .insert: 6
        case .update, .upsert: 8
        case .replace, .rewrite: 2
        case .delete: 4
        case .resolve: 2
        case .add, .remove, .count, .open: 4
        case .type, .save: 12
        case .erase: 6
        }
    }
}
