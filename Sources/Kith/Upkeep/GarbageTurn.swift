import KithSync

/// When garbage is collected: by clocks that agree. What was deleted counts as old by the wall clock, and a clock that is ahead for a
/// minute would empty the trash for good.
struct GarbageTurn {
    /// How often.
    static let pauseMilliseconds: Int64 = 6 * 60 * 60 * 1_000
    /// Clocks that differ by more, or one that leaps by more, are in doubt.
    static let doubtMilliseconds: Int64 = 24 * 60 * 60 * 1_000
    /// How long after a start, or a leap of the clock, it waits for another device to confirm the clock.
    static let patienceMilliseconds: Int64 = 60 * 60 * 1_000

    private var next: Instant
    /// Until then another device has to confirm the clock.
    private var patience: Instant
    private var hasLeapt = false
    /// How far the wall clock is ahead of the monotonic one.
    private var lead: Int64

    /// - Parameter first: when it is due for the first time.
    init(first: Instant, now: Instant, wallClockMilliseconds: Int64) {
        next = first
        patience = now.advanced(byMilliseconds: Self.patienceMilliseconds)
        lead = wallClockMilliseconds - now.milliseconds
    }

    /// Whether garbage is to be collected now.
    ///
    /// - Parameters:
    ///   - offsets: of each connected device, how far its clock is ahead of this one, in milliseconds.
    ///   - isAlone: whether no other device could confirm the clock: then only a leap is waited for.
    mutating func begins(now: Instant, wallClockMilliseconds: Int64, offsets: [Int64], isAlone: @autoclosure () -> Bool) -> Bool {
        let lead = wallClockMilliseconds - now.milliseconds
        if abs(lead - self.lead) > Self.doubtMilliseconds {
            hasLeapt = true
            patience = now.advanced(byMilliseconds: Self.patienceMilliseconds)
        }
        self.lead = lead
        guard now >= next else { return false }
        let behind = offsets.count { $0 < -Self.doubtMilliseconds }
        // One device with a wrong clock keeps no household from it.
        if behind > 0, 2 * behind >= offsets.count { return false }
        guard now >= patience || behind < offsets.count || !hasLeapt && isAlone() else { return false }
        next = now.advanced(byMilliseconds: Self.pauseMilliseconds)
        return true
    }
}
