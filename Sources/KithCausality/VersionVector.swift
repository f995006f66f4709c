/// What a replica knows: for each replica the highest sequence, always as a prefix of that replica's commits.
///
/// The join of two vectors is their pointwise maximum: a semilattice (commutative, associative, idempotent).
/// Entries are kept sorted by replica, so that iteration, encoding and hashing are the same in every process.
/// See Parker et al., "Detection of Mutual Inconsistency in Distributed Systems", 1983.
public struct VersionVector: Hashable, Sendable {
    /// The entries, sorted by replica; no sequence is 0.
    public private(set) var entries: [Dot] = []

    /// Knows nothing.
    public init() {}

    /// The join of `dots`: each is covered by the result.
    public init(_ dots: some Sequence<Dot>) {
        let dots = Array(dots)
        var last: Dot?
        let isVector = dots.allSatisfy { dot in
            defer { last = dot }
            return dot.sequence > 0 && last.map { $0.replica < dot.replica } ?? true
        }
        if isVector {
            entries = dots
            return
        }
        entries.reserveCapacity(dots.count)
        // In any other order each would move those behind it.
        for dot in dots.sorted() { insert(dot) }
    }

    public var isEmpty: Bool { entries.isEmpty }

    /// The number of replicas known.
    public var count: Int { entries.count }

    /// The highest sequence known of `replica`; 0 if none.
    public subscript(replica: ReplicaID) -> UInt64 {
        let index = insertionIndex(of: replica)
        return index < entries.count && entries[index].replica == replica ? entries[index].sequence : 0
    }

    /// Whether the commit `dot` is known.
    public func covers(_ dot: Dot) -> Bool { self[dot.replica] >= dot.sequence }

    /// Whether everything `other` knows is known here.
    public func covers(_ other: VersionVector) -> Bool {
        if other.entries == entries { return true }
        guard other.count > Self.searchesMax else { return other.entries.allSatisfy(covers) }
        var index = 0
        for dot in other.entries {
            while index < entries.count, entries[index].replica < dot.replica { index += 1 }
            guard index < entries.count, entries[index].replica == dot.replica, entries[index].sequence >= dot.sequence else {
                return false
            }
        }
        return true
    }

    /// Up to so many entries are looked up one by one; with more of them, both lists are gone through.
    private static let searchesMax = 64

    /// Learns of `dot` and all its replica's earlier commits.
    public mutating func insert(_ dot: Dot) {
        guard dot.sequence > 0 else { return }
        let index = insertionIndex(of: dot.replica)
        if index < entries.count, entries[index].replica == dot.replica {
            if entries[index].sequence < dot.sequence { entries[index] = dot }
        } else {
            entries.insert(dot, at: index)
        }
    }

    /// Learns all that `other` knows.
    public mutating func join(_ other: VersionVector) {
        if entries.isEmpty {
            entries = other.entries
        } else if other.count <= Self.searchesMax {
            for dot in other.entries { insert(dot) }
        } else if other.covers(self) {
            // Whoever joins the same vector shares its memory.
            entries = other.entries
        } else if !covers(other) {
            self = VersionVector(entries + other.entries)
        }
    }

    /// The same vector, in the memory of one of `others` if that is equal.
    package func sharing(_ others: VersionVector...) -> VersionVector {
        others.first { $0 == self } ?? self
    }

    /// What both know together.
    public func joined(with other: VersionVector) -> VersionVector {
        var result = self
        result.join(other)
        return result
    }

    private func insertionIndex(of replica: ReplicaID) -> Int {
        var low = 0
        var high = entries.count
        if let last = entries.last, last.replica < replica { return high }
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].replica < replica { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension VersionVector: CustomStringConvertible {
    public var description: String {
        "{" + entries.map { "\($0.replica.description.prefix(8)):\($0.sequence)" }.joined(separator: ", ") + "}"
    }
}
