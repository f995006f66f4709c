/// One direction between two nodes: when a frame that is sent now arrives, if it does. A value, so that it can be tested without frames.
struct LinkState: Sendable {
    /// What may wait for a slow link, in milliseconds of its rate; what comes on top is dropped, as routers do.
    static let queueMillisecondsMax = 500.0

    private(set) var bytes = 0
    private(set) var frames = 0
    private(set) var dropped = 0
    /// When the link has sent all that waits, and when its last frame arrives.
    private var freeAt = 0.0
    private var lastArrival = 0.0

    /// The moment at which a frame arrives, in milliseconds; `nil` if it is lost. Frames do not overtake each other.
    ///
    /// - Parameter random: two numbers from 0 to below 1.
    mutating func arrival(of frameBytes: Int, at now: Double, over link: Scenario.Link, random: (loss: Double, jitter: Double)) -> Double? {
        if random.loss * 100 < link.lossPercent {
            dropped += 1
            return nil
        }
        var sent = now
        if let rate = link.bitsPerSecond {
            let start = max(now, freeAt)
            if start - now > Self.queueMillisecondsMax {
                dropped += 1
                return nil
            }
            sent = start + Double(frameBytes) * 8_000 / rate
            freeAt = sent
        }
        bytes += frameBytes
        frames += 1
        lastArrival = max(lastArrival, sent + link.delayMilliseconds + link.jitterMilliseconds * random.jitter)
        return lastArrival
    }

}
