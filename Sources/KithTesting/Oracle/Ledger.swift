import KithCausality
import KithSync

/// A row of the workload.
struct RowKey: Hashable {
    let table: Int
    let row: Int
}

/// What every user wrote, and what each had seen when writing: kept outside of the stores, and independent of how they
/// merge.
final class Ledger {
    let tables: [WorkloadTable]
    private var numbers: [ReplicaID: Int] = [:]
    private var replicas: [ReplicaID] = []
    /// By replica and sequence.
    private var commits: [[Commit]] = []
    private var histories: [RowKey: RowHistory] = [:]
    /// In the order in which they were first written.
    private(set) var rows: [RowKey] = []
    /// By table, the rows that were written and their ids.
    private var ids: [[RowID: RowKey]]

    /// A commit that was acknowledged to a user.
    struct Commit {
        /// The machine whose user made it.
        let node: Int
        let rows: [RowKey]
        var isLost = false
    }

    init(_ tables: [WorkloadTable]) {
        self.tables = tables
        ids = Array(repeating: [:], count: tables.count)
    }

    /// The number of the table of this name.
    func table(_ name: [UInt8]) -> Int? {
        tables.firstIndex { $0.name.utf8.elementsEqual(name) }
    }

    /// The row of a table that has this id; `nil` if nobody wrote it.
    func key(_ table: Int, _ id: RowID) -> RowKey? {
        ids[table][id]
    }

    /// The row that a value names.
    func key(_ table: Int, _ value: ColumnValue) -> RowKey? {
        tables[table].form.id(of: value).flatMap { ids[table][$0] }
    }

    /// The same, or the row of `others` that it names.
    func key(_ table: Int, _ value: ColumnValue, orOneOf others: [RowKey]) -> RowKey? {
        key(table, value) ?? others.first { $0.table == table && tables[table].key(of: $0.row) == value }
    }

    func number(of replica: ReplicaID) -> Int {
        if let known = numbers[replica] { return known }
        numbers[replica] = replicas.count
        replicas.append(replica)
        commits.append([])
        return replicas.count - 1
    }

    func knowledge(_ vector: VersionVector) -> Knowledge {
        var knowledge = Knowledge()
        for dot in vector.entries { knowledge.insert(EventID(replica: number(of: dot.replica), sequence: dot.sequence)) }
        return knowledge
    }

    func name(of event: EventID) -> String {
        "\(replicas[event.replica].description.prefix(8)):\(event.sequence)"
    }

    /// How many commits a replica has made.
    func commitCount(of replica: ReplicaID) -> UInt64 { UInt64(commits[number(of: replica)].count) }

    /// How many replicas wrote, or were named by somebody.
    var replicaCount: Int { replicas.count }

    /// A row for each time that a commit wrote one.
    var effects: [RowKey] { commits.flatMap { $0.flatMap(\.rows) } }

    // MARK: Writing

    /// Notes a commit, by its name, its timestamp and what it did.
    func record(_ head: Head, node: Int, _ effects: [(RowKey, RowEffect)]) throws(Violation) {
        let replica = number(of: head.dot.replica)
        guard head.dot.sequence == UInt64(commits[replica].count) + 1 else {
            throw Violation(
                .dotReused, "Commit \(head.dot) of \(nodeName(node)) follows \(commits[replica].count) commits of that replica.")
        }
        commits[replica].append(Commit(node: node, rows: effects.map(\.0)))
        for (key, effect) in effects {
            var effect = effect
            effect.stamp = Stamp(dot: head.dot, timestamp: head.timestamp, isAdopted: effect.stamp.isAdopted)
            if histories[key] == nil {
                rows.append(key)
                ids[key.table][tables[key.table].id(of: key.row)] = key
            }
            histories[key, default: RowHistory()].append(effect)
        }
    }

    /// Notes a commit by which a store mended rows; no user made it.
    func recordMending(_ head: Head, node: Int) throws(Violation) {
        try record(head, node: node, [])
    }

    // MARK: Reading

    func view(_ key: RowKey, seenBy knowledge: Knowledge) -> RowView {
        histories[key]?.view(tables[key.table], seenBy: knowledge) ?? RowView(tables[key.table])
    }

    /// What is shown, to somebody who knows this much, of tables that refer to each other.
    func references(_ tables: [WorkloadTable], _ known: NodeKnowledge) -> ReferenceRule {
        var views: [RowKey: RowView] = [:]
        for key in rows where tables[key.table].isRelated { views[key] = view(key, seenBy: known.of(key)) }
        return ReferenceRule(tables, views, parent: key)
    }

    /// The rows of the commits that `new` knows and `old` does not.
    ///
    /// - Throws: a violation if `new` names commits that nobody made, unless a lie may have said so.
    func rows(from old: Knowledge, to new: Knowledge, believing taint: Taint) throws(Violation) -> [RowKey] {
        for (replica, sequence) in new.sequences.enumerated() where max(old[replica], UInt64(commits[replica].count)) < sequence {
            let event = EventID(replica: replica, sequence: UInt64(commits[replica].count) + 1)
            if taint.isOfLiar(replica) { continue }
            throw Violation(
                .vectorClaimsUnknown, "A vector names commit \(sequence) of a replica, and \(name(of: event)) was not made yet.")
        }
        return rows(between: old, and: new)
    }

    /// A commit that these vectors name and no replica has made, but for those that a liar claims as its own.
    func unmade(in vectors: some Sequence<VersionVector>, _ taint: Taint) -> EventID? {
        for dot in vectors.flatMap(\.entries) where dot.replica != .nobody {
            let replica = number(of: dot.replica)
            if dot.sequence > UInt64(commits[replica].count), !taint.isOfLiar(replica) {
                return EventID(replica: replica, sequence: dot.sequence)
            }
        }
        return nil
    }

    /// The rows of the commits that were made, of those that `new` knows and `old` does not.
    func rows(between old: Knowledge, and new: Knowledge) -> [RowKey] {
        var result: [RowKey] = []
        var known: Set<RowKey> = []
        for replica in new.sequences.indices {
            for index in made(replica, after: old[replica], through: new[replica]) {
                for key in commits[replica][index].rows where known.insert(key).inserted { result.append(key) }
            }
        }
        return result
    }

    /// The indices of the commits of a replica that were made, of those after `first` and up to `last`.
    private func made(_ replica: Int, after first: UInt64, through last: UInt64) -> Range<Int> {
        let end = min(Int(clamping: last), commits[replica].count)
        return min(Int(clamping: first), end)..<end
    }

    /// A commit of one of these machines that `new` knows and `old` does not.
    func commit(of nodes: Set<Int>, in new: Knowledge, beyond old: Knowledge) -> EventID? {
        for replica in new.sequences.indices {
            for index in made(replica, after: old[replica], through: new[replica]) where nodes.contains(commits[replica][index].node) {
                return EventID(replica: replica, sequence: UInt64(index + 1))
            }
        }
        return nil
    }

    // MARK: Losses

    /// Whether some commits are on no disk any more.
    private(set) var hasLosses = false

    var lostCount: Int {
        commits.reduce(0) { $0 + $1.count(where: \.isLost) }
    }

    /// The only disk that held what `remaining` lacks is gone.
    func lose(beyond remaining: Knowledge) {
        for replica in commits.indices {
            for index in commits[replica].indices where UInt64(index) >= remaining[replica] {
                commits[replica][index].isLost = true
                hasLosses = true
            }
        }
    }

    /// A machine lost what a replica wrote after the commit `sequence`, of which it had told nobody, and gives the numbers to other commits.
    func takeBack(_ replica: ReplicaID, after sequence: UInt64) {
        let number = number(of: replica)
        guard let first = Int(exactly: sequence), first < commits[number].count else { return }
        for key in commits[number][first...].flatMap(\.rows) {
            histories[key]?.remove { $0.event.replica == number && $0.event.sequence > sequence }
        }
        commits[number].removeSubrange(first...)
    }

    /// An acknowledged commit that `knowledge` lacks and that was not lost.
    func missing(in knowledge: Knowledge) -> EventID? {
        for replica in commits.indices {
            for index in commits[replica].indices where !commits[replica][index].isLost {
                let event = EventID(replica: replica, sequence: UInt64(index + 1))
                if !knowledge.covers(event) { return event }
            }
        }
        return nil
    }
}
