import KithDiscovery
import KithSync
import KithTransport
import KithTrust
import Logging

/// A window in which this device can be paired with another one, once.
///
///     let pairing = try Pairing(key: key, trust: trust, configuration: PairingConfiguration(app: "org.example.pantry", name: "attic"))
///     async let outcome = pairing.run()
///     for await event in pairing.events {
///         if case .compare(let code) = event { await pairing.answer(isSame: askWhether(code), to: code) }
///     }
///
/// It works beside a running ``Node`` of the same device, which notices the new device by itself. Only one attempt goes on
/// at a time; whoever comes meanwhile is told to wait. See docs/pairing.md.
public actor Pairing {
    /// What happens, for one reader; ends with `run()`.
    public nonisolated let events: AsyncStream<PairingEvent>

    let configuration: PairingConfiguration
    let transport: Transport
    let discovery: Discovery?
    var targets: PairingTargets
    private let key: DeviceKey
    private let trust: TrustStore
    /// The household that is made if neither device has one.
    private let candidate: Household
    private let logger: Logger
    private let ownName: InstanceName
    private let happened: AsyncStream<PairingEvent>.Continuation
    private let outcomes: AsyncStream<PairingOutcome>
    private let decided: AsyncStream<PairingOutcome>.Continuation
    private var window: PairingWindow
    private var current: PairingAttempt?
    /// Connections that are being told to come later.
    private var leaving = 0
    /// A device that this one trusts since an attempt that was replaced at its end, and has not paired with since.
    private var trustedAlone: (device: TrustedDevice, failure: PairingFailure)?
    /// Devices that a person said no to, or that do not know the token.
    private var refused: Set<DeviceID> = []
    /// Devices at which a person said no to this one.
    private var refusing: Set<DeviceID> = []

    /// Connections that are told why they are closed, at once.
    static let leavingMax = 16

    /// Opens the window; its time begins now.
    /// - Throws: ``NodeError`` if the key cannot be used.
    public init(
        key: DeviceKey, trust: TrustStore, configuration: PairingConfiguration, logger: Logger = Logger(label: "kith.pairing")
    ) throws(NodeError) {
        var limits = TransportConfiguration()
        limits.applicationProtocol = PairingLimits.applicationProtocol
        limits.initialFrameBytesMax = PairingLimits.messageBytesMax
        limits.frameBytesMax = PairingLimits.messageBytesMax
        do throws(TransportError) {
            // Anybody may come as far as the exchange of numbers; that is what it is for.
            transport = try Transport(key: key, configuration: limits, admits: { _ in true }, logger: logger)
        } catch {
            throw NodeError(.invalidIdentity, error.message)
        }
        do throws(TrustError) {
            candidate = try Household.founded(as: configuration.name, by: key)
        } catch {
            throw NodeError(.invalidIdentity, error.message)
        }
        self.key = key
        self.trust = trust
        self.configuration = configuration
        self.logger = logger
        var random = SystemRandomNumberGenerator()
        ownName = .random(using: &random)
        discovery = configuration.usesDiscovery ? Discovery(logger: logger) : nil
        targets = PairingTargets(own: ownName, address: configuration.address, now: MonotonicClock.now)
        window = PairingWindow(now: MonotonicClock.now, milliseconds: configuration.windowMilliseconds)
        (events, happened) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        (outcomes, decided) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Runs until a device is paired or the window is closed. To be called once.
    /// - Throws: ``NodeError`` if a port that was asked for is taken.
    public func run() async throws(NodeError) -> PairingOutcome {
        defer { happened.finish() }
        let port = configuration.method.isListening ? try await listen() : nil
        report(.open(port: port))
        let outcome: PairingOutcome = await withDiscardingTaskGroup { group in
            if let discovery {
                if let port { await announce(port, by: discovery) }
                group.addTask { await discovery.run() }
                if configuration.method.isDialling, configuration.address == nil { group.addTask { await self.follow(discovery) } }
            }
            group.addTask { await self.accept() }
            if configuration.method.isDialling { group.addTask { await self.dial() } }
            group.addTask { await self.closeInTime() }
            let outcome = await outcomes.first { _ in true }
            group.cancelAll()
            await transport.close()
            return outcome ?? .cancelled
        }
        if case .paired = outcome { return outcome }
        return trustedAlone.map { PairingOutcome.trustedAlone($0.device, $0.failure) } ?? outcome
    }

    /// A person has compared `code` with the other screen. Without effect if other digits are shown by now.
    public func answer(isSame: Bool, to code: PairingCode) async {
        await current?.answer(isSame: isSame, to: code)
    }

    // MARK: Announcing

    /// The attribute of an announcement that says how a device waits to be paired.
    static let attribute = "pair"

    private func announce(_ port: Int, by discovery: Discovery) async {
        var attributes = TXTRecord()
        // A short ASCII key with a short value always fits.
        try? attributes.set(Self.attribute, to: configuration.method.attribute)
        try? attributes.set(AppMark.attribute, to: AppMark(of: configuration.app).bytes)
        await discovery.announce(Advertisement(name: ownName, port: UInt16(clamping: port), attributes: attributes))
    }

    // MARK: Attempts

    var mayDial: Bool { current == nil && window.isOpen(MonotonicClock.now) }

    func report(_ event: PairingEvent) {
        happened.yield(event)
    }

    /// Lets the device at the other end of `connection` try, unless another one is trying or has been refused.
    func take(_ connection: Connection) async {
        let attempt = makeAttempt(connection)
        // People have said yes: another connection to the same device would only ask them again.
        if let current, current.connection.peer == connection.peer, await current.isDecided { return await turnAway(attempt, .busy) }
        if let code = objection(to: connection) { return await turnAway(attempt, code) }
        guard window.begin(MonotonicClock.now) else { return await turnAway(attempt, .busy) }
        let old = current
        current = attempt
        await old?.stop(.replaced)
        let result = await attempt.run()
        if current === attempt { current = nil }
        conclude(result, of: connection)
    }

    /// Says why there is no attempt, unless so many are being told that they may be a flood.
    private func turnAway(_ attempt: PairingAttempt, _ code: PairingFailure.Code) async {
        guard leaving < Self.leavingMax else { return attempt.connection.abort(reason: "too many come at once") }
        leaving += 1
        // A device that has dialled says nothing: the other side would take its first word for an attempt, and the end for a guess.
        if attempt.connection.isInitiator {
            await attempt.connection.close(reason: "no attempt is wanted")
        } else {
            await attempt.turnAway(code)
        }
        leaving -= 1
    }

    private func objection(to connection: Connection) -> PairingFailure.Code? {
        if !window.isOpen(MonotonicClock.now) { return .cancelled }
        if refused.contains(connection.peer) { return .busy }
        guard let current else { return nil }
        guard current.connection.peer == connection.peer else { return .busy }
        let choice = ConnectionChoice(
            own: key.id, peer: connection.peer, oldIsInitiator: current.connection.isInitiator, newIsInitiator: connection.isInitiator)
        return choice == .keepOld ? .replaced : nil
    }

    private func makeAttempt(_ connection: Connection) -> PairingAttempt {
        var session = PairingSession.Configuration(
            own: key.id.bytes, peer: connection.peer.bytes, role: connection.isInitiator ? .initiator : .acceptor,
            app: configuration.app, method: configuration.method.method)
        session.name = Array(ProposedName.sanitized(Array(configuration.name.utf8)).utf8)
        session.port = UInt16(clamping: configuration.nodePort)
        session.household = claim(toward: connection.peer)
        let address = connection.isInitiator ? configuration.address : nil
        let founding = session.household.kind == .new ? candidate : nil
        return PairingAttempt(connection, session, trust: trust, founding: founding, address: address) { [happened] in
            happened.yield(.compare($0))
        }
    }

    /// What this device says of its household.
    ///
    /// One that joins a household is in it for all others but the one that it was paired with: that one may have lost it.
    private func claim(toward peer: DeviceID) -> HouseholdClaim {
        let isJoining = trust.standing == .joining && trust.devices.contains { $0.id != peer }
        guard isJoining || trust.standing == .member, let household = trust.household else {
            return HouseholdClaim(.new, candidate.id.bytes)
        }
        return HouseholdClaim(configuration.joinsOther ? .yielding : .staying, household.id.bytes)
    }

    private func conclude(_ result: PairingAttempt.Result, of connection: Connection) {
        logger.debug(
            "an attempt to pair ended", metadata: ["device": "\(connection.peer.shortDescription)", "end": "\(result.end)"])
        var isFailure = result.device == nil
        if case .failed = result.end { isFailure = true }
        window.end(isGuess: isFailure && result.isGuess)
        switch (result.end, result.device) {
        case (.paired, let device?): decided.yield(.paired(device))
        case (.trustedAlone(let failure), let device?):
            if failure.code == .replaced {
                // The connection in its place makes it mutual.
                trustedAlone = (device, failure)
            } else {
                decided.yield(.trustedAlone(device, failure))
            }
        case (.failed(let failure), _), (.trustedAlone(let failure), nil): failed(failure, connection, isGuess: result.isGuess)
        case (.paired, nil): failed(PairingFailure(.unspecified), connection, isGuess: result.isGuess)
        }
    }

    private func failed(_ failure: PairingFailure, _ connection: Connection, isGuess: Bool) {
        if failure.code == .refused, failure.isFromPeer { refusing.insert(connection.peer) }
        // A device at which a person said no turns this one away from then on, which is nothing new.
        let isKnown = refusing.contains(connection.peer) && failure.code == .busy
        // A device that dialled, and wants no attempt with this one, closes the connection before it says anything.
        let isUnbegun = !connection.isInitiator && !isGuess && failure.code == .connectionLost
        if failure.code != .replaced, !isKnown, !isUnbegun {
            report(.failed(failure, failures: window.failures, failuresMax: PairingWindow.failuresMax))
        }
        if failure.code == .otherHousehold || configuration.address != nil && connection.isInitiator && failure.code.isFinal {
            decided.yield(.failed(failure))
        } else if window.isExhausted {
            decided.yield(.tooManyFailures(window.failures))
        } else if isRefusal(failure) {
            refused.insert(connection.peer)
        }
    }

    /// Whether `failure` says that the other device is not the right one: a person here said so, or it does not know the token.
    private func isRefusal(_ failure: PairingFailure) -> Bool {
        failure.code == .refused && !failure.isFromPeer || failure.code == .wrongToken && !configuration.method.isListening
    }

    private func closeInTime() async {
        try? await Task.sleep(for: .milliseconds(configuration.windowMilliseconds))
        // Who has begun to compare may finish.
        while !Task.isCancelled, current != nil { try? await Task.sleep(for: .milliseconds(100)) }
        if !Task.isCancelled { decided.yield(.windowOver(failures: window.failures)) }
    }
}

extension PairingFailure.Code {
    /// Whether trying again at the same device leads nowhere.
    fileprivate var isFinal: Bool {
        switch self {
        case .refused, .wrongToken, .otherMethod, .unsupportedVersion, .commitmentBroken, .otherApp: true
        default: false
        }
    }
}
