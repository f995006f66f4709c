import KithCausality

extension PeerSession {
    mutating func receive(_ bytes: [UInt8]) throws(CloseReason) {
        guard bytes.count <= receivableFrameBytesMax else {
            throw CloseReason(.protocolError, "It sent a frame of \(bytes.count) bytes; the limit is \(receivableFrameBytesMax).")
        }
        clock.lastReceived = clock.now
        let decoded: (frame: Frame, claims: Claims)?
        do {
            decoded = try FrameCodec.decodeWithClaims(bytes, incomingBases)
        } catch {
            throw CloseReason(.protocolError, "It sent a frame that cannot be read: \(error).")
        }
        guard let (frame, claims) = decoded else { return }
        switch (phase, frame) {
        case (_, .goodbye(let code, let message)):
            throw CloseReason(code, message, isFromPeer: true)
        case (.greeting, .hello(let hello)):
            try check(hello)
            let (exchange, outcome) = HeadsExchange.begin(hello, own: told, hash: toldHash)
            try go(on: exchange, outcome)
        case (.learning(var exchange), .heads(let message)):
            let outcome = try exchange.receive(message)
            try go(on: exchange, outcome)
        case (.open, .proofs(let offers)):
            try believe(offers)
        case (.open(let remote), _):
            try receive(try proving?.believed(frame, claims) ?? frame, from: remote, bytes: bytes.count)
        case (.learning, _):
            throw CloseReason(.protocolError, "It sent something else before it said what it knows.")
        case (.unconnected, _), (.greeting, _), (.closed, _):
            throw CloseReason(.protocolError, "It sent something else before its hello.")
        }
    }

    /// Throws if no session is possible with the peer that says `hello`.
    private mutating func check(_ hello: Hello) throws(CloseReason) {
        guard configuration.versions.common(with: hello.versions) != nil else {
            throw .noCommonVersion(own: configuration.versions, theirs: hello.versions)
        }
        guard hello.app == configuration.app.description else {
            throw CloseReason(
                .otherApp,
                "The two devices synchronise different apps, \u{201C}\(hello.app)\u{201D} and \u{201C}\(configuration.app)\u{201D}, and exchange nothing."
            )
        }
        guard hello.group == configuration.group else {
            refusedGroup = hello.group
            throw CloseReason(.wrongGroup, "The two devices belong to different groups.")
        }
        guard let summary = local.summary else { return }
        try proving?.check(hello.replica, isOf: configuration.peerDevice)
        guard hello.replica != summary.replica else {
            perform(.renewIdentity)
            throw CloseReason(.identityChanged, "Both stores bear the same replica id: one is a copy. They take new ones.")
        }
    }

    /// Says what must be said next for the two to learn what the other knows, or opens the session.
    private mutating func go(on exchange: HeadsExchange, _ outcome: HeadsExchange.Outcome) throws(CloseReason) {
        switch outcome {
        case .awaits(let message):
            // All that the peer knows may be said as a difference from what our hello has said.
            incomingBases = WireBases(sender: [], receiver: told.heads)
            phase = .learning(exchange)
            if let message { perform(.send(FrameCodec.encode(.heads(message)))) }
        case .known(let knowledge, let message):
            var hello = exchange.hello
            hello.knowledge = knowledge
            if let message {
                let bases = WireBases(sender: [], receiver: knowledge.heads, spelledMax: configuration.headsSpelledMax)
                perform(.send(FrameCodec.encode(.heads(message), bases)))
            }
            bases = WireBases(
                sender: told.heads, receiver: knowledge.heads, spelledMax: configuration.headsSpelledMax, sharing: local.vector)
            told = Knowledge(heads: [])
            incomingBases = bases?.turned
            try open(with: hello)
        }
    }

    private mutating func open(with hello: Hello) throws(CloseReason) {
        guard let summary = local.summary, let version = configuration.versions.common(with: hello.versions) else { return }
        let said = bases?.receiverVector ?? hello.vector
        let offers = try proving?.greet(hello, saying: said, summary) ?? []
        var (hello, known) = proving.map { hello.believed(by: $0.book, saying: said) } ?? (hello, said)
        hello.durable = hello.durable.sharing(known)
        phase = .open(Remote(hello: hello, version: version, durable: hello.durable))
        prove(offers)
        sender = SliceSender(
            peerKnows: known, resumption: hello.resumption,
            peerUnderstandsTexts: hello.capabilities.contains(.texts), ahead: ahead, bases: bases)
        compareClock(hello.wallClockMilliseconds)
        if capabilities.contains(.digest) {
            comparison = DigestComparison(
                isLeader: summary.replica < hello.replica, now: clock.now, timing: configuration.timing)
        }
        // Only the store can tell whether an earlier commit is its own, too.
        if proving == nil, let claim = hello.heads.first(where: { $0.dot.replica == summary.replica }),
            claim != summary.head(of: summary.replica)
        {
            verify(claim)
        }
    }

    /// The peer proves commits. One that this store's own device has signed, and the store does not know, shows that it is a copy.
    private mutating func believe(_ offers: [ProofOffer]) throws(CloseReason) {
        guard let proving, let summary = local.summary else { return }
        try proving.book.take(offers)
        if let peer { try proving.check(peer, isOf: configuration.peerDevice) }
        guard let claim = offers.first(where: { $0.head.dot.replica == summary.replica }) else { return }
        guard doubt == nil, claim.head != summary.head(of: summary.replica) else { return }
        // Of what is known already no signature was looked at.
        if try proving.book.isOwnWord(claim) { verify(claim.head) }
    }

    private mutating func receive(_ frame: Frame, from remote: Remote, bytes: Int) throws(CloseReason) {
        switch frame {
        case .slice(let slice, let alsoSentTo):
            let isQueued = try receiver.receive(slice, alsoSentTo: alsoSentTo, bytes: bytes)
            if !isQueued { owesAcknowledgement = true }
            sender.learn(slice.vector)
        case .acknowledge(let acknowledgement):
            try sender.acknowledged(acknowledgement.slices)
            heard(durable: acknowledgement.durable)
        case .want(let want):
            try sender.refused(want)
        case .ping(let pulse):
            heard(pulse)
            if clock.mayAnswer() { try send(.pong(self.pulse(nonce: pulse.nonce))) }
        case .pong(let pulse):
            heard(pulse)
        case .attachment(let message):
            // Who was not told that we exchange them may not know that we do not.
            if capabilities.contains(.attachments) { perform(.attachment(message)) }
        case .household(let bytes):
            if capabilities.contains(.household) { perform(.household(bytes)) }
        case .digest, .digestQuestion, .digestParts, .digestRows:
            try pursue(comparison?.receive(frame, clock.now))
        case .hello, .heads, .goodbye, .proofs:
            throw CloseReason(.protocolError, "It said hello twice.")
        }
    }

    private mutating func heard(_ pulse: Pulse) {
        sender.learn(pulse.vector)
        sender.reconsider()
        forwarding.peerSaid(sender.known, clock.now)
        heard(durable: pulse.durable)
        compareClock(pulse.wallClockMilliseconds)
    }

    private mutating func heard(durable: VersionVector) {
        guard case .open(var remote) = phase else { return }
        sender.learn(durable)
        remote.durable.join(durable)
        remote.durable = remote.durable.sharing(local.vector)
        phase = .open(remote)
    }

    private mutating func compareClock(_ milliseconds: Int64) {
        guard case .open(var remote) = phase else { return }
        let offset = clock.offset(ofPeerAt: milliseconds)
        remote.clockOffsetMilliseconds = offset.magnitude > configuration.timing.clockOffsetMilliseconds ? offset : nil
        phase = .open(remote)
    }
}

extension CloseReason {
    fileprivate static func noCommonVersion(own: ProtocolVersions, theirs: ProtocolVersions) -> CloseReason {
        let side = own.newest < theirs.newest ? "the older software is on the side that says this" : "the other side is older"
        return CloseReason(
            .unsupportedVersion,
            """
            One side understands versions \(own.oldest) to \(own.newest) of the protocol, the other \
            \(theirs.oldest) to \(theirs.newest); \(side) and needs an update.
            """)
    }
}
