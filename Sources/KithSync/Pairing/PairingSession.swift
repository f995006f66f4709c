/// One attempt to pair with the device at the other end of one connection, without any I/O.
///
/// Two people compare six digits, or a token proves itself; only when both sides have said yes is the list of trusted
/// devices touched. Whoever stands between two devices must fix its own nonces before it sees theirs, so it is
/// found out except by one chance in a million an attempt (Lindell, "Comparison-Based Key Exchange and the Security of
/// the Numeric Comparison Mode in Bluetooth v2.1", 2009). See docs/pairing.md.
///
/// It never traps on input, and every end has its reason.
package struct PairingSession: Sendable {
    /// What a session is told about the two devices.
    package struct Configuration: Sendable {
        /// The id of this device.
        package let own: [UInt8]
        /// The id of the other one, from the certificate that it showed for *this* connection.
        package let peer: [UInt8]
        package let role: PairingRole
        /// The app that is paired; both devices must be of the same.
        package let app: AppID
        package let method: PairingMethod
        /// What this device calls itself, in UTF-8; sent only after this side said yes.
        package var name: [UInt8] = []
        /// Where the node of this device listens.
        package var port: UInt16 = 0
        /// Its household, or the one that it would make.
        package var household = HouseholdClaim(.new, [UInt8](repeating: 0, count: PairingLimits.hashBytes))
        var timing = PairingTiming()

        package init(own: [UInt8], peer: [UInt8], role: PairingRole, app: AppID, method: PairingMethod) {
            precondition(own.count == PairingLimits.hashBytes && peer.count == PairingLimits.hashBytes, "an id has 32 bytes")
            self.own = own
            self.peer = peer
            self.role = role
            self.app = app
            self.method = method
        }
    }

    enum Phase: Hashable, Sendable {
        /// → awaitingOpen (acceptor), awaitingNonce (initiator)
        case unconnected
        /// → awaitingReveal (numbers), awaitingProof (token)
        case awaitingOpen
        /// → deciding (numbers), awaitingProof (token)
        case awaitingNonce
        /// → deciding
        case awaitingReveal(commitment: [UInt8])
        /// → deciding
        case awaitingProof(peerNonce: [UInt8])
        /// → trusting
        case deciding(isAccepted: Bool, peer: Acceptance?)
        /// The list of trusted devices is being written. → awaitingDone, ended
        case trusting(PeerWord)
        /// → ended
        case awaitingDone
        case ended
    }

    /// What the other side says with its yes.
    struct Acceptance: Hashable, Sendable {
        let name: [UInt8]
        let port: UInt16
        let household: HouseholdClaim
    }

    /// What was heard of the other side since both said yes.
    enum PeerWord: Hashable, Sendable {
        case nothing
        case done
        case failed(PairingFailure)
    }

    let configuration: Configuration
    let transcript: PairingTranscript
    let nonce: [UInt8]
    var phase = Phase.unconnected
    private var effects: [Effect] = []
    private var now = Instant(milliseconds: .min)

    /// When a ``Input/tick`` is due; `nil` if time alone changes nothing.
    package private(set) var nextDeadline: Instant?
    /// Whether both sides have said yes, so that only the list of trusted devices is still to be written.
    package var isDecided: Bool {
        switch phase {
        case .trusting, .awaitingDone: true
        default: false
        }
    }

    /// What the screen shows, from the moment that both nonces are known.
    package private(set) var code: PairingCode?
    /// Whether an end without success would have given an attacker a guess: it must count against the limit of attempts.
    package internal(set) var isGuess = false

    /// - Parameter nonce: ``PairingLimits/hashBytes`` random bytes, for this session alone.
    package init(_ configuration: Configuration, nonce: [UInt8], cryptography: any PairingCryptography) {
        precondition(nonce.count == PairingLimits.hashBytes, "a nonce has 32 bytes")
        if case .token(let token) = configuration.method {
            precondition(token.count == PairingLimits.tokenBytes, "a token has 16 bytes")
        }
        precondition(configuration.name.count <= PairingLimits.nameBytesMax, "a name has at most 64 bytes")
        self.configuration = configuration
        self.nonce = nonce
        let isAcceptor = configuration.role == .acceptor
        transcript = PairingTranscript(
            cryptography: cryptography, acceptor: isAcceptor ? configuration.own : configuration.peer,
            initiator: isAcceptor ? configuration.peer : configuration.own, app: configuration.app)
    }

    /// Takes in what happened and returns what is to be done, in this order.
    package mutating func handle(_ input: Input, now: Instant) -> [Effect] {
        if phase == .ended { return [] }
        self.now = max(self.now, now)
        do throws(PairingFailure) {
            try react(to: input)
        } catch {
            fail(error)
        }
        defer { effects = [] }
        return effects
    }

    // MARK: What the reactions do

    mutating func enter(_ phase: Phase, milliseconds: Int64?) {
        self.phase = phase
        nextDeadline = milliseconds.map { now.advanced(byMilliseconds: $0) }
    }

    mutating func send(_ message: PairingMessage) {
        effects.append(.send(message.encoded))
    }

    mutating func show(_ code: PairingCode) {
        self.code = code
        effects.append(.show(code))
    }

    mutating func trust(_ peer: Acceptance) throws(PairingFailure) {
        let choice = try HouseholdClaim.choose(own: configuration.household, peer: peer.household, role: configuration.role)
        enter(.trusting(.nothing), milliseconds: nil)
        effects.append(.trust(name: peer.name, port: peer.port, choice))
    }

    mutating func end(_ end: PairingEnd) {
        enter(.ended, milliseconds: nil)
        effects.append(.end(end))
    }

    func isDue() -> Bool {
        nextDeadline.map { $0 <= now } ?? false
    }

    private mutating func fail(_ failure: PairingFailure) {
        let isTrusted = phase == .awaitingDone
        if !failure.isFromPeer, failure.code != .connectionLost, phase != .unconnected { send(.end(failure.code)) }
        end(isTrusted ? .trustedAlone(failure) : .failed(failure))
    }
}
