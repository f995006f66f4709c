import Dispatch
import KithCausality
import KithStore
import KithSync
import KithTransport
import KithTrust
import Synchronization

/// Runs one ``PeerSession`` over one connection: hands it what happens, does what it asks.
///
/// Everything happens on one serial queue, which is the actor's executor. What other sessions and the node have to say waits with the
/// hub's router until the queue gets to it. Reading and applying block that queue and nothing else.
actor SessionRunner {
    /// How a session ended.
    struct End: Sendable {
        let reason: CloseReason
        /// The peer's replica, if it said hello.
        var peer: ReplicaID?
        /// Whether the peer does not trust this device.
        var isRefusedByPeer = false
        /// The group of the peer, if it is another one.
        var refusedGroup: [UInt8]?

        /// Whether this side ended it because it stops.
        var isOwnWish: Bool { reason.code == .shutdown && !reason.isFromPeer }
    }

    nonisolated let connection: Connection
    /// What the hub's router calls this session.
    nonisolated let id: SessionRouter.SessionID
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor = QueueExecutor(DispatchQueue(label: "kith.session", qos: .userInitiated))
    private nonisolated let hub: SessionHub
    private nonisolated let exchange: AttachmentExchange
    private nonisolated let pieces = PieceQueue()
    private nonisolated let met = Mutex<ReplicaID?>(nil)
    private let store: SyncedDatabase
    private let household: HouseholdExchange
    private let onStatus: @Sendable (PeerStatus, SessionRouter.SessionID) -> Void

    private var session: PeerSession
    private var outgoing = FrameCompression()
    private var incoming = FrameCompression()
    private var timer: (any DispatchSourceTimer)?
    private var timerDue: Instant?
    /// Bytes that had come from the peer when a whole frame had, or the timer fired last.
    private var bytesHeard: UInt64 = 0
    private var news: PeerStatus?
    private var reason: CloseReason?
    private var isRefused = false
    private var householdBudget = HouseholdBudget()
    private var meter: ExchangeMeter

    init(
        _ connection: Connection, _ configuration: PeerSession.Configuration, store: SyncedDatabase, hub: SessionHub,
        exchange: AttachmentExchange, household: HouseholdExchange, events: EventBoard = EventBoard(),
        onStatus: @escaping @Sendable (PeerStatus, SessionRouter.SessionID) -> Void
    ) {
        self.connection = connection
        self.store = store
        self.hub = hub
        self.exchange = exchange
        self.household = household
        self.onStatus = onStatus
        meter = ExchangeMeter(events, store, connection.peer)
        session = PeerSession(configuration)
        id = hub.open()
    }

    /// The peer's replica, once it has said hello.
    nonisolated var peer: ReplicaID? { met.withLock { $0 } }

    /// Whether the peer does not trust this device.
    var isRefusedByPeer: Bool { isRefused || reason?.code == .notTrusted }

    /// Lets the session hear of something.
    nonisolated func post(_ input: PeerSession.Input) {
        hub.handle(.tell(input, .only(id)))
    }

    /// Something waits with the router.
    nonisolated func wake() {
        executor.queue.async { self.assumeIsolated { $0.emptyInbox() } }
    }

    private func emptyInbox() {
        for input in hub.take(id) { handle(input) }
    }

    /// Runs until the session or the connection ends, and says how it did.
    func run() async -> End {
        hub.add(self)
        // Its handshake may have been judged before the device was revoked. Asked only now that the hub knows this session, so
        // that a revocation either is seen here or cuts it off there.
        guard household.trust.admission(of: connection.certificate) != nil else {
            hub.remove(self)
            connection.abort(reason: SessionHub.untrusted)
            return end("The device is not trusted any more.")
        }
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.servePieces() }
                begin()
                await receive()
                finish()
                pieces.finish()
                group.cancelAll()
            }
            await connection.close(reason: Self.ended)
        } onCancel: {
            post(.close(Self.stopped))
        }
        hub.remove(self)
        if let peer { exchange.left(self, as: peer) }
        return end("The connection was lost.")
    }

    /// - Parameter loss: why the connection ended, if neither side has said it.
    private func end(_ loss: String) -> End {
        End(
            reason: reason ?? CloseReason(.timeout, loss), peer: peer, isRefusedByPeer: isRefusedByPeer, refusedGroup: session.refusedGroup)
    }

    // MARK: The connection

    private func begin() {
        do {
            let durable = try store.makeDurable()
            handle(
                .connected(
                    try store.summary(), durable: durable, ahead: try store.ahead(),
                    wallClockMilliseconds: MonotonicClock.wallClockMilliseconds))
        } catch {
            handle(.storeFailed(String(describing: error)))
        }
        // Bytes may have arrived before the inbox had its reader.
        emptyInbox()
    }

    /// Takes the next frame from the network only when the one before has been dealt with.
    private func receive() async {
        do {
            for try await bytes in connection.frames { receive(bytes) }
        } catch {
            lose(error)
        }
    }

    private func receive(_ bytes: [UInt8]) {
        meter.frameCame(bytes: bytes.count)
        // The session hears of the frame now, and not once more, later, of its bytes.
        bytesHeard = connection.traffic.bytesReceived
        do {
            handle(.received(try incoming.decompress(bytes)))
        } catch {
            handle(.close(CloseReason(.protocolError, "It sent a frame that cannot be read: \(error).")))
        }
    }

    private func lose(_ error: TransportError) {
        // The node stops: the wait for frames may end before the session is told so. The connection is not at fault.
        if error.code == .cancelled { return handle(.close(Self.stopped)) }
        if reason == nil { reason = CloseReason(.timeout, error.message) }
        if error.code == .refusedByPeer { isRefused = true }
        if error.code == .stalled {
            // What waits for a peer that does not read would only go on waiting.
            connection.abort(reason: Self.ended)
        } else {
            connection.beginClose(reason: Self.ended)
        }
    }

    // MARK: Attachments

    /// Lets the peer hear of an attachment.
    nonisolated func send(_ message: AttachmentMessage) {
        do {
            try connection.post(FrameCodec.encode(.attachment(message)))
        } catch  where error.code == .stalled {
            // As with rows: what waits for a peer that does not read would only go on waiting.
            connection.abort(reason: Self.ended)
        } catch {
            // The connection is lost, which ends the session where frames are read.
        }
    }

    /// Sends the peer a piece when there is room. Returns whether it is not one too many.
    nonisolated func serve(_ piece: AttachmentPiece) -> Bool {
        pieces.add(piece)
    }

    /// Sends pieces one by one, each when little waits to be sent, so that rows need not wait for many.
    private nonisolated func servePieces() async {
        while let piece = await pieces.next() {
            let frame = await exchange.frame(with: piece, for: peer)
            do {
                try await connection.send(frame)
            } catch {
                break
            }
        }
    }

    // MARK: The session

    private func handle(_ input: PeerSession.Input) {
        var inputs = [input][...]
        while let input = inputs.popFirst() {
            let effects = session.handle(input, now: MonotonicClock.now)
            let late = lateStatus(of: effects)
            for effect in effects {
                if let answer = perform(effect) { inputs.append(answer) }
            }
            _ = consume late
        }
        connection.raiseFrameLimit(to: session.receivableFrameBytesMax)
        if let status = news.take() {
            meter.heard(status)
            onStatus(status, id)
        }
        notePeer()
        armTimer()
    }

    private func lateStatus(of effects: [PeerSession.Effect]) -> LateStatus? {
        var isApplied = false
        for effect in effects {
            if case .apply = effect { isApplied = true }
            guard isApplied, case .peer(let status) = effect else { continue }
            return LateStatus { [onStatus, id] in onStatus(status, id) }
        }
        return nil
    }

    /// Does what the session asks, and returns the answer if it waits for one.
    private func perform(_ effect: PeerSession.Effect) -> PeerSession.Input? {
        switch effect {
        case .send(let frame):
            do {
                // The session bounds what is under way.
                let bytes = outgoing.compress(frame, isUnderstood: session.capabilities.contains(.compression))
                meter.sent(bytes: bytes.count)
                try connection.post(bytes)
            } catch {
                lose(error)
            }
            return nil
        case .readSlice(let request):
            return answer {
                let slice = try self.store.slice(request)
                self.meter.sends(rows: slice.rows.count)
                return .sliceRead(slice)
            }
        case .apply(let slice, let relay):
            hub.handle(.applies(relay, id))
            return answer {
                self.meter.receives(rows: slice.rows.count)
                let outcome = try self.store.apply(slice, from: self.connection.peer.bytes)
                self.meter.received(rows: slice.rows.count)
                return .applied(outcome)
            }
        case .digest(let task):
            return answer {
                let result = try self.store.perform(task)
                if result.hasMended { self.hub.handle(.tell(.mended, .allBut(self.id))) }
                return .digest(result)
            }
        case .verifyIdentity(let head):
            return answer { .identity(self.tellIdentity(try self.store.verifyIdentity(head))) }
        case .renewIdentity:
            return answer {
                let replica = try self.store.summary().replica
                return .identity(self.tellIdentity(try self.store.renewIdentity(from: replica)))
            }
        case .attachment(let message):
            if let peer = session.peer { exchange.received(message, from: peer, self) }
            return nil
        case .household(let bytes):
            return hearOfHousehold(bytes)
        case .peer(let status):
            // Told when the rest is done: nobody's rows need to wait for it.
            news = status
            return nil
        case .close(let reason):
            self.reason = reason
            connection.beginClose(reason: Self.ended)
            return nil
        }
    }

    /// Answers, as long as the peer does not ask without end.
    private func hearOfHousehold(_ bytes: [UInt8]) -> PeerSession.Input? {
        guard let answers = household.hear(bytes, from: self, &householdBudget) else {
            return .close(CloseReason(.protocolError, "It asks about the household again and again."))
        }
        for answer in answers { post(.household(answer)) }
        return nil
    }

    private func answer(_ body: () throws -> PeerSession.Input) -> PeerSession.Input {
        do {
            return try body()
        } catch let error as StoreError where error.code == .sliceRejected {
            return .close(CloseReason(.protocolError, error.message))
        } catch {
            return .storeFailed(String(describing: error))
        }
    }

    /// Lets the other sessions know who the store is now.
    private func tellIdentity(_ summary: StoreSummary) -> StoreSummary {
        hub.handle(.identified(summary, id))
        return summary
    }

    private func notePeer() {
        guard let peer = session.peer, peer != self.peer else { return }
        met.withLock { $0 = peer }
        hub.handle(.met(id, peer))
        household.greet(self)
        if session.capabilities.contains(.attachments) { exchange.appeared(self, as: peer) }
    }

    private func armTimer() {
        guard let due = session.nextDeadline else { return }
        // A timer that fires early does no harm, so one that is set for earlier stays.
        if let timerDue, timerDue <= due { return }
        timerDue = due
        let timer = self.timer ?? makeTimer()
        let wait = max(0, due.milliseconds - MonotonicClock.now.milliseconds) + 1
        timer.schedule(deadline: .now() + .milliseconds(Int(min(wait, 3_600_000))))
    }

    private func makeTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: executor.queue)
        timer.setEventHandler { [weak self] in self?.assumeIsolated { $0.tick() } }
        timer.resume()
        self.timer = timer
        return timer
    }

    private func tick() {
        timerDue = nil
        let heard = connection.traffic.bytesReceived
        let isHearing = heard != bytesHeard
        bytesHeard = heard
        handle(.tick(wallClockMilliseconds: MonotonicClock.wallClockMilliseconds, isHearing: isHearing))
    }

    /// What is posted from now on changes nothing and is told to nobody.
    private func finish() {
        _ = session.handle(.close(CloseReason(.timeout, Self.ended)), now: MonotonicClock.now)
        timer?.cancel()
        timer = nil
        meter.lost(reason?.message ?? "The connection was lost.")
    }

    private static let ended = "the session has ended"
    private static let stopped = CloseReason(.shutdown, "The node stops.")
}
