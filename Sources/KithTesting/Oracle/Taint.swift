import KithCausality
import KithSync

/// What cannot be vouched for any more, because a frame that was a lie, and could be read, may have said something about it.
///
/// Of rows that no lie was about every promise holds as before. A lie about what its teller knows, has, or wants changes no row of
/// anybody: only slices, rows to mend with, and the place at which a catch-up is to go on reach a store.
///
/// Rows are put aside here, too, of which the oracle cannot tell what they must show: see ``setAside(_:)``.
struct Taint {
    /// Somebody was told something false that could be read.
    private(set) var hasLies = false
    /// A lie was about something that a store keeps.
    private(set) var reachesStores = false
    /// A lie was about whole tables, or about what need not be sent: every row may be another one.
    private(set) var coversAll = false
    /// Rows that a lie named, or whose commits it passed over.
    private(set) var rows: Set<RowKey> = []
    /// Tables that may show rows which nobody wrote.
    private(set) var tables: Set<Int> = []
    /// By replica, as the oracle numbers it: the first commit of those that a lie may have pretended to bring.
    private var tails: [Int: UInt64] = [:]
    /// Replicas, as the oracle numbers them, that no store has: liars name their commits.
    private var liars: Set<Int> = []
    /// The tables that refer to each other: what one row shows depends on others.
    private let related: Set<Int>

    init(_ tables: [WorkloadTable]) {
        related = Set(tables.indices.filter { tables[$0].isRelated })
    }

    /// Whether the row may be another one than its users made it.
    func covers(_ key: RowKey) -> Bool {
        if !isNeeded { return false }
        return coversAll || rows.contains(key) || related.contains(key.table) && !tables.isDisjoint(with: related)
    }

    /// Whether any row may be another one than its users made it.
    var isNeeded: Bool { reachesStores || !rows.isEmpty }

    /// Whether something of the table may be other than its users made it.
    func covers(table: Int) -> Bool {
        coversAll || tables.contains(table) || related.contains(table) && !tables.isDisjoint(with: related)
    }

    /// Whether somebody may believe that he knows this commit, who does not.
    func covers(_ event: EventID) -> Bool {
        coversAll || tails[event.replica].map { $0 <= event.sequence } ?? false
    }

    /// Whether a liar alone can tell what this replica has made.
    func isOfLiar(_ replica: Int) -> Bool { liars.contains(replica) }

    private mutating func insert(_ keys: some Sequence<RowKey>) {
        for key in keys {
            rows.insert(key)
            tables.insert(key.table)
        }
    }

    // MARK: Statements

    /// Whether what the statement does may depend on a lie.
    func covers(_ write: RowWrite, _ node: SimulatedNode) -> Bool {
        isNeeded && Self.keys(.write(write), node).contains(where: covers)
    }

    func covers(_ pair: RowPair, _ node: SimulatedNode) -> Bool {
        isNeeded && Self.keys(.pair(pair), node).contains(where: covers)
    }

    /// A statement that is about several rows changes them all by what it finds in each.
    mutating func spread(over operations: [UserOperation], of node: SimulatedNode) {
        if !isNeeded { return }
        for operation in operations {
            let keys = Self.keys(operation, node)
            if keys.contains(where: covers) { insert(keys) }
        }
    }

    private static func keys(_ operation: UserOperation, _ node: SimulatedNode) -> [RowKey] {
        func keys(_ name: String, _ rows: [Int]) -> [RowKey] {
            guard let table = node.tables.firstIndex(where: { $0.name == name }) else { return [] }
            return rows.map { RowKey(table: table, row: $0) }
        }
        return switch operation {
        case .write(let write): keys(write.table, [write.row])
        case .pair(let pair) where pair.verb == .relink: keys(pair.table, (0..<Ring.size).map { Ring.row($0, of: node.index) })
        case .pair(let pair): keys(pair.table, [pair.first, pair.second])
        case .savepoint, .undo, .rollback: []
        }
    }

    // MARK: What is compared between machines only

    /// From now on these rows are not compared with what their users wrote, but with each other: texts that were found, which are
    /// documents of their own, and rows that a rule of the app refuses on some machine.
    mutating func setAside(_ keys: some Sequence<RowKey>) {
        insert(keys)
    }

    // MARK: Lies

    /// A frame arrives that says something else than what was meant.
    mutating func insert(_ told: Frame?, insteadOf meant: Frame?, _ ledger: Ledger) {
        hasLies = true
        for frame in [told, meant] {
            switch frame {
            case .slice(let slice, _): insert(slice, insteadOf: meant?.slice, ledger)
            case .digestRows(_, let slice): name(slice, insteadOf: meant?.slice, ledger)
            default: break
            }
        }
        // Who passes over rows that he is believed to have takes all that was in them for known.
        if told?.resumption != meant?.resumption { (reachesStores, coversAll) = (true, true) }
    }

    /// A liar says so with a commit of its own.
    mutating func add(liar replica: Int) { liars.insert(replica) }

    /// A node is told what every store refuses.
    mutating func insertRefused() { hasLies = true }

    /// A slice that no store has read arrives at a node that knows `known`.
    ///
    /// - Parameter takesListing: whether the node believes it what it says of rows that are not there.
    mutating func insert(madeUp slice: Slice, takesListing: Bool, to known: Knowledge, _ ledger: Ledger) {
        hasLies = true
        name(slice, insteadOf: nil, ledger)
        if takesListing { coversAll = true }
        var after = known
        after.join(ledger.knowledge(slice.vector))
        for (replica, sequence) in ledger.knowledge(slice.targetVector).sequences.enumerated() where sequence > known[replica] {
            if !isOfLiar(replica) { tails[replica] = min(tails[replica] ?? .max, known[replica] + 1) }
        }
        insert(ledger.rows(between: known, and: after))
        insertTails(ledger)
    }

    /// Every row that the slice names, and every row of the commits that it brings or passes over.
    private mutating func insert(_ slice: Slice, insteadOf meant: Slice?, _ ledger: Ledger) {
        name(slice, insteadOf: meant, ledger)
        var since = ledger.knowledge(slice.since)
        var vector = ledger.knowledge(slice.vector)
        vector.join(ledger.knowledge(slice.targetVector))
        if let meant {
            since.meet(ledger.knowledge(meant.since))
            vector.join(ledger.knowledge(meant.vector))
            let target = ledger.knowledge(meant.targetVector)
            for (replica, sequence) in ledger.knowledge(slice.targetVector).sequences.enumerated() where sequence > target[replica] {
                tails[replica] = min(tails[replica] ?? .max, target[replica] + 1)
            }
            // Of absent rows a listing speaks as well.
            if slice.listing != nil || meant.listing != nil { coversAll = true }
        } else {
            coversAll = true
        }
        insert(ledger.rows(between: since, and: vector))
        insertTails(ledger)
    }

    private mutating func insertTails(_ ledger: Ledger) {
        for replica in tails.keys.sorted() {
            var before = Knowledge()
            before[replica] = (tails[replica] ?? 1) - 1
            var after = Knowledge()
            after[replica] = .max
            insert(ledger.rows(between: before, and: after))
        }
    }

    private mutating func name(_ slice: Slice, insteadOf meant: Slice?, _ ledger: Ledger) {
        reachesStores = true
        // What a table or column is called and holds concerns all of its rows.
        if let meant, meant.tables != slice.tables { coversAll = true }
        for row in slice.rows {
            guard row.table < slice.tables.count, let table = ledger.table(slice.tables[row.table].name) else { continue }
            tables.insert(table)
            if let key = ledger.key(table, row.id) { rows.insert(key) }
        }
    }

    /// A commit was made: what it wrote may be passed over where its author's later commits are taken for known.
    mutating func note(_ event: EventID, _ keys: [RowKey]) {
        if covers(event) { insert(keys) }
    }
}

extension Frame {
    fileprivate var slice: Slice? {
        switch self {
        case .slice(let slice, _), .digestRows(_, let slice): slice
        default: nil
        }
    }

    fileprivate var resumption: Resumption? {
        switch self {
        case .hello(let hello): hello.resumption
        case .want(let want): want.resumption
        default: nil
        }
    }
}
