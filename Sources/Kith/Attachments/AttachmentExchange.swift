import Dispatch
import KithCausality
import KithStore
import KithSync
import KithTransport
import KithTrust
import Logging
import Synchronization

/// Runs the ``AttachmentFetcher`` of a node: hands it what happens, does what it asks.
///
/// What it asks of sessions is done at once, so that questions go out in the order in which they were asked. What it asks of the disk
/// is done on a queue of its own, beside the sessions, so that rows do not wait for it.
final class AttachmentExchange: Sendable {
    /// How long commits are gathered, at least, before the store is asked what it lacks.
    static let pauseMilliseconds = 100
    /// How often as long as the store looks for that it is left alone: with much to look at, it takes a tenth of the time.
    static let pausesPerLook = 9
    /// How often wishes of other processes are looked for.
    static let pollMilliseconds = 1_000
    /// How often bytes that nothing refers to are looked for, in polls: six hours.
    static let pollsPerCollection = 21_600
    /// How often it is looked what is here, whoever brought or removed it, in polls: a minute.
    static let pollsPerLook = 60

    private struct State {
        var fetcher = AttachmentFetcher()
        /// Of each peer the session that was made last: the one that stays where both have dialled each other.
        var runners: [ReplicaID: SessionRunner] = [:]
    }

    private let store: SyncedDatabase
    private let logger: Logger
    /// Measures how long it takes to look for attachments, and the time after that.
    private let clock: any Clock<Duration>
    private let holdings: HoldingBook
    private let queue = DispatchQueue(label: "kith.attachments", qos: .utility)
    private let servingQueue = DispatchQueue(label: "kith.attachments.serving", qos: .utility)
    private let state = Mutex(State())
    /// What is under way, on `queue` only.
    private let incoming = Mutex<[AttachmentID: IncomingAttachment]>([:])
    /// Rings when what is wanted may be something else.
    private let changed = Alarm()

    init(_ store: SyncedDatabase, logger: Logger, clock: any Clock<Duration> = ContinuousClock()) {
        self.store = store
        self.logger = logger
        self.clock = clock
        holdings = HoldingBook(store, logger: logger)
    }

    /// Runs until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.refresh() }
            group.addTask { await self.poll() }
        }
    }

    /// Returns when the disk has been asked for all that was to be asked so far.
    func isDone() async {
        for queue in [queue, servingQueue] { await queue.isDone() }
    }

    /// Rows have changed, and perhaps what they refer to.
    func storeChanged() {
        if store.showsAttachments { changed.ring() }
    }

    // MARK: Sessions

    func appeared(_ runner: SessionRunner, as peer: ReplicaID) {
        state.withLock { state in
            // The sessions of a peer run beside each other, so that the one that gives way may be heard of last.
            if let other = state.runners[peer], runner.id < other.id { return }
            state.runners[peer] = runner
            handle(.appeared(peer), &state)
        }
        holdings.appeared(runner)
        queue.async { self.holdings.tell() }
    }

    func left(_ runner: SessionRunner, as peer: ReplicaID) {
        holdings.left(runner)
        state.withLock { state in
            guard state.runners[peer] === runner else { return }
            state.runners[peer] = nil
            handle(.left(peer), &state)
        }
    }

    func received(_ message: AttachmentMessage, from peer: ReplicaID, _ runner: SessionRunner) {
        state.withLock { state in
            guard state.runners[peer] === runner else { return }
            if case .holdings(let news) = message { holdings.hear(news, from: runner.connection.peer.bytes) }
            handle(.received(message, from: peer), &state)
        }
    }

    /// The frame with a piece that `peer` has asked for, or with the answer that it is not here.
    func frame(with piece: AttachmentPiece, for peer: ReplicaID?) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            servingQueue.async {
                var message: AttachmentMessage?
                do {
                    message = try self.store.piece(piece)
                } catch {
                    self.logger.warning("an attachment cannot be read", metadata: ["reason": "\(error)"])
                }
                if message == nil {
                    if let peer { self.handle(.lacked(piece.id, to: peer)) }
                    self.changed.ring()
                }
                continuation.resume(returning: FrameCodec.encode(.attachment(message ?? .haveNot(piece.id))))
            }
        }
    }

    // MARK: What is wanted

    /// Looks for attachments as often as something has changed, with pauses, until the task is cancelled.
    func refresh() async {
        while !Task.isCancelled {
            await changed.sleep(until: nil)
            if Task.isCancelled { return }
            let took = await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: self.clock.measure(self.look)) }
            }
            try? await clock.sleep(for: max(.milliseconds(Self.pauseMilliseconds), took * Self.pausesPerLook))
        }
    }

    private func look() {
        do {
            handle(.wanted(try store.wantedAttachments()))
            holdings.tell()
        } catch {
            logger.warning("attachments cannot be looked for", metadata: ["reason": "\(error)"])
        }
    }

    private func poll() async {
        var wishes: Int64?
        var polls = 0
        while !Task.isCancelled {
            handle(.tick)
            let seen = store.attachmentWishesChanged()
            if seen != wishes { changed.ring() }
            wishes = seen
            if polls % Self.pollsPerCollection == 0 { queue.async { self.collectGarbage() } }
            if polls % Self.pollsPerLook == Self.pollsPerLook - 1 { queue.async { self.holdings.tell() } }
            if holdings.hasNews { queue.async { self.holdings.note() } }
            polls += 1
            try? await Task.sleep(for: .milliseconds(Self.pollMilliseconds))
        }
    }

    private func collectGarbage() {
        do {
            try store.collectAttachments()
            holdings.tell()
        } catch {
            logger.warning("unused attachments cannot be removed", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: The machine

    private func handle(_ input: AttachmentFetcher.Input) {
        state.withLock { handle(input, &$0) }
    }

    private func handle(_ input: AttachmentFetcher.Input, _ state: inout State) {
        for effect in state.fetcher.handle(input, now: MonotonicClock.now) {
            switch effect {
            case .send(let message, let peer):
                state.runners[peer]?.send(message)
            case .serve(let piece, let peer):
                guard let runner = state.runners[peer], !runner.serve(piece) else { continue }
                runner.post(.close(CloseReason(.protocolError, "It asked for more pieces of attachments than it may at once.")))
            case .begin(let id):
                queue.async { self.answer(for: id) { try self.begin(id) } }
            case .keep(let message, let id, let peer):
                queue.async { self.answer(for: id, from: peer) { try self.keep(message, id) } }
            case .blame(let peer, let what):
                logger.warning("a peer is cut off", metadata: ["replica": "\(peer)", "reason": "\(what)"])
                state.runners[peer]?.post(.close(CloseReason(.protocolError, what)))
            }
        }
    }

    // MARK: The disk, on `queue`

    private func answer(for id: AttachmentID, from peer: ReplicaID? = nil, _ body: () throws -> AttachmentFetcher.Input) {
        do {
            handle(try body())
        } catch let error as StoreError where error.code == .sliceRejected {
            if let peer { handle(.refused(id, from: peer)) }
        } catch {
            incoming.withLock { $0[id] = nil }
            logger.warning("an attachment cannot be kept", metadata: ["reason": "\(error)"])
            // A full disk stops every attachment; another failure may concern this one alone.
            handle((error as? StoreError)?.code == .diskFull ? .failed : .postponed(id))
        }
    }

    private func begin(_ id: AttachmentID) throws -> AttachmentFetcher.Input {
        if case .present = store.attachmentState(id) { return .completed(id) }
        if let known = incoming.withLock({ $0[id] }) { return try proceed(known) }
        if let incoming = try store.incomingAttachment(id) { return try proceed(incoming) }
        return try store.mayAskForOutline(id) ? .holds(id, nil) : .declined(id)
    }

    func keep(_ message: AttachmentMessage, _ id: AttachmentID) throws -> AttachmentFetcher.Input {
        switch message {
        case .outline(_, let outline):
            return try proceed(try store.keepOutline(outline, of: id))
        case .chunk(_, let index, let bytes):
            // What is not remembered any more is taken up from the disk.
            guard var attachment = try incoming.withLock({ $0[id] }) ?? store.incomingAttachment(id) else { return .holds(id, nil) }
            // The app may attach the same content meanwhile.
            if case .present = store.attachmentState(id) { return try proceed(attachment) }
            try attachment.append(bytes, chunk: index)
            let answer = try proceed(attachment)
            // Another process has fetched the same, or removed what was here: the fetcher begins again from what is on the disk.
            if attachment.chunksHeld != index + 1, case .holds = answer { return .holds(id, nil) }
            return answer
        case .want, .haveNot, .have, .holdings:
            return .holds(id, nil)
        }
    }

    /// Makes an attachment present if it is complete; remembers it while it is not.
    private func proceed(_ attachment: IncomingAttachment) throws -> AttachmentFetcher.Input {
        let id = attachment.id
        incoming.withLock { incoming in
            incoming[id] = nil
            // Transfers that were given up are taken up from the disk.
            if incoming.count >= 2 * AttachmentLimits.transfersMax { incoming.removeAll() }
        }
        guard try store.beginFetching(attachment) else {
            if case .present = store.attachmentState(id) { return .completed(id) }
            return .declined(id)
        }
        if attachment.isComplete {
            try store.finish(attachment)
            holdings.tell(id)
            return .completed(id)
        }
        incoming.withLock { $0[id] = attachment }
        return .holds(id, .init(held: attachment.chunksHeld, chunks: attachment.outline.chunkCount))
    }
}
