import KithCausality

/// Small numbers for replica ids, in the order in which they were first met.
package struct ReplicaTable: Hashable, Sendable {
    package private(set) var ids: [ReplicaID]
    private var numbers: [ReplicaID: Int]

    package init(_ ids: [ReplicaID] = []) {
        self.ids = ids
        numbers = Dictionary(zip(ids, ids.indices), uniquingKeysWith: { first, _ in first })
    }

    /// The number of `id`, a new one if it was not met before.
    package mutating func number(of id: ReplicaID) -> Int {
        // Nearly every row names the same few replicas.
        if ids.count == 1, ids[0] == id { return 0 }
        if let number = numbers[id] { return number }
        numbers[id] = ids.count
        ids.append(id)
        return ids.count - 1
    }
}
