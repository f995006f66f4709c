import KithCausality

extension PeerSession {
    mutating func react(to input: Input) throws(CloseReason) {
        switch input {
        case .connected(let summary, let durable, let ahead, let wallClockMilliseconds):
            self.ahead = ahead
            try greet(summary, durable: durable, wallClockMilliseconds: wallClockMilliseconds)
        case .received(let bytes):
            try receive(bytes)
        case .committed(let summary):
            try local.learn(summary)
        case .relayed(let relay):
            leave(relay)
        case .sliceRead(let slice):
            try read(slice)
        case .applied(let outcome):
            try applied(outcome)
        case .digest(let result):
            try pursue(comparison?.done(result, clock.now))
        case .mended:
            try pursue(comparison?.changed())
        case .storeFailed(let message):
            throw CloseReason(.storeFailed, message)
        case .durable(let vector):
            local.becameDurable(vector)
            if local.owesNews { owesAcknowledgement = true }
        case .identity(let summary):
            try settle(summary)
        case .neighbours(let replicas):
            forwarding.neighbours = replicas.sorted()
        case .household(let bytes):
            if capabilities.contains(.household) { try send(.household(bytes)) }
        case .tick(let wallClockMilliseconds, let isHearing):
            clock.readWallClock(wallClockMilliseconds)
            if isHearing { clock.lastReceived = clock.now }
            try tick()
        case .close(let reason):
            throw reason
        }
    }

    private mutating func greet(
        _ summary: StoreSummary, durable: VersionVector, wallClockMilliseconds: Int64
    ) throws(CloseReason) {
        guard case .unconnected = phase else { return }
        try local.learn(summary)
        local.becameDurable(durable)
        clock.readWallClock(wallClockMilliseconds)
        clock.lastReceived = clock.now
        guard summary.heads.count < WireLimits.replicasMax else {
            throw CloseReason(.tooLarge, "The store knows \(summary.heads.count) replicas, more than the protocol can carry.")
        }
        var hello = Hello(
            versions: configuration.versions, replica: summary.replica, app: configuration.app.description,
            group: configuration.group, software: configuration.software, capabilities: configuration.capabilities.union(.texts),
            wallClockMilliseconds: wallClockMilliseconds, clock: summary.clock,
            heads: sayable(summary.heads), durable: sayable(local.told()), resumption: summary.resumption)
        told = hello.knowledge
        if told.heads.count > configuration.headsSpelledMax {
            toldHash = HeadsHash(of: told.heads)
            hello.knowledge = Knowledge(heads: [])
            (hello.headsHash, hello.saysMore) = (toldHash, !told.isPlain)
        }
        // What it names is proven to a peer that has said what it knows.
        perform(.send(FrameCodec.encode(.hello(hello))))
        phase = .greeting(deadline: clock.now.advanced(byMilliseconds: configuration.timing.helloMilliseconds))
    }

    /// Leaves it to the sender of a slice to bring it to the peer, if it said that it does.
    private mutating func leave(_ relay: Relay) {
        guard let peer, let own = local.summary?.replica else { return }
        forwarding.expect(relay, at: peer, own: own, now: clock.now, timing: configuration.timing)
    }

    private mutating func read(_ slice: Slice?) throws(CloseReason) {
        let others = forwarding.alsoSentTo(besides: peer)
        if let frame = try sender.read(slice, storeKnows: local.vector, alsoSentTo: others) { try send(frame) }
    }

    private mutating func applied(_ outcome: ApplyOutcome) throws(CloseReason) {
        switch outcome {
        case .applied(let summary):
            guard let slice = receiver.applied() else { return }
            try local.learn(summary)
            if slice.isLast { local.awaitDurability(of: slice.targetVector) }
            owesAcknowledgement = true
        case .refused(let summary):
            try want(since: summary.vector, summary.resumption, summary)
        case .incomplete(let summary):
            try want(since: VersionVector(), nil, summary)
        }
    }

    /// The slice that was being applied was refused: asks for another delta.
    private mutating func want(
        since: VersionVector, _ resumption: Resumption?, _ summary: StoreSummary
    ) throws(CloseReason) {
        guard receiver.refused() else { return }
        try local.learn(summary)
        try send(.want(Want(slices: receiver.slicesDone, since: since, resumption: resumption)))
    }

    /// The store has said who it is. If it still did not make the commit that the peer holds of it, the peer is wrong.
    private mutating func settle(_ summary: StoreSummary) throws(CloseReason) {
        try local.learn(summary)
        guard let claim = doubt else { return }
        doubt = nil
        if local.contradiction(in: [claim]) != nil {
            throw CloseReason(.protocolError, "It claims to hold commit \(claim.dot.sequence) of this store, which never made it.")
        }
    }

    private mutating func tick() throws(CloseReason) {
        switch phase {
        case .greeting(let deadline) where deadline <= clock.now:
            throw CloseReason(.timeout, "It did not say hello within \(configuration.timing.helloMilliseconds) ms.")
        case .learning:
            try checkSilence()
        case .open:
            try checkSilence()
            let asks = forwarding.tick(clock.now)
            if asks || clock.keepAlive(configuration.timing) <= clock.now { try ping() }
        case .unconnected, .greeting, .closed:
            break
        }
    }

    private func checkSilence() throws(CloseReason) {
        if clock.silence(configuration.timing) > clock.now { return }
        throw CloseReason(.timeout, "Nothing was heard for \(configuration.timing.silenceMilliseconds / 1_000) s.")
    }

    private mutating func ping() throws(CloseReason) {
        pings += 1
        try send(.ping(pulse(nonce: pings)))
    }

    mutating func pulse(nonce: UInt64) -> Pulse {
        Pulse(
            nonce: nonce, wallClockMilliseconds: clock.wallClockMilliseconds, vector: sayable(local.vector), durable: sayable(local.told()))
    }
}
