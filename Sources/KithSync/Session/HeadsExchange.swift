import KithCausality

/// How two sides of which at least one has said no more in its hello than the hash of its heads learn what the other knows.
///
/// Both say their newest heads, and then what they know of the replicas that the other has named so, with the hash of all other heads.
/// These hashes are equal if the two knew the same of all others; then each has heard all. Else both say all heads. What both compute
/// is computed from what both have said, so that both come to the same end.
struct HeadsExchange: Hashable, Sendable {
    /// What comes of the peer's hello, or of another message.
    enum Outcome {
        /// To be sent; more is to come from the peer.
        case awaits(HeadsMessage?)
        /// What the peer knows, and what it must be told first.
        case known(Knowledge, tell: HeadsMessage?)
    }

    /// Heads that are named as the newest: as many as devices of a household that are in use.
    static let newestCount = 8

    let hello: Hello
    /// What our own hello stood for.
    private let own: Knowledge
    /// Replicas whose heads we have named.
    private var named: Set<ReplicaID> = []
    private var newest: Knowledge?
    private var ownRest: HeadsHash?
    /// Whether the peer must say all.
    private var awaitsAll = false

    private init(_ hello: Hello, own: Knowledge) {
        self.hello = hello
        self.own = own
    }

    /// The peer has said hello.
    ///
    /// - Parameters:
    ///   - own: what our hello stood for.
    ///   - hash: that of our heads, if we have said no more.
    static func begin(_ hello: Hello, own: Knowledge, hash: HeadsHash?) -> (HeadsExchange, Outcome) {
        var exchange = HeadsExchange(hello, own: own)
        guard let theirs = hello.headsHash else { return (exchange, .known(hello.knowledge, tell: hash == nil ? nil : .all(own))) }
        guard let hash else {
            exchange.awaitsAll = true
            return (exchange, .awaits(nil))
        }
        if hash == theirs, own.isPlain, !hello.saysMore { return (exchange, .known(own, tell: nil)) }
        let newest = own.heads.sorted { ($0.timestamp, $0.dot) > ($1.timestamp, $1.dot) }.prefix(newestCount).sorted { $0.dot < $1.dot }
        exchange.named = Set(newest.map(\.dot.replica))
        return (exchange, .awaits(.newest(Knowledge(heads: newest, durable: own.durable, resumption: own.resumption))))
    }

    mutating func receive(_ message: HeadsMessage) throws(CloseReason) -> Outcome {
        switch message {
        case .all(let knowledge) where awaitsAll:
            return .known(knowledge, tell: nil)
        case .newest(let knowledge) where !awaitsAll && newest == nil:
            newest = knowledge
            let theirs = Set(knowledge.heads.map(\.dot.replica))
            let rest = own.heads.filter { !named.contains($0.dot.replica) }
            let hash = HeadsHash(of: rest.filter { !theirs.contains($0.dot.replica) })
            ownRest = hash
            return .awaits(.rest(rest.filter { theirs.contains($0.dot.replica) }, hash))
        case .rest(let heads, let hash):
            guard !awaitsAll, let newest, let ownRest else { break }
            let said = Set(newest.heads.map(\.dot.replica))
            guard heads.allSatisfy({ named.contains($0.dot.replica) && !said.contains($0.dot.replica) }) else { break }
            if hash == ownRest { return .known(whole(newest, heads), tell: nil) }
            awaitsAll = true
            return .awaits(.all(own))
        case .all, .newest:
            break
        }
        throw CloseReason(.protocolError, "It said what it knows in another order than it must.")
    }

    /// What the peer knows: what it has named, and of all other replicas what we know.
    private func whole(_ newest: Knowledge, _ heads: [Head]) -> Knowledge {
        let said = newest.heads + heads
        let replicas = named.union(said.map(\.dot.replica))
        var knowledge = newest
        knowledge.heads = (said + own.heads.filter { !replicas.contains($0.dot.replica) }).sorted { $0.dot < $1.dot }
        return knowledge
    }
}
