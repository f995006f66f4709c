import Foundation
import KithCausality

/// Follows what nodes know, by looking at their files again and again: every commit, and when it arrived where.
struct Watcher {
    /// A commit, as it was first seen in the store that made it.
    struct Commit: Sendable {
        let dot: Dot
        let node: Int
        let atMilliseconds: Int64
        /// What its author knew then.
        let vector: VersionVector
    }

    struct Arrival: Sendable {
        let dot: Dot
        let node: Int
        let atMilliseconds: Int64
        /// Whether this node had written something that the commit's author did not know.
        let isMerge: Bool
    }

    private(set) var commits: [Commit] = []
    private(set) var arrivals: [Arrival] = []
    private(set) var vectors: [VersionVector]
    /// Which node each replica is; a node that takes a new identity has several.
    private(set) var owners: [ReplicaID: Int] = [:]
    private var commitIndexes: [Dot: Int] = [:]
    /// Where commits are by now; a store that is refilled gets them a second time.
    private var seen: Set<Place> = []

    private struct Place: Hashable {
        let dot: Dot
        let node: Int
    }

    init(nodes: Int) {
        vectors = Array(repeating: VersionVector(), count: nodes)
    }

    /// Takes in a look at all nodes that could be read.
    mutating func take(_ looks: [StoreLook?], at milliseconds: Int64) {
        for (node, look) in looks.enumerated() {
            if let replica = look?.replica { owners[replica] = node }
        }
        // Commits first, so that an arrival finds its commit.
        for (node, look) in looks.enumerated() {
            guard let look else { continue }
            for entry in look.vector.entries where owners[entry.replica] == node {
                for sequence in (vectors[node][entry.replica] + 1)..<(max(entry.sequence, vectors[node][entry.replica]) + 1) {
                    let dot = Dot(replica: entry.replica, sequence: sequence)
                    guard commitIndexes[dot] == nil else { continue }
                    commitIndexes[dot] = commits.count
                    commits.append(Commit(dot: dot, node: node, atMilliseconds: milliseconds, vector: look.vector))
                }
            }
        }
        for (node, look) in looks.enumerated() {
            guard let look else { continue }
            for entry in look.vector.entries where owners[entry.replica] != nil && owners[entry.replica] != node {
                for sequence in (vectors[node][entry.replica] + 1)..<(max(entry.sequence, vectors[node][entry.replica]) + 1) {
                    arrive(Dot(replica: entry.replica, sequence: sequence), node, look, milliseconds)
                }
            }
            vectors[node] = look.vector
        }
    }

    private mutating func arrive(_ dot: Dot, _ node: Int, _ look: StoreLook, _ milliseconds: Int64) {
        guard seen.insert(Place(dot: dot, node: node)).inserted else { return }
        var isMerge = false
        if let index = commitIndexes[dot], let own = look.replica { isMerge = commits[index].vector[own] < look.vector[own] }
        arrivals.append(Arrival(dot: dot, node: node, atMilliseconds: milliseconds, isMerge: isMerge))
    }

    func commit(_ dot: Dot) -> Commit? { commitIndexes[dot].map { commits[$0] } }

    /// Whether all know these commits. What no store has is not waited for if its author lost its notes: the oracle reports it.
    func knowsAll(_ dots: [Dot], perhapsGone: Set<Dot>) -> Bool {
        dots.allSatisfy { dot in
            let knowing = vectors.count { $0.covers(dot) }
            return knowing == vectors.count || knowing == 0 && perhapsGone.contains(dot)
        }
    }

    /// Whether all know the same.
    var isConverged: Bool {
        guard let first = vectors.first else { return true }
        return vectors.allSatisfy { $0 == first }
    }
}
