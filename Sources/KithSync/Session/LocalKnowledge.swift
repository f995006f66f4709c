import KithCausality

/// What a session knows of its own store, and what of it the peer was told to be durable.
struct LocalKnowledge: Hashable, Sendable {
    private(set) var summary: StoreSummary?
    private var durable = VersionVector()
    /// What the peer brought and waits to hear is durable.
    private var awaited = VersionVector()
    private var toldDurable = VersionVector()

    /// Takes in what the store said of itself. Answers may overtake each other, so knowledge is only ever added.
    mutating func learn(_ summary: StoreSummary) throws(CloseReason) {
        guard var known = self.summary else {
            self.summary = summary
            return
        }
        guard known.replica == summary.replica else {
            throw CloseReason(.identityChanged, "The store is a restored copy and took a new replica id.")
        }
        let clock = max(known.clock, summary.clock)
        if summary.vector.covers(known.vector) {
            known = summary
        } else {
            for head in summary.heads { known.learn(head) }
        }
        known.clock = clock
        self.summary = known
    }

    /// All that the store knows.
    var vector: VersionVector { summary?.vector ?? VersionVector() }

    /// The first of `heads` that names a commit of our replica which, as far as is known here, we never made.
    func contradiction(in heads: [Head]) -> Head? {
        guard let summary, let claim = heads.first(where: { $0.dot.replica == summary.replica }) else { return nil }
        guard let own = summary.head(of: summary.replica) else { return claim }
        if claim.dot.sequence == own.dot.sequence { return claim.timestamp == own.timestamp ? nil : claim }
        return claim.dot.sequence > own.dot.sequence ? claim : nil
    }

    // MARK: Durability

    mutating func becameDurable(_ vector: VersionVector) {
        durable.join(vector)
        durable = durable.sharing(self.vector)
    }

    /// The peer brought `vector` and waits to hear when it is durable.
    mutating func awaitDurability(of vector: VersionVector) {
        awaited.join(vector)
    }

    /// Whether something that the peer brought has become durable and it was not told.
    var owesNews: Bool {
        awaited.entries.contains { durable[$0.replica] > toldDurable[$0.replica] }
    }

    /// What is durable, to be told to the peer now.
    mutating func told() -> VersionVector {
        toldDurable = durable
        if durable.covers(awaited) { awaited = VersionVector() }
        return durable
    }
}
