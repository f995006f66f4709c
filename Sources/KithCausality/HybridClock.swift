/// A clock that counts on from the highest timestamp it has seen, whatever the wall clock says.
package struct HybridClock: Hashable, Sendable {
    /// The highest timestamp given out or seen.
    package private(set) var latest: HybridTimestamp

    package init(latest: HybridTimestamp = .zero) {
        self.latest = latest
    }

    /// A timestamp for a new commit: later than all before and not before `reading`, the wall clock.
    ///
    /// It stays below ``HybridTimestamp/limit``, which peers refuse: at that edge, reached only by a clock that lies,
    /// timestamps repeat and the rest of the order (replica, sequence) decides.
    package mutating func tick(reading: HybridTimestamp) -> HybridTimestamp {
        let last = HybridTimestamp(rawValue: HybridTimestamp.limit.rawValue - 1)
        latest = min(max(latest.next, reading), last)
        return latest
    }

    /// Moves past a timestamp that somebody else gave out.
    package mutating func observe(_ timestamp: HybridTimestamp) {
        latest = max(latest, timestamp)
    }
}
