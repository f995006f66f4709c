extension PairingSession {
    mutating func react(to input: Input) throws(PairingFailure) {
        switch input {
        case .connected: begin()
        case .received(let bytes): try receive(bytes)
        case .answered(let isSame): try answered(isSame)
        case .trusted: trusted()
        case .trustFailed: try trustFailed()
        case .disconnected: try lose(PairingFailure(.connectionLost))
        case .stop(let code): try lose(PairingFailure(code))
        case .tick: if isDue() { throw PairingFailure(.timedOut) }
        }
    }

    private mutating func begin() {
        guard phase == .unconnected else { return }
        switch configuration.role {
        case .acceptor:
            enter(.awaitingOpen, milliseconds: configuration.timing.exchangeMilliseconds)
        case .initiator:
            let value = configuration.method == .numbers ? transcript.commitment(to: nonce) : nonce
            send(.open(version: PairingLimits.version, method: configuration.method.code, value: value, app: transcript.app))
            enter(.awaitingNonce, milliseconds: configuration.timing.exchangeMilliseconds)
        }
    }

    private mutating func answered(_ isSame: Bool) throws(PairingFailure) {
        guard case .deciding(isAccepted: false, let peer) = phase else { return }
        guard isSame else { throw PairingFailure(.refused) }
        try accept(peer)
    }

    /// This side says yes.
    mutating func accept(_ peer: Acceptance?) throws(PairingFailure) {
        send(.accept(name: configuration.name, port: configuration.port, household: configuration.household))
        phase = .deciding(isAccepted: true, peer: peer)
        if let peer { try trust(peer) }
    }

    private mutating func trusted() {
        guard case .trusting(let word) = phase else { return }
        send(.done)
        switch word {
        case .nothing: enter(.awaitingDone, milliseconds: configuration.timing.finishMilliseconds)
        case .done: end(.paired)
        case .failed(let failure): end(.trustedAlone(failure))
        }
    }

    private mutating func trustFailed() throws(PairingFailure) {
        guard case .trusting = phase else { return }
        throw PairingFailure(.storeFailed)
    }

    /// The other side is gone, or this one goes. What is being written cannot be called back.
    mutating func lose(_ failure: PairingFailure) throws(PairingFailure) {
        switch phase {
        case .trusting(.nothing): phase = .trusting(.failed(failure))
        case .trusting: break
        default: throw failure
        }
    }
}
