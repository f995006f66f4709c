import KithSync
import Synchronization

/// The pieces of attachments that one peer has asked for and not been sent.
///
/// They are only named here and read when their turn comes, so that a peer that asks for many and takes none costs no memory.
final class PieceQueue: Sendable {
    private struct State {
        var pieces: [AttachmentPiece] = []
        var isFinished = false
        var waiter: CheckedContinuation<AttachmentPiece?, Never>?
    }

    private let state = Mutex(State())

    /// Returns whether the piece is taken; not if ``AttachmentLimits/requestsMax`` wait already.
    func add(_ piece: AttachmentPiece) -> Bool {
        let (isTaken, waiter) = state.withLock { state in
            if let waiter = state.waiter.take() { return (true, waiter as CheckedContinuation?) }
            guard state.pieces.count < AttachmentLimits.requestsMax else { return (false, nil) }
            state.pieces.append(piece)
            return (true, nil)
        }
        waiter?.resume(returning: piece)
        return isTaken
    }

    /// Nothing more is sent.
    func finish() {
        let waiter = state.withLock { state in
            state.isFinished = true
            state.pieces = []
            return state.waiter.take()
        }
        waiter?.resume(returning: nil)
    }

    /// The next piece; `nil` at the end. For one caller.
    func next() async -> AttachmentPiece? {
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                guard state.pieces.isEmpty, !state.isFinished else { return false }
                state.waiter = continuation
                return true
            }
            if !isWaiting { continuation.resume(returning: state.withLock { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() }) }
        }
    }
}
