import KithCausality

/// One conversation with a peer, without any I/O: what happens goes in, what is to be done comes out.
///
/// Both sides say hello; each sends what the other's vector lacks, at once in both directions; from then on each commit
/// is pushed, whoever made it. What to send is always derived from the two vectors, so that nothing needs a queue and a
/// retry is always right. See docs/protocol.md, "Session".
///
/// It never traps on input, waits for nothing, and does the same on the same inputs in every process.
package struct PeerSession: Sendable {
    /// What a session is told about its node.
    package struct Configuration: Sendable {
        /// What the node synchronises for.
        package var app: AppID
        /// The group whose members synchronise; at most ``WireLimits/groupBytesMax`` bytes.
        package var group: [UInt8]
        /// Name and version of the software, for people.
        package var software: String
        package var versions = ProtocolVersions.current
        var timing = SessionTiming()
        /// Optional abilities of this node.
        package var capabilities: Capabilities = [.digest]
        /// What the store can prove and believes; without it everything is believed, and nothing proven.
        package var proofs: (any ProofBook)?
        /// How many heads a hello, or another frame that tells a vector, spells out at most. If there are more, the hello has their hash,
        /// and other frames have differences.
        package var headsSpelledMax = 8
        /// Bytes of the largest hello that may arrive.
        package var helloBytesMax = WireLimits.helloBytesMax
        /// Which device the transport has found the peer to be, as ``ReplicaAuthority/device(of:)`` names it.
        package var peerDevice: [UInt8]?

        package init(app: AppID, group: [UInt8], software: String) {
            precondition(group.count <= WireLimits.groupBytesMax, "a group id has at most \(WireLimits.groupBytesMax) bytes")
            self.app = app
            self.group = group
            self.software = software
        }
    }

    enum Phase: Hashable, Sendable {
        /// → greeting
        case unconnected
        /// Our hello is out, the peer's is awaited. → learning, open, closed
        case greeting(deadline: Instant)
        /// The peer has said the hash of what it knows. → open, closed
        case learning(HeadsExchange)
        /// → closed
        case open(Remote)
        case closed
    }

    /// The peer, once it has said hello.
    struct Remote: Hashable, Sendable {
        let hello: Hello
        let version: UInt64
        /// What of its knowledge would survive a loss of power.
        var durable: VersionVector
        var clockOffsetMilliseconds: Int64?
    }

    let configuration: Configuration
    var phase = Phase.unconnected
    var local = LocalKnowledge()
    /// What our hello said that we know, and its hash if it said no more than that.
    var told = Knowledge(heads: [])
    var toldHash: HeadsHash?
    /// What vectors of the frames that we send are differences from, once both have said what they know.
    package internal(set) var bases: WireBases?
    /// The same for the frames that we receive.
    var incomingBases: WireBases?
    var clock = SessionClock()
    /// What rows of the store know beyond its vector, to be offered to the peer.
    var ahead = VersionVector()
    var sender = SliceSender(peerKnows: VersionVector(), resumption: nil, peerUnderstandsTexts: false)
    var receiver = SliceReceiver()
    var forwarding = Forwarding()
    /// `nil` if the peer cannot compare.
    var comparison: DigestComparison?
    /// What the peer says it holds of our replica, while the store looks whether that is true.
    var doubt: Head?
    /// What each side has proven to the other; `nil` if the store does without.
    var proving: Proving?
    var owesAcknowledgement = false
    var pings: UInt64 = 0
    /// The group of a peer that belongs to another one.
    package internal(set) var refusedGroup: [UInt8]?
    private var lastStatus: PeerStatus?
    private var effects: [Effect] = []

    package init(_ configuration: Configuration) {
        var configuration = configuration
        // Digests are compared where both know the same: a store that may not say what it knows would break off each time.
        if configuration.proofs?.isComplete == false { configuration.capabilities.remove(.digest) }
        self.configuration = configuration
        proving = configuration.proofs.map { Proving($0) }
    }

    /// The largest frame that the peer may send now, for the transport to enforce before it buffers one.
    package var receivableFrameBytesMax: Int {
        switch phase {
        case .learning, .open: WireLimits.frameBytesMax
        case .unconnected, .greeting, .closed: configuration.helloBytesMax
        }
    }

    /// The peer's replica id, once it has said hello and until the session ends.
    package var peer: ReplicaID? {
        if case .open(let remote) = phase { remote.hello.replica } else { nil }
    }

    /// The optional abilities that both sides have; none before the peer has said hello.
    package var capabilities: Capabilities {
        if case .open(let remote) = phase { configuration.capabilities.intersection(remote.hello.capabilities) } else { [] }
    }

    /// When a ``Input/tick(wallClockMilliseconds:)`` is due; `nil` if time alone changes nothing.
    package var nextDeadline: Instant? {
        switch phase {
        case .unconnected, .closed: nil
        case .greeting(let deadline): deadline
        case .learning: clock.silence(configuration.timing)
        case .open:
            min(
                clock.keepAlive(configuration.timing), clock.silence(configuration.timing),
                forwarding.deadline ?? Instant(milliseconds: .max), comparisonDeadline ?? Instant(milliseconds: .max))
        }
    }

    /// Takes in what happened and returns what is to be done, in this order.
    package mutating func handle(_ input: Input, now: Instant) -> [Effect] {
        if case .closed = phase { return [] }
        clock.now = max(clock.now, now)
        do throws(CloseReason) {
            try react(to: input)
            try proceed()
        } catch {
            end(error)
        }
        defer { effects = [] }
        return effects
    }

    /// Does what the state now allows, whatever brought it about.
    private mutating func proceed() throws(CloseReason) {
        guard case .open(let remote) = phase else { return }
        proving?.noteHere(local.vector)
        if doubt == nil, proving == nil, let slice = receiver.next, let claim = local.contradiction(in: slice.target) { verify(claim) }
        if doubt == nil {
            if let (slice, relay) = receiver.start() { perform(.apply(slice, relay: relay)) }
            if let frame = sender.nextFrame() { try send(frame) }
            forwarding.learned(sender.known, of: local.vector)
            let maySpeak = proving?.book.isComplete ?? true
            let isLeftToOthers = forwarding.isLeftToOthers(local.vector, peerKnows: sender.known)
            if maySpeak, let request = sender.nextRead(storeKnows: local.vector, mayStart: !isLeftToOthers) {
                perform(.readSlice(request))
            }
        }
        if owesAcknowledgement { try acknowledge() }
        let isQuiet = mayCompare
        try pursue(comparison?.tick(clock.now, knowing: local.vector, isQuiet: isQuiet))
        report(remote)
    }

    /// What of `vector` the peer may be told of.
    func sayable(_ vector: VersionVector) -> VersionVector { proving?.book.sayable(vector) ?? vector }

    func sayable(_ heads: [Head]) -> [Head] {
        let all = VersionVector(heads.map(\.dot))
        let vector = sayable(all)
        if vector == all { return heads }
        // What is known of a replica, and cannot be proven, comes anew with a proof.
        return heads.filter { vector.covers($0.dot) }
    }

    mutating func perform(_ effect: Effect) {
        if case .send = effect { clock.lastSent = clock.now }
        effects.append(effect)
    }

    mutating func send(_ frame: Frame) throws(CloseReason) {
        if proving == nil || frame.isReport {
            perform(.send(FrameCodec.encode(frame, bases)))
        } else {
            try send(FrameCodec.encodeWithClaims(frame, bases))
        }
    }

    /// Sends a frame, and ahead of it what proves the commits that it names.
    mutating func send(_ frame: ClaimingFrame) throws(CloseReason) {
        if let summary = local.summary, let offers = try proving?.offers(for: frame.claims, summary) { prove(offers) }
        perform(.send(frame.bytes))
    }

    /// Sends proofs. A peer that has not heard that a device is out takes it for a lie that another one vouches for its commits, and ends each session
    /// before it can hear: so it hears that first.
    mutating func prove(_ offers: [ProofOffer]) {
        if offers.isEmpty { return }
        if capabilities.contains(.household) {
            for message in proving?.reasons(for: offers) ?? [] { perform(.send(FrameCodec.encode(.household(message)))) }
        }
        perform(.send(FrameCodec.encode(.proofs(offers))))
    }

    /// Asks the store whether it made the commit that the peer holds of it. Nothing is applied or sent until it answers.
    mutating func verify(_ claim: Head) {
        doubt = claim
        perform(.verifyIdentity(claim))
    }

    /// Both know the same, nothing is on its way that would change it, and the peer is one to compare with: of those with a higher
    /// replica id the next, again and again, and each other until both have been found equal. If each agrees with its next, all agree, at
    /// a cost that grows with the members only; but not all members need have sessions with their next.
    private var mayCompare: Bool {
        guard doubt == nil, knowsSame, sender.isIdle, receiver.isIdle else { return false }
        guard let peer, let own = local.summary?.replica else { return false }
        return comparison?.isIdentical != true || !forwarding.neighbours.contains { own < $0 && $0 < peer }
    }

    /// Whether both know the same, as far as the peer has said. It proves what it has said after its hello.
    private var knowsSame: Bool { (proving?.isAllHere ?? true) && sender.known == local.vector }

    /// When to compare digests; not while there are rows to exchange, which end by themselves.
    private var comparisonDeadline: Instant? {
        guard let deadline = comparison?.deadline(for: local.vector) else { return nil }
        return mayCompare || deadline > clock.now ? deadline : nil
    }

    /// Does what the comparison of digests asks.
    mutating func pursue(_ steps: [DigestComparison.Step]?) throws(CloseReason) {
        for step in steps ?? [] {
            switch step {
            case .perform(let task): perform(.digest(task))
            case .send(let frame): try send(frame)
            }
        }
    }

    private mutating func acknowledge() throws(CloseReason) {
        owesAcknowledgement = false
        try send(.acknowledge(Acknowledgement(slices: receiver.slicesDone, durable: sayable(local.told()))))
    }

    private mutating func report(_ remote: Remote) {
        sender.share(local.vector)
        let status = PeerStatus(
            replica: remote.hello.replica, software: remote.hello.software, protocolVersion: remote.version,
            vector: sender.known, durable: remote.durable, rowsSent: sender.rowsSent, rowsReceived: receiver.rowsReceived,
            rowsToSend: sender.rowsRemaining, rowsToReceive: receiver.rowsRemaining,
            sending: sender.progress, receiving: receiver.progress,
            isInSync: knowsSame, clockOffsetMilliseconds: remote.clockOffsetMilliseconds,
            isIdentical: comparison?.isIdentical, rowsMended: comparison?.mendedCount ?? 0, mended: comparison?.mended ?? [],
            withheld: sender.withheld)
        guard status != lastStatus else { return }
        lastStatus = status
        perform(.peer(status))
    }

    private mutating func end(_ reason: CloseReason) {
        if phase != .unconnected, !reason.isFromPeer {
            perform(.send(FrameCodec.encode(.goodbye(code: reason.code, message: reason.message))))
        }
        perform(.close(reason))
        phase = .closed
    }
}
