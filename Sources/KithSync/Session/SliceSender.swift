import KithCausality

/// The outgoing direction of a session: one delta at a time, read and sent slice by slice within a window.
///
/// What to send is derived from what the peer says it knows, never from what was sent before.
struct SliceSender: Hashable, Sendable {
    /// What the peer certainly knows: it said so, or it acknowledged it.
    private(set) var known: VersionVector
    private(set) var rowsSent: UInt64 = 0

    private let peerUnderstandsTexts: Bool
    /// What the vectors of slices are differences from.
    private let bases: WireBases?
    /// What rows of broken-off catch-ups know beyond the store's vector, until a delta has offered them to the peer. Whoever was to
    /// bring the rest may never come back; the rows that are here must not depend on it.
    private var ahead: VersionVector
    private var resumption: Resumption?
    /// The peer has asked for a delta since this, whatever it knows.
    private var wanted: VersionVector?
    private var delta: Delta?
    private var isReading = false
    /// A slice that is read and waits for room in the window.
    private var waiting: ClaimingFrame?
    /// Slices sent in this session, and those the peer has dealt with.
    private var slicesSent: UInt64 = 0
    private var slicesDone: UInt64 = 0
    /// Sizes of the slices sent and not dealt with, oldest first.
    private var bytesInFlight: [Int] = []
    /// Refusals since a delta last got through.
    private var refusals = 0
    /// The vector at which the store had nothing to send.
    private var exhausted: VersionVector?
    /// Rows that are too large to be sent. The others are, without the peer coming to believe that it knows what their authors wrote.
    private(set) var withheld: [SlicePosition] = []
    /// How often the delta under way began anew because of them.
    private var restarts = 0
    /// The store's vector as of which the peer has all rows but those.
    private var settled: VersionVector?

    private struct Delta: Hashable, Sendable {
        var since: VersionVector
        var target: [Head]?
        /// The store's vector when it began.
        var vector = VersionVector()
        var isListing = false
        var after: SlicePosition?
        /// What has gone ahead of the row that comes next.
        var preludes = Preludes()
        var rowsRemaining = 0
        var progress = DeltaProgress()
        /// The number of its last slice, once that is sent.
        var lastSlice: UInt64?
        /// Whether the last slice is read.
        var isRead = false
    }

    /// Rows that may be withheld at once, and how often one delta begins anew.
    static let withheldMax = 64
    /// A peer that is refused this often in a row can never be served.
    static let refusalsMax = 8

    init(
        peerKnows vector: VersionVector, resumption: Resumption?, peerUnderstandsTexts: Bool, ahead: VersionVector = VersionVector(),
        bases: WireBases? = nil
    ) {
        known = vector
        self.bases = bases
        self.ahead = ahead
        self.peerUnderstandsTexts = peerUnderstandsTexts
        self.resumption = resumption
    }

    /// How far the delta under way has come; `nil` if there is none, or if it is a single slice.
    var progress: DeltaProgress? { delta.flatMap { $0.rowsRemaining > 0 ? $0.progress : nil } }

    /// Rows of the delta under way that are still to be sent.
    var rowsRemaining: Int { delta?.rowsRemaining ?? 0 }

    /// Whether nothing is being read or waits for an answer.
    var isIdle: Bool { delta == nil && !isReading && waiting == nil && bytesInFlight.isEmpty }

    /// Learns what the peer knows from what it says.
    mutating func learn(_ vector: VersionVector) {
        known.join(vector)
    }

    /// If the peer knows `vector`, and no more, it is held once.
    mutating func share(_ vector: VersionVector) {
        known = known.sharing(vector)
    }

    /// The peer says plainly what it knows: whatever it lacks is worth another look.
    mutating func reconsider() {
        exhausted = nil
    }

    // MARK: Reading

    /// What to read next, if anything is to be sent and the window is open.
    ///
    /// - Parameters:
    ///   - vector: what our store knows.
    ///   - mayStart: whether a new delta may begin.
    mutating func nextRead(storeKnows vector: VersionVector, mayStart: Bool) -> SliceRequest? {
        guard !isReading, waiting == nil, bytesInFlight.count < WireLimits.slicesInFlightMax else { return nil }
        if delta == nil {
            if let wanted {
                delta = Delta(since: wanted)
            } else {
                let isBehind = !known.covers(vector) && exhausted != vector && settled != vector
                guard mayStart, isBehind || !known.covers(ahead) else { return nil }
                delta = Delta(since: known)
            }
            wanted = nil
            ahead = VersionVector()
        }
        guard let delta, !delta.isRead else { return nil }
        isReading = true
        var request = SliceRequest(
            since: delta.since, resumption: resumption, after: delta.after, target: delta.target, preludes: delta.preludes)
        request.withheld = withheld
        return request
    }

    /// Takes the slice that was read. Returns the frame to send, if the window has room for it now.
    mutating func read(
        _ slice: Slice?, storeKnows vector: VersionVector, alsoSentTo neighbours: [ReplicaID]
    ) throws(CloseReason) -> ClaimingFrame? {
        defer { isReading = false }
        // A delta that was given up meanwhile is gone, and the next one does not begin before this read has ended.
        guard isReading, var delta else { return nil }
        guard var slice else {
            guard delta.target == nil else { throw CloseReason(.storeFailed, "The store lost the end of a delta.") }
            self.delta = nil
            exhausted = vector
            return nil
        }
        guard slice.follows(delta.after) else {
            throw CloseReason(.storeFailed, "The store read a slice that does not advance.")
        }
        // Deletions were collected meanwhile that the peer has not seen: it needs more than the slices before were made for.
        if delta.target != nil, slice.since != delta.since {
            self.delta = Delta(since: delta.since)
            return nil
        }
        if !peerUnderstandsTexts, slice.tables.contains(where: { $0.columns.contains { $0.kind == .text } }) { throw .noTexts }
        // The store estimates at the beginning; from then on rows are counted off.
        if !slice.isLast { slice.rowsRemaining = max(slice.rowsRemaining, delta.rowsRemaining - slice.rowCount, 1) }
        for part in slice.rows {
            guard let limit = part.state.exceededLimit else { continue }
            try withhold(part, of: slice, limit, since: delta.since)
            return nil
        }
        let frame = FrameCodec.encodeWithClaims(.slice(slice, alsoSentTo: neighbours), bases)
        if frame.bytes.count > WireLimits.frameBytesMax, let largest = slice.rows.first {
            try withhold(largest, of: slice, "frameBytesMax", since: delta.since)
            return nil
        }
        if delta.target == nil {
            withheld.removeAll { !slice.withheld.contains($0) }
            delta.vector = slice.vector
            delta.isListing = slice.listing != nil
            // The store may know that the peer needs more than it asked for.
            delta.since = slice.since
        }
        delta.target = delta.target ?? slice.target
        delta.after = slice.position
        delta.preludes.follow(slice)
        delta.rowsRemaining = slice.isLast ? 0 : slice.rowsRemaining
        delta.isRead = slice.isLast
        delta.progress.rows += slice.rowCount
        delta.progress.bytes += frame.bytes.count
        delta.progress.rowsTotal = delta.progress.rows + delta.rowsRemaining
        self.delta = delta
        rowsSent += UInt64(slice.rowCount)
        waiting = frame
        return nextFrame()
    }

    /// Leaves out a row that is too large, and begins the delta anew: what its slices say that the peer will know includes the row.
    private mutating func withhold(_ part: RowPart, of slice: Slice, _ limit: String, since: VersionVector) throws(CloseReason) {
        restarts += 1
        guard withheld.count < Self.withheldMax, restarts <= Self.withheldMax else { throw .tooLarge(part, in: slice, limit) }
        let position = part.position(in: slice.tables)
        if !withheld.contains(position) { withheld.append(position) }
        delta = Delta(since: since)
    }

    /// The waiting slice, if the window has room for it.
    mutating func nextFrame() -> ClaimingFrame? {
        guard let frame = waiting else { return nil }
        let bytes = bytesInFlight.reduce(frame.bytes.count, +)
        guard bytesInFlight.isEmpty || bytes <= WireLimits.sliceBytesInFlightMax else { return nil }
        waiting = nil
        bytesInFlight.append(frame.bytes.count)
        slicesSent += 1
        if delta?.isRead == true { delta?.lastSlice = slicesSent }
        return frame
    }

    // MARK: Answers

    /// The peer has dealt with `slices` of the slices of this session.
    mutating func acknowledged(_ slices: UInt64) throws(CloseReason) {
        guard slices >= slicesDone, slices <= slicesSent else {
            throw CloseReason(.protocolError, "It acknowledged slices that were never sent.")
        }
        bytesInFlight.removeFirst(Int(slices - slicesDone))
        slicesDone = slices
        if let last = delta?.lastSlice, last <= slices {
            let target = VersionVector((delta?.target ?? []).map(\.dot))
            known.join(target)
            resumption = nil
            if let delta, !withheld.isEmpty, !target.covers(delta.vector) {
                settled = delta.vector
                if !delta.isListing { resumption = Resumption(position: .end, vector: delta.vector) }
            }
            delta = nil
            refusals = 0
            restarts = 0
        }
    }

    /// The peer refused a slice and says what it really knows: the delta starts again from there.
    mutating func refused(_ want: Want) throws(CloseReason) {
        delta = nil
        waiting = nil
        try acknowledged(want.slices)
        refusals += 1
        guard refusals <= Self.refusalsMax else {
            throw CloseReason(.protocolError, "It refused \(refusals) deltas in a row, each made for the vector it named.")
        }
        known = want.since
        wanted = want.since
        resumption = want.resumption
        exhausted = nil
        settled = nil
    }
}

extension CloseReason {
    fileprivate static let noTexts = CloseReason(
        .unsupportedVersion,
        "There are texts to be sent that several may edit, which the other side does not understand yet; it needs an update.")

    fileprivate static func tooLarge(_ part: RowPart, in slice: Slice, _ limit: String) -> CloseReason {
        let table = String(decoding: slice.tables[part.table].name, as: UTF8.self)
        return CloseReason(
            .tooLarge,
            "The row \(part.id) of \(table) is too large to be sent: it exceeds the limit \(limit). Make its values smaller or fewer.")
    }
}
