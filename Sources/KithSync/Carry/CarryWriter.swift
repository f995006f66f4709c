import KithCausality

/// Makes the frames of a file by which one replica lets others have what they lack, where no connection joins them.
///
/// They are those that one side of a session sends: hello, proofs, a ping that says what its sender durably holds, and one delta. What the
/// other side would say is what it was last heard to hold. See docs/carry.md.
package struct CarryWriter {
    private let configuration: PeerSession.Configuration
    private let summary: StoreSummary
    private var proving: Proving?

    /// - Throws: `storeFailed` if the store holds commits that it cannot prove yet, so that it may send no rows.
    package init(_ configuration: PeerSession.Configuration, _ summary: StoreSummary) throws(CloseReason) {
        if let proofs = configuration.proofs {
            proofs.note(summary.heads)
            guard proofs.isComplete else {
                throw CloseReason(
                    .storeFailed, "There are changes here that another device has to confirm first. Let this one meet it on the network.")
            }
        }
        self.configuration = configuration
        self.summary = summary
        proving = configuration.proofs.map { Proving($0) }
    }

    /// The frames before the rows: who speaks, what it knows, who has made that, and what of it is durable.
    package mutating func greeting(durable: VersionVector, wallClockMilliseconds: Int64) throws(CloseReason) -> [[UInt8]] {
        guard summary.heads.count < WireLimits.replicasMax else {
            throw CloseReason(.tooLarge, "The store knows \(summary.heads.count) replicas, more than the protocol can carry.")
        }
        let hello = Hello(
            versions: configuration.versions, replica: summary.replica, app: configuration.app.description, group: configuration.group,
            software: configuration.software, capabilities: configuration.capabilities.union(.texts),
            wallClockMilliseconds: wallClockMilliseconds, clock: summary.clock, heads: summary.heads, durable: durable, resumption: nil)
        let pulse = Pulse(nonce: 0, wallClockMilliseconds: wallClockMilliseconds, vector: summary.vector, durable: durable)
        // A reader believes of a hello what it can prove already; of the ping after the proofs it believes all.
        return [FrameCodec.encode(.hello(hello))] + (try proofs(of: Claims(summary.vector.entries))) + [FrameCodec.encode(.ping(pulse))]
    }

    /// Hands the frames of a delta to `put`.
    ///
    /// - Parameters:
    ///   - since: what a reader must know, and need not be told.
    ///   - ahead: what rows of broken-off catch-ups know beyond the store's vector.
    /// - Returns: how many rows the frames bring, and which were left out because they are too large for a frame.
    /// - Throws: ``CloseReason``, and what `read` and `put` throw.
    package mutating func delta(
        since: VersionVector, ahead: VersionVector, read: (SliceRequest) throws -> Slice, put: ([UInt8]) throws -> Void
    ) throws -> (rows: UInt64, withheld: [SlicePosition]) {
        var sender = SliceSender(peerKnows: since, resumption: nil, peerUnderstandsTexts: true, ahead: ahead)
        var (slices, rows): (UInt64, UInt64) = (0, 0)
        // One delta: what is committed meanwhile travels in the next file.
        while let request = sender.nextRead(storeKnows: summary.vector, mayStart: slices == 0) {
            let slice = try read(request)
            // Nothing is to be written of a delta that begins anew, without a row that is too large.
            guard let frame = try sender.read(slice, storeKnows: summary.vector, alsoSentTo: []) else { continue }
            for proof in try proofs(of: frame.claims) { try put(proof) }
            try put(frame.bytes)
            slices += 1
            // A delta that begins anew, without a row that is too large, brings all rows of the one before again.
            rows = (slice.isFirst ? 0 : rows) + UInt64(slice.rowCount)
            try sender.acknowledged(slices)
        }
        return (rows, sender.withheld)
    }

    private mutating func proofs(of claims: Claims) throws(CloseReason) -> [[UInt8]] {
        guard let offers = try proving?.offers(for: claims, summary), !offers.isEmpty else { return [] }
        return [FrameCodec.encode(.proofs(offers))]
    }
}
