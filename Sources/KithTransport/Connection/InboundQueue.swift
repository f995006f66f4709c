import NIOCore
import Synchronization

/// Frames between the event loop, which puts them in, and the one task that takes them out.
///
/// The length of a frame is judged when the reader's turn comes to it: a peer may send a long frame right behind
/// its hello, and only the layer that reads the hello knows whether it may.
final class InboundQueue: Sendable {
    /// What the event loop does next.
    enum Verdict: Hashable, Sendable {
        case goOn
        /// Read nothing more until `Signal.resume`.
        case pause
        /// The reader wants the next frame and would not take this one.
        case refuse
    }

    /// What the reader tells the event loop.
    enum Signal: Sendable {
        /// Reading from the network may go on.
        case resume
        /// The connection is over, for this reason.
        case refuse(TransportError)
    }

    /// Counted for each frame besides its content, so that a million tiny frames are not free.
    static let frameOverheadBytes = 64

    private typealias Outcome = Result<[UInt8]?, TransportError>
    private typealias Waiter = CheckedContinuation<Outcome, Never>

    private struct State {
        var frames = CircularBuffer<[UInt8]>()
        var bytes = 0
        /// Longest frame that the reader takes, in bytes.
        var limit: Int
        /// Length of a frame over the limit that waits to be judged.
        var held: Int?
        var isPaused = false
        /// What the reader gets after the last frame.
        var ending: Outcome?
        var waiter: Waiter?
    }

    private let highWaterBytes: Int
    private let lowWaterBytes: Int
    private let signal: @Sendable (Signal) -> Void
    private let state: Mutex<State>

    /// - Parameter signal: called by the reader's task.
    init(configuration: TransportConfiguration, signal: @escaping @Sendable (Signal) -> Void) {
        highWaterBytes = configuration.inboundHighWaterBytes
        lowWaterBytes = configuration.inboundLowWaterBytes
        self.signal = signal
        state = Mutex(State(limit: configuration.initialFrameBytesMax))
    }

    /// Longest frame that the reader takes, in bytes.
    var limit: Int {
        get { state.withLock { $0.limit } }
        set { state.withLock { $0.limit = newValue } }
    }

    // MARK: The event loop's side

    /// Puts a frame in.
    func push(_ frame: [UInt8]) -> Verdict {
        let (waiter, verdict) = state.withLock { state -> (Waiter?, Verdict) in
            guard state.ending == nil else { return (nil, .goOn) }
            if frame.count <= state.limit, let waiter = state.waiter.take() { return (waiter, .goOn) }
            state.frames.append(frame)
            state.bytes += frame.count + Self.frameOverheadBytes
            state.isPaused = state.bytes >= highWaterBytes
            return (nil, state.isPaused ? .pause : .goOn)
        }
        waiter?.resume(returning: .success(frame))
        return verdict
    }

    /// Announces a frame of `length` bytes, more than the limit was a moment ago.
    func hold(length: Int) -> Verdict {
        state.withLock { state in
            if length <= state.limit { return .goOn }
            if state.waiter != nil { return .refuse }
            state.held = length
            state.isPaused = true
            return .pause
        }
    }

    /// No more frames come. Those that are here can still be read. The first ending counts.
    /// - Parameter error: `nil` for an orderly end.
    func end(_ error: TransportError?) {
        let waiter = state.withLock { state -> (Waiter, Outcome)? in
            let ending = state.ending ?? error.map(Outcome.failure) ?? .success(nil)
            state.ending = ending
            return state.waiter.take().map { ($0, ending) }
        }
        if let (waiter, ending) = waiter { waiter.resume(returning: ending) }
    }

    // MARK: The reader's side

    /// The next frame; `nil` after an orderly end.
    func next(isolation: isolated (any Actor)?) async throws(TransportError) -> [UInt8]? {
        let (outcome, signal) = state.withLock { takeTurn(&$0) }
        if let signal { self.signal(signal) }
        if let outcome { return try outcome.get() }
        return try await wait(isolation: isolation).get()
    }

    private func takeTurn(_ state: inout State) -> (Outcome?, Signal?) {
        if let frame = state.frames.popFirst() {
            guard frame.count <= state.limit else { return refuse(frame.count, &state) }
            state.bytes -= frame.count + Self.frameOverheadBytes
            guard state.isPaused, state.held == nil, state.bytes <= lowWaterBytes else { return (.success(frame), nil) }
            state.isPaused = false
            return (.success(frame), .resume)
        }
        if let ending = state.ending { return (ending, nil) }
        guard let held = state.held.take() else { return (nil, nil) }
        guard held <= state.limit else { return refuse(held, &state) }
        state.isPaused = false
        return (nil, .resume)
    }

    private func refuse(_ length: Int, _ state: inout State) -> (Outcome?, Signal?) {
        let error = TransportError.frameTooLarge(length: length, limit: state.limit)
        state.frames.removeAll()
        state.ending = .failure(error)
        return (.failure(error), .refuse(error))
    }

    private func wait(isolation: isolated (any Actor)?) async -> Outcome {
        await withTaskCancellationHandler(
            operation: {
                await withCheckedContinuation(isolation: isolation) { continuation in
                    let (outcome, signal) = state.withLock { state -> (Outcome?, Signal?) in
                        if Task.isCancelled { return (.failure(Self.cancelled), nil) }
                        if state.waiter != nil { return (.failure(Self.concurrentReaders), nil) }
                        // A frame may have come since the reader looked.
                        let (outcome, signal) = takeTurn(&state)
                        if outcome == nil { state.waiter = continuation }
                        return (outcome, signal)
                    }
                    if let signal { self.signal(signal) }
                    if let outcome { continuation.resume(returning: outcome) }
                }
            },
            onCancel: {
                state.withLock { $0.waiter.take() }?.resume(returning: .failure(Self.cancelled))
            }, isolation: isolation)
    }

    private static let cancelled = TransportError(.cancelled, "The task that waited for a frame was cancelled.")
    private static let concurrentReaders = TransportError(
        .concurrentReaders, "Two tasks read frames of one connection at once. Read them in one task.")
}
