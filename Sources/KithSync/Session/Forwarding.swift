import KithCausality

/// Keeps replicas that all know each other from all sending each other the same.
///
/// A slice says to which other replicas its sender sends it. Its receivers leave those to the sender for a while; then each
/// asks its successor among them what it knows, so that n receivers ask n questions, not n². If a replica turns out to
/// lack what it was promised, or says so by itself in a ping, it is sent; and if nothing was heard, it is sent too, later.
struct Forwarding: Hashable, Sendable {
    /// The peers of all open sessions of this node.
    var neighbours: [ReplicaID] = []

    /// What others bring the peer.
    private var expected = VersionVector()
    /// What of it was promised lately. What the peer says meanwhile may have been said before it was brought.
    private var recent = RecentPromises()
    /// When to ask the peer, if that is ours to do.
    private var question: Instant?
    /// When to stop leaving it to others.
    private var end: Instant?
    /// Whether the peer is being brought what others failed to bring it. They may have failed elsewhere, too, so that it
    /// should pass it on at once.
    private var isMending = false

    /// Others bring `peer` what `relay` says, unless it is not among them.
    mutating func expect(
        _ relay: Relay, at peer: ReplicaID, own: ReplicaID, now: Instant, timing: SessionTiming
    ) {
        guard relay.replicas.contains(peer) else { return }
        expected.join(relay.vector)
        recent.add(relay.vector, now, dueAfterMilliseconds: timing.relayMilliseconds)
        // By then two idle peers have told each other in pings what they know.
        end = end ?? now.advanced(byMilliseconds: 2 * timing.keepAliveMilliseconds)
        let ring = relay.replicas.filter { $0 == peer || neighbours.contains($0) }
        let successor = ring.filter { $0 > own }.min() ?? ring.min()
        if successor == peer { question = question ?? now.advanced(byMilliseconds: timing.relayMilliseconds) }
    }

    /// When time alone makes a difference.
    var deadline: Instant? { [question, end].compactMap(\.self).min() }

    /// Whether all that the peer lacks of `vector` is left to others.
    func isLeftToOthers(_ vector: VersionVector, peerKnows known: VersionVector) -> Bool {
        !expected.isEmpty && known.joined(with: expected).covers(vector)
    }

    /// Whom to name as being sent the same as `peer`.
    func alsoSentTo(besides peer: ReplicaID?) -> [ReplicaID] {
        isMending ? [] : Array(neighbours.filter { $0 != peer }.prefix(WireLimits.neighboursMax))
    }

    /// The peer is known to know this much of `vector`, which is what we know.
    mutating func learned(_ known: VersionVector, of vector: VersionVector) {
        if known.covers(expected) { release() }
        if known.covers(vector) { isMending = false }
    }

    /// The peer has said that it knows no more than this: if it lacks what it was promised a while ago, nothing is left to others
    /// any more.
    mutating func peerSaid(_ known: VersionVector, _ now: Instant) {
        if known.covers(recent.due(now)) {
            if known.covers(expected) { release() }
        } else {
            giveUp()
        }
    }

    private mutating func giveUp() {
        isMending = true
        release()
    }

    private mutating func release() {
        expected = VersionVector()
        recent = RecentPromises()
        question = nil
        end = nil
    }

    /// Time has passed. Returns whether to ask the peer what it knows.
    mutating func tick(_ now: Instant) -> Bool {
        if let end, end <= now { giveUp() }
        guard let question, question <= now else { return false }
        self.question = nil
        return true
    }
}
