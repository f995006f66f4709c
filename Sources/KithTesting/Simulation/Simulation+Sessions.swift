import KithCausality
import KithStore
import KithSync

extension Simulation {
    /// Lets a session hear of something and does what it asks.
    func handle(_ input: PeerSession.Input, _ end: EndID) throws {
        guard isOpen(end), let effects = links[end.link].ends[end.side]?.session.handle(input, now: Instant(milliseconds: now))
        else { return }
        for effect in effects {
            switch effect {
            case .send(let bytes): try send(bytes, from: end)
            case .peer(let status): try hear(status, end)
            case .attachment: break
            case .household(let bytes): try hearOfHousehold(bytes, end)
            case .close(let reason):
                try justify(reason, end)
                if isOpen(end) { try close(end, reason) }
            case .renewIdentity: try renewIdentity(of: node(of: end), end)
            case .readSlice, .apply, .verifyIdentity, .digest:
                if case .apply(_, let relay) = effect, let id = links[end.link].ends[end.side]?.id {
                    route(.applies(relay, id), node(of: end))
                }
                plan(.perform(effect, end), at: now + storeRandom.int64(in: script.conditions.storeMilliseconds))
            }
        }
        guard isOpen(end) else { return }
        let peer = links[end.link].ends[end.side]?.session.peer
        if peer != links[end.link].ends[end.side]?.peer {
            links[end.link].ends[end.side]?.peer = peer
            if let peer, let id = links[end.link].ends[end.side]?.id {
                route(.met(id, peer), node(of: end))
                try tellHousehold(end)
            }
            guard isOpen(end) else { return }
        }
        guard let deadline = links[end.link].ends[end.side]?.session.nextDeadline?.milliseconds else { return }
        if let tickAt = links[end.link].ends[end.side]?.tickAt, tickAt <= deadline { return }
        links[end.link].ends[end.side]?.tickAt = deadline
        plan(.tick(end), at: deadline)
    }

    /// The store answers a session.
    func perform(_ effect: PeerSession.Effect, _ end: EndID) throws {
        let node = node(of: end)
        guard let store = node.store else { return }
        _ = wallClock(of: node)
        do {
            switch effect {
            case .readSlice(let request):
                let slice = try store.slice(request, limits: SliceLimits(script.conditions))
                try checkRead(slice, node)
                try handle(.sliceRead(slice), end)
            case .apply(let slice, _):
                try apply(slice, store, end)
            case .verifyIdentity(let claim):
                _ = try store.verifyIdentity(claim)
                try identityChanged(node, end)
            case .digest(let task):
                try compare(task, store, end)
            case .renewIdentity, .send, .attachment, .household, .peer, .close:
                break
            }
        } catch let error as StoreError {
            try failed(error, node, end)
        }
        if node.isWithoutPower { try losePower(node) }
    }

    private func apply(_ slice: Slice, _ store: SyncedDatabase, _ end: EndID) throws {
        let node = node(of: end)
        try checkMeeting(end)
        for probe in node.probes { probe.reset() }
        let before = try shown(by: node)
        try checkSelf(node, taking: slice)
        let outcome = try store.apply(slice, from: self.node(of: end.other).device)
        statistics.applies += 1
        switch outcome {
        case .applied(let summary):
            try checkMade(slice, node)
            try checkKept(before, slice, node)
            try checkApplied(slice, summary, node)
            try checkTaken(node, from: self.node(of: end.other))
            try checkLiveQueries(node)
            storeMoved(node)
            try handle(.applied(outcome), end)
        case .refused(let summary), .incomplete(let summary):
            guard summary.vector == node.summary.vector else {
                throw Violation(.wrongState, "\(node.name) refused a slice and yet its vector moved.")
            }
            try handle(.applied(outcome), end)
        }
    }

    /// A store that hears from others what it has written, and does not know, was set back: by then it has another id.
    private func checkSelf(_ node: SimulatedNode, taking slice: Slice) throws {
        let replica = node.summary.replica
        guard slice.targetVector[replica] > node.summary.vector[replica], !taint.hasLies else { return }
        throw Violation(.dotReused, "\(node.name) takes commits of the replica that it is itself from others, and goes on as it.")
    }

    /// Two nodes that know the same hold the same, so that there is never anything to divide or to mend.
    private func compare(_ task: DigestTask, _ store: SyncedDatabase, _ end: EndID) throws {
        let node = node(of: end)
        let before = try shown(by: node)
        let result = try store.perform(task)
        if case .read = task { return try handle(.digest(result), end) }
        // The store has learned more since the peer's question was asked: it says nothing of its rows.
        if case .unavailable = result { return try handle(.digest(result), end) }
        // Rows that have waited in vain for the rest of a catch-up are compared in the end.
        guard try taint.hasLies || !workload.tablesLosingColumns.isEmpty || !store.ahead().isEmpty else {
            throw Violation(.wrongState, "\(node.name) knows what its peer knows, and yet holds other rows.")
        }
        try checkLiveQueries(node)
        guard case .mended(_, let changed) = result, case .mend(_, let slice) = task, !changed.isEmpty else {
            return try handle(.digest(result), end)
        }
        try checkMended(changed, with: slice, node)
        try checkKept(before, nil, node)
        storeMoved(node)
        if result.hasMended, let id = links[end.link].ends[end.side]?.id { route(.tell(.mended, .allBut(id)), node) }
        try handle(.digest(result), end)
    }

    private func failed(_ error: StoreError, _ node: SimulatedNode, _ end: EndID) throws {
        trace.note(now, "\(node.name) fails: \(error.message)")
        switch error.code {
        case .sliceRejected where taint.reachesStores || links[end.link].damagedEpoch == end.epoch:
            try handle(.close(CloseReason(.protocolError, error.message)), end)
        case _ where node.isWithoutPower: try losePower(node)
        case _ where excuses(error, node):
            try checkUnchanged(node)
            try handle(.storeFailed(error.message), end)
        default:
            throw Violation(.storeFailed, "\(node.name) (\(error.code)): \(error.message)")
        }
    }

    /// The store has committed: its router hears of it, and what is new is made durable a little later.
    ///
    /// - Parameter isForeign: whether another process of the machine has committed, of which the node's hears later.
    func storeMoved(_ node: SimulatedNode, isForeign: Bool = false) {
        node.noteMoment()
        hearNews(of: node, isForeign: isForeign)
        plan(.flush(node: node.index, generation: node.generation), at: now + Self.flushMilliseconds)
    }

    /// How long a commit waits for others before they are made durable together.
    static let flushMilliseconds: Int64 = 100

    func flush(_ node: SimulatedNode, _ generation: Int) throws {
        guard let store = node.store, !node.isAsleep, node.generation == generation, node.durable != node.summary.vector else { return }
        do {
            node.durable.join(script.needsDisks ? try store.makeDurable() : node.summary.vector)
        } catch  where excuses(error, node) {
            if node.isWithoutPower { return try losePower(node) }
            return plan(.flush(node: node.index, generation: generation), at: now + Self.flushMilliseconds)
        }
        node.noteDurable()
        route(.durable(node.durable), node)
    }

    /// A session that accuses its peer, or gives up, must have a reason.
    private func justify(_ reason: CloseReason, _ end: EndID) throws {
        trace.note(now, "\(node(of: end).name) closes (\(reason.code)): \(reason.message)")
        switch reason.code {
        case .shutdown, .timeout, .identityChanged, .replaced: return
        case _ where links[end.link].damagedEpoch == end.epoch: return
        case .storeFailed where node(of: end).isDiskLimited || node(of: end).isDiskBroken: return
        // The peer said so when its disk was full or broken; by the time this is heard it may work again.
        case .storeFailed where reason.isFromPeer && script.hasBadDisks: return
        default: throw Violation(.unjustAccusation, "\(node(of: end).name) closes (\(reason.code)): \(reason.message)")
        }
    }

    // MARK: Identity

    /// Another store bears the same id. At once: the session that found it out ends with it.
    private func renewIdentity(of node: SimulatedNode, _ end: EndID) throws {
        guard let store = node.store else { return }
        let replica = node.summary.replica
        do {
            _ = try store.renewIdentity(from: replica)
        } catch let error as StoreError {
            return try failed(error, node, end)
        }
        try identityChanged(node, end)
        guard node.summary.replica != replica else {
            throw Violation(.dotReused, "\(node.name) goes on as \(replica), which another store is, too.")
        }
    }

    /// The store has said who it is: to the session that asked, and so to all.
    private func identityChanged(_ node: SimulatedNode, _ end: EndID) throws {
        guard let store = node.store else { return }
        let before = node.summary
        node.summary = try store.summary()
        guard node.summary.vector.covers(before.vector), node.summary.clock >= before.clock else {
            throw Violation(.vectorWentBack, "\(node.name) takes another replica id and goes from \(before) to \(node.summary).")
        }
        guard node.summary.replica == before.replica || script.setsBack else {
            throw Violation(.identityLost, "\(node.name) takes another replica id, and was never copied or set back.")
        }
        guard let id = links[end.link].ends[end.side]?.id else { return }
        hearNews(of: node)
        route(.identified(node.summary, id), node)
        try handle(.identity(node.summary), end)
    }
}

extension SliceLimits {
    /// Where slices are one row each, texts are cut, too.
    init(_ conditions: NetworkConditions) {
        self.init(rowsMax: conditions.sliceRowsMax)
        if conditions.sliceRowsMax == 1 { textBytesMax = 150 }
    }
}
