import KithCausality
import KithSync

/// What one commit did to one row: what it added, and what of that which its author saw it took away.
struct RowEffect {
    enum Change {
        case register(wrote: ColumnValue?, replaced: [EventID])
        case set(added: [[UInt8]], removed: [(json: [UInt8], event: EventID)])
        /// With the values that were found and that it replaced or dismissed, and whether it inserted the row.
        case counter(increment: Int64, isBorn: Bool, dismissed: [Int64])
        case text(TextEffect)
        /// It wrote nothing, and found this.
        case found(ColumnValue)
    }

    let event: EventID
    var stamp: Stamp
    /// By column; `nil` for those that the commit left alone.
    var changes: [Change?]
    /// What the author had seen, if it deleted the row.
    var deletion: Knowledge?
    /// Deletions that its author knew and overrode.
    var revoked: [EventID]

    var isEmpty: Bool { deletion == nil && revoked.isEmpty && changes.allSatisfy { $0 == nil } }
}

extension Stamp {
    /// That of a commit under way: later than everything its author has seen.
    static let latest = Stamp(
        dot: Dot(replica: ReplicaID(high: .max, low: .max), sequence: .max), timestamp: HybridTimestamp(rawValue: .max))
}

/// All that ever happened to one row.
///
/// What a node must show is a function of the commits that it has seen: what they added, without what they took away. No
/// vector is compared with another, and the order of arrival does not come in. See Burckhardt et al., "Replicated Data
/// Types: Specification, Verification, Optimality", 2014.
struct RowHistory {
    private var effects: [RowEffect] = []
    /// What was made of these effects before; most nodes have seen the same ones.
    private var views: [Selection: RowView] = [:]

    /// Those that found the row and did not write it.
    private var adoptions: [RowEffect] = []

    mutating func append(_ effect: RowEffect) {
        effects.append(effect)
        if effect.stamp.isAdopted { adoptions.append(effect) }
    }

    mutating func remove(_ isGone: (RowEffect) -> Bool) {
        effects.removeAll(where: isGone)
        adoptions.removeAll(where: isGone)
        views = [:]
    }

    mutating func view(_ table: WorkloadTable, seenBy knowledge: Knowledge) -> RowView {
        let selection = Selection(effects, knowledge)
        if let view = views[selection] { return view }
        let view = view(table, effects.filter { knowledge.covers($0.event) })
        views[selection] = view
        return view
    }

    private func view(_ table: WorkloadTable, _ seen: [RowEffect]) -> RowView {
        var view = RowView(table)
        view.adoptions = seen.filter(\.stamp.isAdopted).map(\.event)
        for index in view.columns.indices {
            switch view.columns[index] {
            case .register: view.columns[index] = register(seen, index)
            case .set: view.columns[index] = Self.set(seen, index)
            case .counter: view.columns[index] = .counter(CounterView(seen, index))
            case .text: view.columns[index] = .text(TextView(seen, index))
            }
        }
        let revoked = seen.flatMap(\.revoked)
        for effect in seen {
            if let deletion = effect.deletion, !revoked.contains(effect.event) {
                view.deletions.append(RowView.Deletion(event: effect.event, seen: deletion))
            }
        }
        return view
    }

    /// Which of a row's effects somebody has seen.
    private struct Selection: Hashable {
        /// The first 64, and the others.
        private var first: UInt64 = 0
        private var rest: [UInt64] = []

        init(_ effects: [RowEffect], _ knowledge: Knowledge) {
            for (index, effect) in effects.enumerated() where knowledge.covers(effect.event) {
                if index < 64 {
                    first |= 1 << UInt64(index)
                } else {
                    while rest.count < index / 64 { rest.append(0) }
                    rest[index / 64 - 1] |= 1 << UInt64(index % 64)
                }
            }
        }
    }

    private func register(_ seen: [RowEffect], _ column: Int) -> RowView.Column {
        var writes: [RowView.RegisterWrite] = []
        var replaced: [EventID] = []
        for effect in seen {
            switch effect.changes[column] {
            case .register(let wrote, let gone)?:
                if let wrote { writes.append(RowView.RegisterWrite(event: effect.event, stamp: effect.stamp, value: wrote)) }
                replaced += gone
            case .found(let value)?: writes.append(RowView.RegisterWrite(event: effect.event, stamp: effect.stamp, value: value))
            default: continue
            }
        }
        // Who replaces a value that was found does so for every equal one, wherever it was found.
        var contents: Set<ColumnValue> = []
        for effect in adoptions where replaced.contains(effect.event) {
            if case .found(let value)? = effect.changes[column] { contents.insert(value) }
        }
        return .register(writes.filter { !replaced.contains($0.event) && !($0.stamp.isAdopted && contents.contains($0.value)) })
    }

    private static func set(_ seen: [RowEffect], _ column: Int) -> RowView.Column {
        var elements: [RowView.Element] = []
        var touched: [EventID] = []
        func add(_ json: [UInt8], _ event: EventID) {
            if let index = elements.firstIndex(where: { $0.json == json }) {
                elements[index].events.append(event)
            } else {
                elements.append(RowView.Element(json: json, events: [event]))
            }
        }
        var adoptions: [EventID] = []
        for effect in seen {
            switch effect.changes[column] {
            case .set(let added, _)?:
                touched.append(effect.event)
                for json in added { add(json, effect.event) }
            case .found(let value)?:
                adoptions.append(effect.event)
                for json in RowDraft.elements(of: value) { add(json, effect.event) }
            default: continue
            }
        }
        for effect in seen {
            guard case .set(_, let removed)? = effect.changes[column] else { continue }
            for removal in removed {
                guard let index = elements.firstIndex(where: { $0.json == removal.json }) else { continue }
                // What was found stays only if nobody has ever removed such an element.
                elements[index].events.removeAll { $0 == removal.event || adoptions.contains($0) }
            }
        }
        elements.removeAll { $0.events.isEmpty }
        return .set(elements.sorted { $0.json.lexicographicallyPrecedes($1.json) }, touched: touched)
    }
}
