import KithCausality
import KithSync

/// What one commit did to one row: what it added, and what of that which its author saw it took away.
struct RowEffect {
    enum Change {
        case register(wrote: Value?, replaced: [EventID])
        case set(added: [[UInt8]], removed: [(json: [UInt8], event: EventID)])
        case counter(increment: Int64)
        case text(TextEffect)
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

    mutating func append(_ effect: RowEffect) {
        effects.append(effect)
    }

    mutating func view(_ table: WorkloadTable, seenBy knowledge: Knowledge) -> RowView {
        let selection = Selection(effects, knowledge)
        if let view = views[selection] { return view }
        let view = Self.view(table, effects.filter { knowledge.covers($0.event) })
        views[selection] = view
        return view
    }

    private static func view(_ table: WorkloadTable, _ seen: [RowEffect]) -> RowView {
        var view = RowView(table)
        for index in view.columns.indices {
            switch view.columns[index] {
            case .register: view.columns[index] = register(seen, index)
            case .set: view.columns[index] = set(seen, index)
            case .counter: view.columns[index] = counter(seen, index)
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

    private static func register(_ seen: [RowEffect], _ column: Int) -> RowView.Column {
        var writes: [RowView.RegisterWrite] = []
        var replaced: [EventID] = []
        for effect in seen {
            guard case .register(let wrote, let gone)? = effect.changes[column] else { continue }
            if let wrote { writes.append(RowView.RegisterWrite(event: effect.event, stamp: effect.stamp, value: wrote)) }
            replaced += gone
        }
        return .register(writes.filter { !replaced.contains($0.event) })
    }

    private static func set(_ seen: [RowEffect], _ column: Int) -> RowView.Column {
        var elements: [RowView.Element] = []
        var touched: [EventID] = []
        for effect in seen {
            guard case .set(let added, _)? = effect.changes[column] else { continue }
            touched.append(effect.event)
            for json in added {
                if let index = elements.firstIndex(where: { $0.json == json }) {
                    elements[index].events.append(effect.event)
                } else {
                    elements.append(RowView.Element(json: json, events: [effect.event]))
                }
            }
        }
        for effect in seen {
            guard case .set(_, let removed)? = effect.changes[column] else { continue }
            for removal in removed {
                guard let index = elements.firstIndex(where: { $0.json == removal.json }) else { continue }
                elements[index].events.removeAll { $0 == removal.event }
            }
        }
        elements.removeAll { $0.events.isEmpty }
        return .set(elements.sorted { $0.json.lexicographicallyPrecedes($1.json) }, touched: touched)
    }

    private static func counter(_ seen: [RowEffect], _ column: Int) -> RowView.Column {
        var total: Int64 = 0
        var touched: [EventID] = []
        for effect in seen {
            guard case .counter(let increment)? = effect.changes[column] else { continue }
            total &+= increment
            touched.append(effect.event)
        }
        return .counter(total, touched: touched)
    }
}
