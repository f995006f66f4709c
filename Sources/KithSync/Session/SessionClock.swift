/// The times a session goes by: its own, which never goes back, and the wall clock's as last told.
struct SessionClock: Hashable, Sendable {
    var now = Instant(milliseconds: .min)
    var lastSent = Instant(milliseconds: .min)
    var lastReceived = Instant(milliseconds: .min)
    private var wallMilliseconds: Int64 = 0
    private var wallRead = Instant(milliseconds: .min)
    /// When the second began in which pings are counted, and how many were answered in it.
    private var answersSince = Instant(milliseconds: .min)
    private var answers = 0

    /// Pings of a peer that are answered within a second: many more than an honest peer sends, and too few to fill anybody's memory.
    static let answersMax = 20

    /// Milliseconds since 1970, counted on from the last reading.
    var wallClockMilliseconds: Int64 {
        now.advanced(byMilliseconds: wallMilliseconds.subtractingSaturated(wallRead.milliseconds)).milliseconds
    }

    mutating func readWallClock(_ milliseconds: Int64) {
        wallMilliseconds = milliseconds
        wallRead = now
    }

    /// How far a peer's wall clock, which read `milliseconds`, is ahead of ours.
    func offset(ofPeerAt milliseconds: Int64) -> Int64 {
        milliseconds.subtractingSaturated(wallClockMilliseconds)
    }

    /// Whether a ping that came now is answered.
    mutating func mayAnswer() -> Bool {
        if answersSince.advanced(byMilliseconds: 1_000) <= now { (answersSince, answers) = (now, 0) }
        answers += 1
        return answers <= Self.answersMax
    }

    /// When a ping is due.
    func keepAlive(_ timing: SessionTiming) -> Instant { lastSent.advanced(byMilliseconds: timing.keepAliveMilliseconds) }

    /// When the peer has been silent for too long.
    func silence(_ timing: SessionTiming) -> Instant { lastReceived.advanced(byMilliseconds: timing.silenceMilliseconds) }
}

extension Int64 {
    fileprivate func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
