/// Which way a commit went: for each node that it reached, who could pass it on first.
///
/// Nodes say with whom they are connected, and not from whom they have what. So this is the first way that was open, not one that
/// was seen.
struct Route {
    struct Hop: Equatable {
        let from: Int
        let to: Int
        /// When it was committed at `from`, or arrived there.
        let heldFromMilliseconds: Int64
        /// When the two were connected, too.
        let openFromMilliseconds: Int64
        let arrivedMilliseconds: Int64
        let isMerge: Bool
        /// Whether the two were connected at all, as far as they say; if not, `from` is the author.
        let isOpen: Bool
    }

    /// Nodes say that they are connected somewhat after they are.
    private static let delayMilliseconds: Int64 = 1_000

    /// In the order in which they were made; each begins where the commit was made, or where another one ends.
    let hops: [Hop]

    init(of commit: LabRecord.Commit, over connections: [LabRecord.Connection]) {
        var held = [commit.node: commit.atMilliseconds]
        var rest = commit.arrivals.sorted { ($0.atMilliseconds, $0.node) < ($1.atMilliseconds, $1.node) }
        var hops: [Hop] = []
        while !rest.isEmpty {
            // Of what arrived within one look, the order is not known; what somebody can have passed on comes first.
            let next = rest.indices.lazy.compactMap { index in
                Self.hop(rest[index], commit.node, held, connections).map { (index, $0) }
            }.first
            let (index, hop) = next ?? (0, Self.hop(rest[0], from: commit.node, heldFrom: commit.atMilliseconds, openFrom: nil))
            held[hop.to] = hop.arrivedMilliseconds
            hops.append(hop)
            rest.remove(at: index)
        }
        self.hops = hops
    }

    /// The hop from whoever could pass the commit on first, the author before others; `nil` if nobody could.
    private static func hop(
        _ arrival: LabRecord.Arrival, _ author: Int, _ held: [Int: Int64], _ connections: [LabRecord.Connection]
    ) -> Hop? {
        let at = arrival.atMilliseconds
        let open = connections.compactMap { connection -> (node: Int, heldFrom: Int64, openFrom: Int64)? in
            guard connection.first == arrival.node || connection.second == arrival.node else { return nil }
            let other = connection.first == arrival.node ? connection.second : connection.first
            guard let since = held[other], since <= at || other == author,
                connection.fromMilliseconds - delayMilliseconds <= at, connection.untilMilliseconds + delayMilliseconds >= at
            else { return nil }
            return (other, since, max(since, connection.fromMilliseconds))
        }
        let first = open.min { ($0.openFrom, $0.node == author ? 0 : 1, $0.node) < ($1.openFrom, $1.node == author ? 0 : 1, $1.node) }
        return first.map { hop(arrival, from: $0.node, heldFrom: $0.heldFrom, openFrom: $0.openFrom) }
    }

    private static func hop(_ arrival: LabRecord.Arrival, from: Int, heldFrom: Int64, openFrom: Int64?) -> Hop {
        Hop(
            from: from, to: arrival.node, heldFromMilliseconds: heldFrom,
            openFromMilliseconds: min(openFrom ?? heldFrom, arrival.atMilliseconds), arrivedMilliseconds: arrival.atMilliseconds,
            isMerge: arrival.isMerge, isOpen: openFrom != nil)
    }
}
