import KithCausality

extension AttachmentFetcher {
    struct Peer: Hashable, Sendable {
        let replica: ReplicaID
        /// Asked and not answered, in order.
        var asked: [AttachmentPiece] = []
        /// What it said it has or does not have, of what is wanted.
        var has: Set<AttachmentID> = []
        var lacks: Set<AttachmentID> = []
        /// When to ask again for what it lacks, and how often that was done.
        var forgets: Instant?
        var rounds: Int64 = 0
        /// What is wanted before this place in the order it lacks.
        var place = 0
        /// What it said last that it has and is not wanted: the row that names it may come behind.
        var news: [AttachmentID] = []
        /// When a transfer with it has ended last.
        var served = Instant(milliseconds: .min)
        /// Whether there is nothing to ask it until something changes.
        var isUseless = false
        /// How long it may take for a piece; longer once it was left for another, so that one on a slow line is not left again and again.
        var patienceMilliseconds = AttachmentLimits.patienceMilliseconds
    }

    struct Transfer: Hashable, Sendable {
        let id: AttachmentID
        let peer: ReplicaID
        /// How many chunks there are; `nil` before the outline is known.
        var chunks: Int?
        /// Chunks on the disk, handed to the store, and asked for: each the first so many.
        var held = 0
        var kept = 0
        var asked = 0
        /// Whether the store's answer is awaited before anything can be asked.
        var isOpening = true
        let began: Instant
        /// When the peer last did something for it.
        var moved: Instant

        init(_ id: AttachmentID, from peer: ReplicaID, at now: Instant) {
            (self.id, self.peer, began, moved) = (id, peer, now, now)
        }
    }

    /// What could not be written, and only that.
    struct Delay: Hashable, Sendable {
        /// When the fetcher tries it again; `nil` once it may.
        var end: Instant?
        var rounds: Int64 = 0
    }
}
