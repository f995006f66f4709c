import KithCausality
import KithSync

/// A store in memory that does with ``RowState`` what a real one does with SQLite: commits, deltas cut into slices, apply.
struct ModelStore {
    private(set) var replica: ReplicaID
    let policy: DeletePolicy
    private(set) var heads: [Head] = []
    private(set) var clock = HybridClock()
    private(set) var rows: [RowID: RowState] = [:]
    private(set) var resumption: Resumption?
    /// The timestamps of this replica's own commits, by sequence from 1.
    private var ownTimestamps: [HybridTimestamp] = []
    var sliceRowsMax = 3

    init(replica: ReplicaID, policy: DeletePolicy = .updateWins) {
        self.replica = replica
        self.policy = policy
    }

    var summary: StoreSummary { StoreSummary(replica: replica, heads: heads, clock: clock.latest, resumption: resumption) }
    var vector: VersionVector { VersionVector(heads.map(\.dot)) }

    func isVisible(_ id: RowID) -> Bool { rows[id]?.isVisible(policy) ?? false }

    /// Becomes another replica.
    mutating func take(_ replica: ReplicaID) {
        self.replica = replica
        ownTimestamps = []
    }

    /// Becomes another replica, unless this one made the commit.
    mutating func verify(_ claim: Head, fresh: ReplicaID) {
        let index = Int(claim.dot.sequence) - 1
        if claim.dot.replica == replica, !ownTimestamps.indices.contains(index) || ownTimestamps[index] != claim.timestamp {
            take(fresh)
        }
    }

    // MARK: One local transaction

    mutating func commit(now: UInt64, _ operations: [Operation]) {
        let dot = Dot(replica: replica, sequence: vector[replica] + 1)
        let stamp = Stamp(dot: dot, timestamp: clock.tick(reading: HybridTimestamp(rawValue: now)))
        for operation in operations { perform(operation, stamp: stamp) }
        ownTimestamps.append(stamp.timestamp)
        learn([Head(dot: dot, timestamp: stamp.timestamp)])
    }

    private mutating func perform(_ operation: Operation, stamp: Stamp) {
        var row = rows[operation.row] ?? RowState()
        let visible = row.isVisible(policy)
        if case .insert = operation.change { if visible { return } } else if !visible { return }
        if operation.change == .delete {
            row.tombstones = [Tombstone(dot: stamp.dot, seen: row.clock)]
        } else {
            row.tombstones = []
            row.change(operation.change, stamp: stamp)
        }
        rows[operation.row] = row
    }

    /// Changes a row without a commit, as damage does, or one who mends it.
    mutating func overwrite(_ id: RowID, with state: RowState?) {
        rows[id] = state
    }

    /// Writes values again that gave way, as a commit of this replica.
    mutating func rewrite(_ lost: [RowState.LostValue], in id: RowID) {
        let dot = Dot(replica: replica, sequence: vector[replica] + 1)
        let stamp = Stamp(dot: dot, timestamp: clock.tick(reading: clock.latest))
        for value in lost {
            guard case .register(var register)? = rows[id]?[value.column] else { continue }
            register.add(Write(stamp: stamp, value: value.value))
            rows[id]?[value.column] = .register(register)
        }
        ownTimestamps.append(stamp.timestamp)
        learn([Head(dot: dot, timestamp: stamp.timestamp)])
    }

    // MARK: Synchronisation

    func read(_ request: SliceRequest) -> Slice? {
        if request.target == nil, request.since.covers(vector) { return nil }
        var parts: [RowPart] = []
        var remaining = 0
        for id in rows.keys.sorted() {
            let position = SlicePosition(table: ModelColumn.table.name, row: id)
            if let after = request.after, position <= after { continue }
            var known = request.since
            if let resumption = request.resumption, position <= resumption.position { known.join(resumption.vector) }
            guard let part = rows[id]?.uncovered(by: known) else { continue }
            if parts.count < sliceRowsMax { parts.append(RowPart(table: 0, id: id, state: part)) } else { remaining += 1 }
        }
        return Slice(
            since: request.since, vector: vector, target: request.target ?? heads, clock: clock.latest,
            isFirst: request.after == nil, isLast: remaining == 0,
            position: parts.last.map { SlicePosition(table: ModelColumn.table.name, row: $0.id) } ?? request.after,
            rowsRemaining: remaining, tables: parts.isEmpty ? [] : [ModelColumn.table], rows: parts)
    }

    mutating func apply(_ slice: Slice) -> ApplyOutcome {
        guard vector.covers(slice.since) else { return .refused(summary) }
        for part in slice.rows {
            var row = rows[part.id] ?? RowState()
            let theirs = slice.vector.joined(with: part.state.context)
            row.merge(part.state, knowing: vector, theirs: theirs)
            row.context.join(theirs)
            rows[part.id] = row
        }
        clock.observe(slice.clock)
        if slice.isLast {
            learn(slice.target)
            resumption = nil
        } else if let position = slice.position, resumption.map({ $0.position < position }) ?? true {
            resumption = Resumption(position: position, vector: slice.targetVector)
        }
        let vector = vector
        for (id, row) in rows where vector.covers(row.context) { rows[id]?.context = VersionVector() }
        return .applied(summary)
    }

    private mutating func learn(_ others: [Head]) {
        var known = Dictionary(uniqueKeysWithValues: heads.map { ($0.dot.replica, $0) })
        for head in others where known[head.dot.replica].map({ $0.dot.sequence < head.dot.sequence }) ?? true {
            known[head.dot.replica] = head
        }
        heads = known.values.sorted { $0.dot < $1.dot }
    }
}

extension RowState {
    fileprivate mutating func change(_ change: Operation.Change, stamp: Stamp) {
        switch change {
        case .insert(let x, let tags, let count):
            edit(ModelColumn.x) { $0.resolve(keeping: .integer(x), stamp: stamp) }
            var set = if case .set(let state)? = self[ModelColumn.tags] { state } else { SetState() }
            set.restart(with: tags.map { Array($0.utf8) }, dot: stamp.dot)
            self[ModelColumn.tags] = .set(set)
            var counter = if case .counter(let state)? = self[ModelColumn.count] { state } else { CounterState() }
            counter.restart(with: count, dot: stamp.dot)
            self[ModelColumn.count] = .counter(counter)
        case .delete:
            break
        case .set(let column, let value):
            edit(column) { $0.set(.integer(value), stamp: stamp) }
        case .resolve(let column, let value):
            edit(column) { $0.resolve(keeping: .integer(value), stamp: stamp) }
        case .toggle(let element):
            var set = if case .set(let state)? = self[ModelColumn.tags] { state } else { SetState() }
            let json = Array(element.utf8)
            let elements = set.members
            _ = set.set(to: elements.contains(json) ? elements.filter { $0 != json } : elements + [json], dot: stamp.dot)
            self[ModelColumn.tags] = .set(set)
        case .increment(let amount):
            add(amount, stamp)
        }
    }

    private mutating func edit(_ column: Int, _ body: (inout RegisterState) -> Void) {
        var register = if case .register(let state)? = self[column] { state } else { RegisterState() }
        body(&register)
        self[column] = .register(register)
    }

    private mutating func add(_ amount: Int64, _ stamp: Stamp) {
        var counter = if case .counter(let state)? = self[ModelColumn.count] { state } else { CounterState() }
        counter.count(amount, dot: stamp.dot)
        self[ModelColumn.count] = .counter(counter)
    }
}
