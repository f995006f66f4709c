import KithCausality

/// Takes in the frames of a file that a ``CarryWriter`` made: a session whose other side cannot answer.
///
/// So every rule of a session holds: versions, app, group, proofs, the order of slices, limits. What it would send goes nowhere, and a
/// delta that the store's vector does not cover is refused as ever; another file has to be read first.
package struct CarryReader {
    private var session: PeerSession
    /// Why reading came to an end before the file did.
    package private(set) var reason: CloseReason?
    /// Whether the file goes on from what this store does not know.
    package private(set) var isRefused = false
    /// Whether the store needs whole rows: only a file since the beginning helps.
    package private(set) var needsWholeRows = false
    /// Whether a delta was taken to its end.
    package private(set) var isComplete = false

    /// - Parameters:
    ///   - configuration: as of a session; the peer's device is who signed the file.
    ///   - perform: see ``read(_:_:)``.
    package init(
        _ configuration: PeerSession.Configuration, _ summary: StoreSummary, wallClockMilliseconds: Int64,
        _ perform: (PeerSession.Effect) throws -> PeerSession.Input?
    ) throws {
        var configuration = configuration
        // A file has no other frame to say it in.
        configuration.helloBytesMax = WireLimits.frameBytesMax
        session = PeerSession(configuration)
        try handle(
            .connected(summary, durable: VersionVector(), wallClockMilliseconds: wallClockMilliseconds), perform)
    }

    /// Takes in the next frame.
    ///
    /// - Parameter perform: does what the session asks of its store and its household, and returns the answer if it waits for one. It is
    ///   asked to apply slices, to verify or renew the store's identity, and told of attachments, the household and the peer's status.
    package mutating func read(_ frame: [UInt8], _ perform: (PeerSession.Effect) throws -> PeerSession.Input?) throws {
        try handle(.received(frame), perform)
    }

    private mutating func handle(
        _ input: PeerSession.Input, _ perform: (PeerSession.Effect) throws -> PeerSession.Input?
    ) throws {
        var inputs = [input][...]
        while let input = inputs.popFirst() {
            for effect in session.handle(input, now: Instant(milliseconds: 0)) {
                switch effect {
                case .send: break
                // Nobody is there to send anything to.
                case .readSlice: inputs.append(.sliceRead(nil))
                case .close(let reason): self.reason = reason
                case .apply(let slice, _):
                    guard let answer = try perform(effect) else { continue }
                    if case .applied(let outcome) = answer { note(outcome, of: slice) }
                    inputs.append(answer)
                case .verifyIdentity, .renewIdentity, .attachment, .household, .digest, .peer:
                    if let answer = try perform(effect) { inputs.append(answer) }
                }
            }
        }
    }

    private mutating func note(_ outcome: ApplyOutcome, of slice: Slice) {
        switch outcome {
        case .applied: if slice.isLast { isComplete = true }
        case .refused: isRefused = true
        case .incomplete: needsWholeRows = true
        }
    }
}
