/// All that happens in one run, written down: who writes what, and what befalls the network and the machines.
///
/// A script is plain text to people and a value to the simulator. The same script gives the same run in every process.
///
///     nodes 2
///     A: insert note 1 title='milk'
///     sync A B
///     cut A B
///     A: delete note 1
///     B: update note 1 title='oat milk'
public struct Script: Hashable, Sendable {
    /// What decides everything that the script leaves open: latencies, replica ids, which of the frames under way are lost with a connection.
    public var seed: UInt64
    /// How many machines there are.
    public var nodeCount: Int
    /// The nodes that have the older version of the app and keep it, unless a step updates them.
    public var oldNodes: Set<Int> = []
    /// What the network is like.
    public var conditions: NetworkConditions
    /// What happens, in order.
    public var steps: [Step]

    public init(seed: UInt64, nodeCount: Int, conditions: NetworkConditions = NetworkConditions(), steps: [Step]) {
        self.seed = seed
        self.nodeCount = nodeCount
        self.conditions = conditions
        self.steps = steps
    }

    /// The most nodes that a script may have.
    public static let nodesMax = 64

    /// The highest number of a stick.
    public static let sticksMax = 99

    /// Whether disks are copied, replaced or broken, so that databases must be files.
    var needsDisks: Bool {
        steps.contains { step in
            switch step {
            case .backup, .restore, .revert, .clone, .losePower, .fillDisk, .breakDisk, .mendDisk: true
            default: false
            }
        }
    }

    /// Whether some machine forgets at some time what it did, and does something else instead.
    var setsBack: Bool {
        steps.contains { step in
            switch step {
            case .restore, .revert, .clone, .losePower: true
            default: false
            }
        }
    }

    /// Whether some disk is full or broken at some time.
    var hasBadDisks: Bool {
        steps.contains { step in
            switch step {
            case .fillDisk, .breakDisk, .losePower: true
            default: false
            }
        }
    }

    /// The nodes that begin with the older version of the app: they keep it, or are updated at some time.
    var nodesBegunOld: Set<Int> {
        oldNodes.union(steps.compactMap { if case .update(let node) = $0 { node } else { nil } })
    }

    /// The nodes that are not there when the run begins.
    var nodesBegunLate: Set<Int> {
        Set(steps.compactMap { if case .begin(let node) = $0 { node } else { nil } })
    }

    /// The rows that stand in the tables of each node before these are tracked.
    var foundRows: [Int: [RowWrite]] {
        var rows: [Int: [RowWrite]] = [:]
        for case .found(let node, let row) in steps { rows[node, default: []].append(row) }
        return rows
    }

    /// Whether deleted rows are thrown away for good at some time, for which nodes must hear what others hold.
    var collectsGarbage: Bool {
        steps.contains { if case .collect = $0 { true } else { false } }
    }

    /// Whether files are carried from machine to machine, for which nodes must hear what others hold.
    var carries: Bool {
        steps.contains { if case .carryOut = $0 { true } else { false } }
    }

    /// Whether a deleted row can be gone for good: each store knows what the others hold.
    var removesRows: Bool { collectsGarbage || carries }

    /// Whether some member lies on purpose, for which nodes must know who the others are.
    var lies: Bool {
        steps.contains { if case .lie = $0 { true } else { false } }
    }

    /// Whether it matters who is a member, for which each machine holds records of the household.
    var hasHousehold: Bool {
        steps.contains { step in
            switch step {
            case .revoke, .lieRecords: true
            default: false
            }
        }
    }

    /// Whether some machine may have been silent for long, by its own clock or others', or has forgotten what it knew.
    var maySilenceMembers: Bool {
        steps.contains { step in
            switch step {
            case .sleep, .nap, .setClock, .runClock, .begin: true
            default: false
            }
        } || setsBack
    }

    /// How many commits of users the script asks for.
    public var commitCount: Int {
        steps.count { if case .commit = $0 { true } else { false } }
    }
}

/// What the network and the disks are like for the length of a run.
public struct NetworkConditions: Hashable, Sendable {
    /// How long a frame is under way.
    public var latencyMilliseconds: ClosedRange<Int64> = 1...20
    /// How long a store takes to answer.
    public var storeMilliseconds: ClosedRange<Int64> = 0...3
    /// Bytes that a link carries in a second.
    public var bytesPerSecond = 10_000_000
    /// Rows of one slice: a small number cuts catch-ups into many.
    public var sliceRowsMax = 2_000
    /// Which machines are linked.
    public var topology = Topology.mesh

    public init() {}
}

/// Who is connected to whom.
public enum Topology: String, Hashable, Sendable, CaseIterable {
    case mesh, star, chain, ring

    /// The pairs of nodes that have a link; the lower number comes first.
    func links(nodeCount: Int) -> [(Int, Int)] {
        switch self {
        case .mesh: (0..<nodeCount).flatMap { a in (a + 1..<max(nodeCount, a + 1)).map { (a, $0) } }
        case .star: (1..<max(nodeCount, 1)).map { (0, $0) }
        case .chain: (1..<max(nodeCount, 1)).map { ($0 - 1, $0) }
        case .ring: (1..<max(nodeCount, 1)).map { ($0 - 1, $0) } + (nodeCount > 2 ? [(0, nodeCount - 1)] : [])
        }
    }
}
