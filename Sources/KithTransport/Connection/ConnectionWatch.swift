import NIOCore

/// Judges whether a peer still does its part. A pure value: it is told what happened and when.
struct ConnectionWatch: Sendable {
    private let idle: TimeAmount
    private let stall: TimeAmount
    private let window: TimeAmount
    private let minimumBytes: Int

    private var lastReceived: NIODeadline
    /// Since when there is something to write of which the peer took nothing.
    private var unwrittenSince: NIODeadline?
    /// Start of the present window, while a frame is incomplete.
    private var windowStart: NIODeadline?
    private var windowBytes = 0
    private var isPaused = false

    init(configuration: TransportConfiguration, now: NIODeadline) {
        idle = .milliseconds(Int64(configuration.idleTimeoutMilliseconds))
        stall = .milliseconds(Int64(configuration.stallTimeoutMilliseconds))
        window = .milliseconds(Int64(configuration.minimumWindowMilliseconds))
        minimumBytes = configuration.minimumBytes
        lastReceived = now
    }

    /// How often to ask for a verdict: often enough to be late by a quarter at most.
    var interval: TimeAmount {
        let shortest = min(idle, stall, window).nanoseconds / 4
        return .nanoseconds(max(1_000_000, min(shortest, 5_000_000_000)))
    }

    /// - Parameter isInsideFrame: whether the last frame is incomplete.
    mutating func received(_ bytes: Int, isInsideFrame: Bool, now: NIODeadline) {
        lastReceived = now
        if isInsideFrame {
            windowStart = windowStart ?? now
            windowBytes += bytes
        } else {
            windowStart = nil
            windowBytes = 0
        }
    }

    /// This side does not read for a while, or reads again: the peer's silence means nothing until now.
    mutating func paused(_ isPaused: Bool, now: NIODeadline) {
        self.isPaused = isPaused
        lastReceived = now
        if windowStart != nil { windowStart = now }
        windowBytes = 0
    }

    /// There is something to write.
    mutating func writing(now: NIODeadline) {
        unwrittenSince = unwrittenSince ?? now
    }

    /// The peer took something.
    mutating func wrote(isEverything: Bool, now: NIODeadline) {
        unwrittenSince = isEverything ? nil : now
    }

    /// The limit that the peer broke, if any. Also begins the next window.
    mutating func verdict(now: NIODeadline) -> TransportError.Code? {
        if let unwrittenSince, now - unwrittenSince >= stall { return .stalled }
        if isPaused { return nil }
        if now - lastReceived >= idle { return .idle }
        if let start = windowStart, now - start >= window {
            if windowBytes < minimumBytes { return .tooSlow }
            windowStart = now
            windowBytes = 0
        }
        return nil
    }
}
