/// How often somebody may be dialled at whose announcement nobody has answered yet: many at once, and few a second from then on. Anybody on
/// the network can announce anything, at a new place each time.
struct NewcomerBudget: Sendable {
    /// More than a household has devices.
    static let burst: Int64 = 128
    static let perSecond: Int64 = 4

    /// In thousandths of a dial.
    private var rest = burst * 1_000
    private var filledAt: Instant?

    mutating func fill(_ now: Instant) {
        defer { filledAt = max(now, filledAt ?? now) }
        guard let filledAt, filledAt < now else { return }
        let (waited, overflow) = now.milliseconds.subtractingReportingOverflow(filledAt.milliseconds)
        let isFull = overflow || waited > Self.burst * 1_000
        rest = isFull ? Self.burst * 1_000 : min(Self.burst * 1_000, rest + waited * Self.perSecond)
    }

    /// Whether one may be dialled now, which is counted.
    mutating func take() -> Bool {
        guard rest >= 1_000 else { return false }
        rest -= 1_000
        return true
    }

    /// When the next one may be dialled; `nil` if one may be now.
    var nextDue: Instant? {
        guard rest < 1_000, let filledAt else { return nil }
        return filledAt.advanced(byMilliseconds: (1_000 - rest + Self.perSecond - 1) / Self.perSecond)
    }
}
