import KithCausality

/// The name of a commit, with the replica as the oracle numbers it.
struct EventID: Hashable {
    let replica: Int
    let sequence: UInt64
}

/// Which commits a node has seen: per replica, as the oracle numbers it, all up to this one.
struct Knowledge: Hashable {
    private(set) var sequences: [UInt64] = []

    func covers(_ event: EventID) -> Bool {
        event.replica < sequences.count && sequences[event.replica] >= event.sequence
    }

    func covers(_ other: Knowledge) -> Bool {
        other.sequences.indices.allSatisfy { other.sequences[$0] <= self[$0] }
    }

    subscript(replica: Int) -> UInt64 {
        get { replica < sequences.count ? sequences[replica] : 0 }
        set {
            while sequences.count <= replica { sequences.append(0) }
            sequences[replica] = newValue
        }
    }

    mutating func insert(_ event: EventID) {
        if self[event.replica] < event.sequence { self[event.replica] = event.sequence }
    }

    /// What both know.
    mutating func meet(_ other: Knowledge) {
        for (replica, sequence) in sequences.enumerated() where other[replica] < sequence { sequences[replica] = other[replica] }
    }

    mutating func join(_ other: Knowledge) {
        for (replica, sequence) in other.sequences.enumerated() where self[replica] < sequence { self[replica] = sequence }
    }
}

/// What a node has seen, row by row.
struct NodeKnowledge {
    /// Of every row.
    var common = Knowledge()
    /// Of rows that came with catch-ups that are not complete: more.
    var contexts: [RowKey: Knowledge] = [:]

    func of(_ key: RowKey) -> Knowledge {
        guard let context = contexts[key] else { return common }
        var joined = common
        joined.join(context)
        return joined
    }

    /// A row has come from somebody who had seen this much of it.
    mutating func learn(_ key: RowKey, _ seen: Knowledge) {
        contexts[key, default: Knowledge()].join(seen)
    }

    /// All rows are known up to this now.
    mutating func advance(to knowledge: Knowledge) {
        common = knowledge
        if !contexts.isEmpty { contexts = contexts.filter { !knowledge.covers($0.value) } }
    }
}
