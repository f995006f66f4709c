import KithSync
import NIOCore
import Synchronization

/// Frames between the tasks that send them and the event loop, which writes them, in the order of the calls.
/// It holds at most its high-water mark and one frame; who sends more waits.
final class OutboundQueue: Sendable {
    private typealias Outcome = Result<Void, TransportError>

    private struct Waiter {
        let number: UInt64
        let frame: [UInt8]
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        var frames = CircularBuffer<[UInt8]>()
        /// Bytes of `frames`, headers included, that were not taken yet.
        var bytes = 0
        /// Bytes of the first frame that were taken already, its header included.
        var takenOfFirst = 0
        var waiters = CircularBuffer<Waiter>()
        var waitersEver: UInt64 = 0
        /// Whether the event loop was told that there is something to write.
        var isAnnounced = false
        var ending: TransportError?
    }

    private let frameBytesMax: Int
    private let highWaterBytes: Int
    private let lowWaterBytes: Int
    private let bytesMax: Int
    private let room: OutboundRoom
    private let place: Int
    private let announce: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - announce: called when the event loop should come and `take`.
    ///   - end: called when the connection should end because it keeps most of what all may keep.
    init(
        configuration: TransportConfiguration, announce: @escaping @Sendable () -> Void,
        end: @escaping @Sendable (TransportError) -> Void = { _ in }
    ) {
        frameBytesMax = configuration.frameBytesMax
        highWaterBytes = configuration.outboundHighWaterBytes
        lowWaterBytes = configuration.outboundLowWaterBytes
        bytesMax = configuration.outboundBytesMax
        room = configuration.outboundRoom
        place = room.enter(end: end)
        self.announce = announce
    }

    deinit {
        room.leave(place)
    }

    // MARK: The senders' side

    /// Puts a frame in, when there is room.
    func send(_ frame: [UInt8], isolation: isolated (any Actor)?) async throws(TransportError) {
        guard frame.count <= frameBytesMax else { throw .frameTooLarge(length: frame.count, limit: frameBytesMax) }
        guard !frame.isEmpty else { throw .emptyFrame }
        let (outcome, announces) = state.withLock { state -> (Outcome?, Bool) in
            if let ending = state.ending { return (.failure(ending), false) }
            guard state.waiters.isEmpty, state.bytes < highWaterBytes else { return (nil, false) }
            return (.success(()), appendSent(frame, &state))
        }
        if announces { announce() }
        if let outcome { return try outcome.get() }
        try await wait(with: frame, isolation: isolation).get()
    }

    /// Puts a frame in at once, unless `outboundBytesMax` bytes wait already: the caller bounds what it posts, and this is the
    /// end for a peer that asks and does not read.
    func post(_ frame: [UInt8]) throws(TransportError) {
        guard frame.count <= frameBytesMax else { throw .frameTooLarge(length: frame.count, limit: frameBytesMax) }
        guard !frame.isEmpty else { throw .emptyFrame }
        let bytes = FrameDecoder.headerBytes + frame.count
        if let full = room.take(bytes, for: place) { throw full }
        let (ending, announces) = state.withLock { state -> (TransportError?, Bool) in
            if let ending = state.ending { return (ending, false) }
            guard state.bytes < bytesMax else { return (Self.deaf(state.bytes), false) }
            return (nil, append(frame, &state))
        }
        if announces { announce() }
        if let ending {
            room.release(bytes, by: place)
            throw ending
        }
    }

    private func append(_ frame: [UInt8], _ state: inout State) -> Bool {
        state.frames.append(frame)
        state.bytes += FrameDecoder.headerBytes + frame.count
        defer { state.isAnnounced = true }
        return !state.isAnnounced
    }

    /// The same of one whose sender has waited until there was room in this queue.
    private func appendSent(_ frame: [UInt8], _ state: inout State) -> Bool {
        room.occupy(FrameDecoder.headerBytes + frame.count, by: place)
        return append(frame, &state)
    }

    private func wait(with frame: [UInt8], isolation: isolated (any Actor)?) async -> Outcome {
        let number = state.withLock { state in
            state.waitersEver += 1
            return state.waitersEver
        }
        return await withTaskCancellationHandler(
            operation: {
                await withCheckedContinuation(isolation: isolation) { continuation in
                    let (outcome, announces) = state.withLock { state -> (Outcome?, Bool) in
                        if let ending = state.ending { return (.failure(ending), false) }
                        if Task.isCancelled { return (.failure(Self.cancelled), false) }
                        // There may be room since the sender looked.
                        if state.waiters.isEmpty, state.bytes < highWaterBytes {
                            return (.success(()), appendSent(frame, &state))
                        }
                        state.waiters.append(Waiter(number: number, frame: frame, continuation: continuation))
                        return (nil, false)
                    }
                    if announces { announce() }
                    if let outcome { continuation.resume(returning: outcome) }
                }
            },
            onCancel: {
                let waiter = state.withLock { state in
                    state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
                }
                waiter?.continuation.resume(returning: .failure(Self.cancelled))
            }, isolation: isolation)
    }

    // MARK: The event loop's side

    /// Moves up to `bytesMax` bytes, headers and content, to `buffer`, and lets waiting senders in.
    /// - Returns: whether there was anything.
    func take(into buffer: inout ByteBuffer, bytesMax: Int) -> Bool {
        let admitted = state.withLock { state in
            var left = bytesMax
            while left > 0, let frame = state.frames.first {
                let taken = write(frame, to: &buffer, bytesMax: left, &state)
                room.release(taken, by: place)
                left -= taken
            }
            state.isAnnounced = !state.frames.isEmpty
            return state.bytes <= lowWaterBytes ? admit(&state) : []
        }
        for waiter in admitted { waiter.continuation.resume(returning: .success(())) }
        return buffer.readableBytes > 0
    }

    /// Refuses every later `send` with `error`; what was sent before can still be taken.
    func close(_ error: TransportError) {
        let waiters = state.withLock { state in
            state.ending = state.ending ?? error
            defer { state.waiters.removeAll() }
            return Array(state.waiters)
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
    }

    /// Forgets what was not taken.
    func discard() {
        state.withLock { state in
            state.frames.removeAll()
            room.release(state.bytes, by: place)
            state.bytes = 0
            state.takenOfFirst = 0
        }
    }

    /// Bytes that were not taken yet, headers included.
    var bytes: Int {
        state.withLock { $0.bytes }
    }

    private func write(_ frame: [UInt8], to buffer: inout ByteBuffer, bytesMax: Int, _ state: inout State) -> Int {
        let before = buffer.writerIndex
        if state.takenOfFirst == 0 {
            // A header may exceed `bytesMax` by three bytes, which is simpler than cutting it.
            buffer.writeInteger(FrameDecoder.header(of: frame))
            state.takenOfFirst = FrameDecoder.headerBytes
        }
        let start = state.takenOfFirst - FrameDecoder.headerBytes
        let count = min(frame.count - start, max(0, bytesMax - (buffer.writerIndex - before)))
        frame.withUnsafeBytes { _ = buffer.writeBytes(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
        state.takenOfFirst += count
        let taken = buffer.writerIndex - before
        state.bytes -= taken
        if start + count == frame.count {
            state.frames.removeFirst()
            state.takenOfFirst = 0
        }
        return taken
    }

    private func admit(_ state: inout State) -> [Waiter] {
        var admitted: [Waiter] = []
        while state.bytes < highWaterBytes, let waiter = state.waiters.popFirst() {
            // Called by the event loop, which goes on taking: nothing to announce.
            _ = appendSent(waiter.frame, &state)
            admitted.append(waiter)
        }
        return admitted
    }

    private static func deaf(_ bytes: Int) -> TransportError {
        TransportError(.stalled, "The peer reads too little: \(bytes) bytes wait to be sent to it.")
    }

    private static let cancelled = TransportError(.cancelled, "The task that waited to send a frame was cancelled.")
}
