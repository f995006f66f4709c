import KithCausality

@testable import KithSync

/// A second, naive statement of the merge rules, by dictionaries and sets, against which the real one is held.
///
/// It shares no code with what it checks but the names of things.
struct ReferenceModel {
    typealias Vector = [ReplicaID: UInt64]

    struct Register: Hashable {
        var timestamp: HybridTimestamp
        var value: Int64
    }

    struct Row {
        var cells: [Int: [Dot: Register]] = [:]
        var sets: [Int: (elements: [String: Set<Dot>], touched: Vector)] = [:]
        var counters: [Int: [ReplicaID: (sequence: UInt64, total: Int64)]] = [:]
        /// Every element that was ever removed from the set.
        var removed: Set<String> = []
        /// Whether an insertion made the row.
        var isBorn = false
        var tombstones: [Dot: Vector] = [:]

        var liveDots: [Dot] {
            cells.values.flatMap(\.keys) + sets.values.flatMap { $0.touched.map(Dot.init) }
                + counters.values.flatMap { $0.map { Dot(replica: $0.key, sequence: $0.value.sequence) } }
        }

        var clock: Vector {
            var clock: Vector = [:]
            for dot in liveDots + tombstones.keys { clock[dot.replica] = max(clock[dot.replica] ?? 0, dot.sequence) }
            for seen in tombstones.values { clock = ReferenceModel.join(clock, seen) }
            return clock
        }
    }

    let replica: ReplicaID
    let policy: DeletePolicy
    var vector: Vector = [:]
    var clock: UInt64 = 0
    var rows: [RowID: Row] = [:]

    static func covers(_ vector: Vector, _ dot: Dot) -> Bool { vector[dot.replica, default: 0] >= dot.sequence }
    static func join(_ a: Vector, _ b: Vector) -> Vector { a.merging(b, uniquingKeysWith: max) }

    func isVisible(_ id: RowID) -> Bool {
        guard let row = rows[id] else { return false }
        if row.tombstones.isEmpty { return true }
        if policy == .deleteWins { return false }
        let seen = row.tombstones.values.reduce([:], Self.join)
        return row.liveDots.contains { !Self.covers(seen, $0) }
    }

    private func winner(_ siblings: [Dot: Register]) -> Dot? {
        siblings.max { ($0.value.timestamp, $0.key) < ($1.value.timestamp, $1.key) }?.key
    }

    // MARK: One local transaction

    mutating func commit(now: UInt64, _ operations: [Operation]) {
        let dot = Dot(replica: replica, sequence: vector[replica, default: 0] + 1)
        clock = max(clock + 1, now)
        for operation in operations { perform(operation, dot: dot) }
        vector[replica] = dot.sequence
    }

    private mutating func perform(_ operation: Operation, dot: Dot) {
        let visible = isVisible(operation.row)
        var row = rows[operation.row] ?? Row()
        let stamp = HybridTimestamp(rawValue: clock)
        switch operation.change {
        case .delete:
            guard visible else { return }
            row.tombstones = [dot: row.clock]
        case .insert(let x, let tags, let count):
            guard !visible else { return }
            row.tombstones = [:]
            row.cells[ModelColumn.x] = [dot: Register(timestamp: stamp, value: x)]
            var set = row.sets[ModelColumn.tags] ?? ([:], [:])
            row.removed.formUnion(set.elements.filter { !$0.value.isEmpty }.keys)
            row.isBorn = true
            set.elements = Dictionary(uniqueKeysWithValues: tags.map { ($0, [dot]) })
            set.touched[replica] = dot.sequence
            row.sets[ModelColumn.tags] = set
            let others = (row.counters[ModelColumn.count] ?? [:]).filter { $0.key != replica }.reduce(0) { $0 + $1.value.total }
            row.counters[ModelColumn.count, default: [:]][replica] = (dot.sequence, count - others)
        case .set(let column, let value):
            guard visible else { return }
            let writes = row.cells[column] ?? [:]
            if let shown = winner(writes) { row.cells[column] = writes.filter { $0.value.value != writes[shown]?.value } }
            row.cells[column, default: [:]][dot] = Register(timestamp: stamp, value: value)
            row.tombstones = [:]
        case .resolve(let column, let value):
            guard visible else { return }
            row.cells[column] = [dot: Register(timestamp: stamp, value: value)]
            row.tombstones = [:]
        case .toggle(let element):
            guard visible else { return }
            var set = row.sets[ModelColumn.tags] ?? ([:], [:])
            let isPresent = !(set.elements[element] ?? []).isEmpty
            set.elements[element] = isPresent ? nil : [dot]
            if isPresent { row.removed.insert(element) }
            set.touched[replica] = dot.sequence
            row.sets[ModelColumn.tags] = set
            row.tombstones = [:]
        case .increment(let amount):
            guard visible else { return }
            let total = row.counters[ModelColumn.count]?[replica]?.total ?? 0
            row.counters[ModelColumn.count, default: [:]][replica] = (dot.sequence, total + amount)
            row.tombstones = [:]
        }
        rows[operation.row] = row
    }

    // MARK: Synchronisation

    /// Takes in everything that `other` knows.
    mutating func pull(from other: ReferenceModel) {
        let (mine, theirs) = (vector, other.vector)
        func keep(_ a: Set<Dot>, _ b: Set<Dot>) -> Set<Dot> {
            a.intersection(b).union(a.subtracting(b).filter { !Self.covers(theirs, $0) })
                .union(b.subtracting(a).filter { !Self.covers(mine, $0) })
        }
        for (id, their) in other.rows {
            var row = rows[id] ?? Row()
            for column in Set(row.cells.keys).union(their.cells.keys) {
                let (a, b) = (row.cells[column] ?? [:], their.cells[column] ?? [:])
                let kept = keep(Set(a.keys), Set(b.keys))
                row.cells[column] = a.merging(b) { mine, _ in mine }.filter { kept.contains($0.key) }
            }
            for (column, set) in their.sets {
                var mine = row.sets[column] ?? ([:], [:])
                for element in Set(mine.elements.keys).union(set.elements.keys) {
                    mine.elements[element] = keep(mine.elements[element] ?? [], set.elements[element] ?? [])
                }
                mine.touched = Self.join(mine.touched, set.touched)
                row.sets[column] = mine
            }
            for (column, totals) in their.counters {
                row.counters[column, default: [:]].merge(totals) { $0.sequence < $1.sequence ? $1 : $0 }
            }
            row.removed.formUnion(their.removed)
            row.isBorn = row.isBorn || their.isBorn
            let kept = keep(Set(row.tombstones.keys), Set(their.tombstones.keys))
            row.tombstones = row.tombstones.merging(their.tombstones, uniquingKeysWith: Self.join).filter { kept.contains($0.key) }
            rows[id] = row
        }
        vector = Self.join(vector, other.vector)
        clock = max(clock, other.clock)
    }

    // MARK: Comparison

    /// The model's rows in the form of the real ones.
    var states: [RowID: RowState] {
        rows.mapValues { row in
            var state = RowState()
            for (column, writes) in row.cells where !writes.isEmpty {
                let sorted = writes.sorted { $0.key < $1.key }.map {
                    Write(stamp: Stamp(dot: $0.key, timestamp: $0.value.timestamp), value: .integer($0.value.value))
                }
                state[column] = .register(RegisterState(writes: sorted))
            }
            for (column, set) in row.sets {
                let elements = set.elements.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map {
                    SetState.Element(json: Array($0.key.utf8), dots: $0.value.sorted())
                }
                state[column] = .set(
                    SetState(
                        elements: elements, touched: VersionVector(set.touched.map(Dot.init)),
                        removed: ContentSet(hashes: row.removed.map { SetState.contentHash(Array($0.utf8)) })))
            }
            for (column, totals) in row.counters {
                let sorted = totals.map {
                    CounterState.Total(dot: Dot(replica: $0.key, sequence: $0.value.sequence), amount: $0.value.total)
                }
                state[column] = .counter(CounterState(totals: sorted.sorted { $0.dot < $1.dot }, isBorn: row.isBorn))
            }
            state.tombstones = row.tombstones.map {
                Tombstone(dot: $0.key, seen: VersionVector($0.value.map(Dot.init)))
            }.sorted { $0.dot < $1.dot }
            return state
        }
    }
}

extension Dot {
    fileprivate init(_ entry: (key: ReplicaID, value: UInt64)) {
        self.init(replica: entry.key, sequence: entry.value)
    }
}
