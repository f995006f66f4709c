import KithCausality

/// Decides which pieces of attachments to ask of whom, for all sessions of a node, without any I/O.
///
/// It knows what the store wants and which peers are there. Each attachment is fetched from one peer at a time, its outline first,
/// then chunk by chunk from where the last transfer ended, whoever that was with. The store proves every piece; a peer whose piece
/// is wrong is not asked again. It never traps on input, and does the same on the same inputs in every process.
package struct AttachmentFetcher: Sendable {
    /// What the store has of an attachment.
    package struct Progress: Hashable, Sendable {
        /// Chunks that are held: the first so many.
        package let held: Int
        package let chunks: Int

        package init(held: Int, chunks: Int) {
            self.held = held
            self.chunks = chunks
        }
    }

    package enum Input: Hashable, Sendable {
        /// What the store lacks and wants, most wanted first, instead of what it said before.
        case wanted([AttachmentID])
        /// A session that exchanges attachments has opened.
        case appeared(ReplicaID)
        /// It has ended.
        case left(ReplicaID)
        case received(AttachmentMessage, from: ReplicaID)
        /// The answer to ``Effect/begin(_:)`` and to ``Effect/keep(_:of:from:)``: what is now held, `nil` before the outline is known.
        case holds(AttachmentID, Progress?)
        /// The attachment is complete.
        case completed(AttachmentID)
        /// It is not wanted after all: larger than is fetched unasked.
        case declined(AttachmentID)
        /// The piece that this peer sent was wrong.
        case refused(AttachmentID, from: ReplicaID)
        /// The store could not write, because the disk is full.
        case failed
        /// The store could not write this attachment. It may be able to write another.
        case postponed(AttachmentID)
        /// The answer to ``Effect/serve(_:to:)`` if the piece is not here.
        case lacked(AttachmentID, to: ReplicaID)
        /// Time has passed. Due at ``AttachmentFetcher/nextDeadline``; earlier or more often does no harm.
        case tick
    }

    package enum Effect: Hashable, Sendable {
        case send(AttachmentMessage, to: ReplicaID)
        /// Send the peer this piece when nothing more urgent waits, or else ``AttachmentMessage/haveNot(_:)``.
        case serve(AttachmentPiece, to: ReplicaID)
        /// Look what is held of it.
        case begin(AttachmentID)
        /// Prove this message's piece and keep it.
        case keep(AttachmentMessage, of: AttachmentID, from: ReplicaID)
        /// The peer broke a rule; end the session with it.
        case blame(ReplicaID, String)
    }

    /// What was wanted when the store was asked last, most wanted first, and where in it stands what still is; before `front` nothing does.
    private var order: [AttachmentID] = []
    private var places: [AttachmentID: Int] = [:]
    private var front = 0
    /// By replica id.
    private(set) var peers: [Peer] = []
    private(set) var transfers: [Transfer] = []
    /// Who asked in vain for what, oldest first.
    private(set) var askers: [(replica: ReplicaID, id: AttachmentID)] = []
    private var pausedUntil: Instant?
    private var delays: [AttachmentID: Delay] = [:]
    private var now = Instant(milliseconds: .min)
    private var effects: [Effect] = []

    package init() {}

    /// When a ``Input/tick`` is due; `nil` if time alone changes nothing.
    package var nextDeadline: Instant? {
        let ends = transfers.compactMap(deadline) + peers.compactMap(\.forgets) + delays.values.compactMap(\.end)
        return (ends + [pausedUntil].compactMap(\.self)).min()
    }

    /// Takes in what happened and returns what is to be done, in this order.
    package mutating func handle(_ input: Input, now: Instant) -> [Effect] {
        self.now = max(self.now, now)
        react(to: input)
        passTime()
        start()
        for index in transfers.indices { ask(index) }
        defer { effects = [] }
        return effects
    }

    private mutating func react(to input: Input) {
        switch input {
        case .wanted(let ids): want(ids)
        case .appeared(let replica):
            leave(replica)
            for index in peers.indices { peers[index].isUseless = false }
            peers.insert(Peer(replica: replica), at: peers.firstIndex { $0.replica > replica } ?? peers.endIndex)
        case .left(let replica): leave(replica)
        case .received(let message, let replica): receive(message, from: replica)
        case .holds(let id, let progress): holds(id, progress)
        case .completed(let id): completed(id)
        case .declined(let id): drop(id)
        case .refused(let id, let replica): blame(replica, "It sent a piece of the attachment \(id) that is not what its hash says.")
        case .failed: pause()
        case .postponed(let id): postpone(id)
        case .lacked(let id, let replica): remember(id, askedBy: replica)
        case .tick: break
        }
    }

    // MARK: What is wanted

    private mutating func want(_ ids: [AttachmentID]) {
        order = ids
        front = 0
        places = Dictionary(zip(ids, ids.indices)) { first, _ in first }
        let all = Set(ids)
        delays = delays.filter { all.contains($0.key) }
        release { !all.contains($0.id) }
        for index in peers.indices {
            peers[index].has.formIntersection(all)
            peers[index].has.formUnion(peers[index].news.filter(all.contains))
            peers[index].news.removeAll(where: all.contains)
            peers[index].lacks.formIntersection(all)
            peers[index].lacks.subtract(peers[index].has)
            peers[index].place = 0
            peers[index].isUseless = false
        }
    }

    private mutating func drop(_ id: AttachmentID) {
        places[id] = nil
        delays[id] = nil
        while front < order.count, places[order[front]] == nil { front += 1 }
        for index in peers.indices { peers[index].has.remove(id) }
        release { $0.id == id }
    }

    private mutating func completed(_ id: AttachmentID) {
        drop(id)
        for asker in askers where asker.id == id { effects.append(.send(.have(id), to: asker.replica)) }
        askers.removeAll { $0.id == id }
    }

    private mutating func remember(_ id: AttachmentID, askedBy replica: ReplicaID) {
        guard peers.contains(where: { $0.replica == replica }), !askers.contains(where: { $0 == (replica, id) }) else { return }
        if askers.count == AttachmentLimits.askersMax { askers.removeFirst() }
        askers.append((replica, id))
    }

    // MARK: Peers

    private mutating func leave(_ replica: ReplicaID) {
        peers.removeAll { $0.replica == replica }
        release { $0.peer == replica }
        askers.removeAll { $0.replica == replica }
    }

    private mutating func blame(_ replica: ReplicaID, _ what: String) {
        leave(replica)
        effects.append(.blame(replica, what))
    }

    private mutating func receive(_ message: AttachmentMessage, from replica: ReplicaID) {
        guard let index = peers.firstIndex(where: { $0.replica == replica }) else { return }
        switch message {
        case .want(let piece):
            effects.append(.serve(piece, to: replica))
        case .have(let id):
            has([id], index)
        case .haveNot(let id):
            guard peers[index].asked.first?.id == id else {
                return blame(replica, "It answered for an attachment that it was not asked for.")
            }
            peers[index].asked.removeFirst()
            peers[index].has.remove(id)
            peers[index].lacks.insert(id)
            let pause = min(AttachmentLimits.retryMilliseconds << peers[index].rounds, AttachmentLimits.retryMillisecondsMax)
            peers[index].forgets = peers[index].forgets ?? now.advanced(byMilliseconds: pause)
            release { $0.id == id && $0.peer == replica }
        case .outline(let id, _):
            take(message, AttachmentPiece(id, chunk: nil), from: index)
        case .chunk(let id, let chunk, _):
            take(message, AttachmentPiece(id, chunk: chunk), from: index)
        case .holdings(let holdings):
            take(holdings, from: index)
        }
    }

    /// What a peer says it has is asked of it first; what it says it has no longer, of others.
    private mutating func take(_ holdings: AttachmentHoldings, from index: Int) {
        if holdings.kind == .noLonger {
            peers[index].has.subtract(holdings.ids)
            peers[index].news.removeAll(where: Set(holdings.ids).contains)
            return
        }
        has(holdings.ids, index)
    }

    private mutating func has(_ ids: [AttachmentID], _ index: Int) {
        let wanted = ids.filter { places[$0] != nil }
        peers[index].news += ids.filter { places[$0] == nil }
        peers[index].news.removeFirst(max(0, peers[index].news.count - AttachmentLimits.newsMax))
        if wanted.isEmpty { return }
        peers[index].has.formUnion(wanted)
        peers[index].lacks.subtract(wanted)
        peers[index].isUseless = false
    }

    /// Hands a piece to the store if it was asked for and is still of use.
    private mutating func take(_ message: AttachmentMessage, _ piece: AttachmentPiece, from index: Int) {
        let replica = peers[index].replica
        guard peers[index].asked.first == piece else {
            return blame(replica, "It sent a piece of an attachment that it was not asked for.")
        }
        peers[index].asked.removeFirst()
        guard let current = transfers.firstIndex(where: { $0.id == piece.id && $0.peer == replica }) else { return }
        transfers[current].moved = now
        if places[piece.id] != nil { peers[index].has.insert(piece.id) }
        if let chunk = piece.chunk {
            guard chunk == transfers[current].kept else { return }
            transfers[current].kept += 1
        } else {
            guard transfers[current].chunks == nil, !transfers[current].isOpening else { return }
            transfers[current].isOpening = true
        }
        effects.append(.keep(message, of: piece.id, from: replica))
    }

    // MARK: Transfers

    private mutating func pause() {
        release { _ in true }
        pausedUntil = now.advanced(byMilliseconds: AttachmentLimits.retryMilliseconds)
    }

    /// Leaves one attachment for later, while the rest is fetched. If many fail, the disk is at fault.
    private mutating func postpone(_ id: AttachmentID) {
        var delay = delays[id] ?? Delay()
        // A piece that was under way has failed for the same reason.
        if delay.end != nil { return }
        delay.end = now.advanced(
            byMilliseconds: min(AttachmentLimits.retryMilliseconds << delay.rounds, AttachmentLimits.retryMillisecondsMax))
        delay.rounds = min(delay.rounds + 1, 16)
        delays[id] = delay
        release { $0.id == id }
        if delays.values.count(where: { $0.end != nil }) > AttachmentLimits.transfersMax { pause() }
    }

    private mutating func holds(_ id: AttachmentID, _ progress: Progress?) {
        guard let index = transfers.firstIndex(where: { $0.id == id }) else { return }
        // What was here is gone: it begins anew.
        if progress == nil, !transfers[index].isOpening { return release { $0.id == id } }
        transfers[index].held = progress?.held ?? 0
        guard transfers[index].isOpening else {
            delays[id] = nil
            return
        }
        transfers[index].isOpening = false
        transfers[index].chunks = progress?.chunks
        transfers[index].kept = transfers[index].held
        transfers[index].asked = transfers[index].held
        transfers[index].moved = now
    }

    private mutating func passTime() {
        if let end = pausedUntil, end <= now { pausedUntil = nil }
        // Who is slow is not asked for anything else before it has answered.
        let late = transfers.filter { transfer in end(ofPatience: transfer).map { $0 <= now } ?? false }
        for index in peers.indices where late.contains(where: { $0.peer == peers[index].replica }) {
            peers[index].patienceMilliseconds = min(2 * peers[index].patienceMilliseconds, AttachmentLimits.patienceMillisecondsMax)
        }
        release { late.contains($0) }
        // One after the other: each makes room for a peer that waits.
        while let over = transfers.first(where: { transfer in end(ofTurn: transfer).map { $0 <= now } ?? false }) {
            release { $0 == over }
            start()
        }
        for (id, delay) in delays where delay.end.map({ $0 <= now }) ?? false {
            delays[id]?.end = nil
            for index in peers.indices { peers[index].isUseless = false }
        }
        for index in peers.indices {
            guard let forgets = peers[index].forgets, forgets <= now else { continue }
            peers[index].forgets = nil
            peers[index].rounds = min(peers[index].rounds + 1, 16)
            peers[index].lacks = []
            peers[index].place = 0
            peers[index].isUseless = false
        }
    }

    /// Begins transfers with the peers that have nothing to do.
    private mutating func start() {
        guard pausedUntil == nil else { return }
        // First those who are known to have something, and who has waited longest of them.
        for isKnown in [true, false] {
            for index in peers.indices.sorted(by: { (peers[$0].served, $0) < (peers[$1].served, $1) })
            where transfers.count < AttachmentLimits.transfersMax && isIdle(peers[index]) {
                guard let id = isKnown ? firstKnown(of: peers[index]) : firstUnasked(of: index) else {
                    if !isKnown { peers[index].isUseless = true }
                    continue
                }
                transfers.append(Transfer(id, from: peers[index].replica, at: now))
                effects.append(.begin(id))
            }
        }
    }

    /// Of what the peer has and no transfer fetches, what is wanted most; what has failed again comes last.
    private func firstKnown(of peer: Peer) -> AttachmentID? {
        func isOpen(_ id: AttachmentID) -> Bool { !isBusy(id) && !peer.lacks.contains(id) }
        // Of a few it is found sooner among them, of many in the order.
        if 8 * peer.has.count > places.count { return first(of: order[front...]) { peer.has.contains($0) && isOpen($0) } }
        func rank(_ id: AttachmentID) -> (Int, Int) { (hasFailedAgain(id) ? 1 : 0, places[id] ?? .max) }
        return peer.has.lazy.filter(isOpen).min { rank($0) < rank($1) }
    }

    /// Of what the peer may have, what is wanted most; what has failed again comes last.
    private mutating func firstUnasked(of index: Int) -> AttachmentID? {
        func isOpen(_ id: AttachmentID) -> Bool { places[id] != nil && !peers[index].lacks.contains(id) }
        var place = max(peers[index].place, front)
        while place < order.count, !isOpen(order[place]) { place += 1 }
        peers[index].place = place
        return first(of: order[place...]) { isOpen($0) && !isBusy($0) }
    }

    /// The first that has not failed again, or else the first that has: an attachment that fails each time keeps no other away.
    private func first(of ids: ArraySlice<AttachmentID>, where isOpen: (AttachmentID) -> Bool) -> AttachmentID? {
        ids.first { isOpen($0) && !hasFailedAgain($0) } ?? (delays.isEmpty ? nil : ids.first(where: isOpen))
    }

    /// Whether it could not be written when it was tried once more: a failure may pass.
    private func hasFailedAgain(_ id: AttachmentID) -> Bool { delays[id].map { $0.rounds > 1 } ?? false }

    private func isBusy(_ id: AttachmentID) -> Bool { delays[id]?.end != nil || transfers.contains { $0.id == id } }

    /// Ends transfers. What they were busy with, and with whom, is open to others.
    private mutating func release(_ isOver: (Transfer) -> Bool) {
        let over = transfers.filter(isOver)
        if over.isEmpty { return }
        transfers.removeAll(where: isOver)
        for index in peers.indices {
            peers[index].isUseless = false
            if over.contains(where: { $0.peer == peers[index].replica }) { peers[index].served = now }
        }
    }

    private func deadline(_ transfer: Transfer) -> Instant? {
        [end(ofPatience: transfer), end(ofTurn: transfer)].compactMap(\.self).min()
    }

    /// When the transfer makes room, however well it goes, for a peer that has something and waits: what is held of it stays.
    private func end(ofTurn transfer: Transfer) -> Instant? {
        guard transfers.count == AttachmentLimits.transfersMax,
            peers.contains(where: { peer in isIdle(peer) && peer.has.contains { !isBusy($0) && !peer.lacks.contains($0) } })
        else { return nil }
        return transfer.began.advanced(byMilliseconds: AttachmentLimits.turnMilliseconds)
    }

    /// When to give up on the transfer's peer; `nil` while it owes nothing, or while there is nobody who could do better: what
    /// comes late is of use still.
    private func end(ofPatience transfer: Transfer) -> Instant? {
        guard let peer = peers.first(where: { $0.replica == transfer.peer }), !peer.asked.isEmpty,
            peers.contains(where: { isFree($0) && (transfers.count == AttachmentLimits.transfersMax || !$0.lacks.contains(transfer.id)) })
        else { return nil }
        return transfer.moved.advanced(byMilliseconds: peer.patienceMilliseconds)
    }

    private func isIdle(_ peer: Peer) -> Bool { !peer.isUseless && isFree(peer) }

    /// Whether it owes no answer, and nothing is fetched from it.
    private func isFree(_ peer: Peer) -> Bool {
        peer.asked.isEmpty && !transfers.contains { $0.peer == peer.replica }
    }

    /// Asks for as many pieces as may be on their way.
    private mutating func ask(_ index: Int) {
        let transfer = transfers[index]
        guard !transfer.isOpening, let peer = peers.firstIndex(where: { $0.replica == transfer.peer }) else { return }
        guard let chunks = transfer.chunks else {
            if peers[peer].asked.isEmpty { ask(peers[peer].replica, peer, AttachmentPiece(transfer.id, chunk: nil)) }
            return
        }
        while transfers[index].asked < chunks, transfers[index].asked - transfers[index].held < AttachmentLimits.chunksInFlightMax {
            ask(transfer.peer, peer, AttachmentPiece(transfer.id, chunk: transfers[index].asked))
            transfers[index].asked += 1
        }
    }

    private mutating func ask(_ replica: ReplicaID, _ peer: Int, _ piece: AttachmentPiece) {
        peers[peer].asked.append(piece)
        effects.append(.send(.want(piece), to: replica))
    }
}
