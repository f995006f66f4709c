import KithCausality

/// What was promised in two spans of time, the one under way and the one before; what is older is due. So a promise is due after one
/// to two spans, however many are made.
struct RecentPromises: Hashable, Sendable {
    private var older = VersionVector()
    private var newer = VersionVector()
    private var passed = VersionVector()
    /// When the span under way ends.
    private var end: Instant?
    private var spanMilliseconds: Int64 = 0

    /// Promised `now`, and due after half to all of `milliseconds`.
    mutating func add(_ vector: VersionVector, _ now: Instant, dueAfterMilliseconds milliseconds: Int64) {
        spanMilliseconds = milliseconds / 2
        age(now)
        newer.join(vector)
    }

    /// All that is due.
    mutating func due(_ now: Instant) -> VersionVector {
        age(now)
        return passed
    }

    private mutating func age(_ now: Instant) {
        guard let end else { return self.end = now.advanced(byMilliseconds: spanMilliseconds) }
        guard end <= now else { return }
        passed.join(older)
        older = newer
        newer = VersionVector()
        if end.advanced(byMilliseconds: spanMilliseconds) <= now {
            passed.join(older)
            older = VersionVector()
        }
        self.end = now.advanced(byMilliseconds: spanMilliseconds)
    }
}
