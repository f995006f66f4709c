extension PairingSession {
    mutating func receive(_ bytes: [UInt8]) throws(PairingFailure) {
        let message: PairingMessage
        do throws(WireError) {
            message = try PairingMessage(bytes)
        } catch {
            return try lose(PairingFailure(.protocolError))
        }
        if case .end(let code) = message { return try lose(PairingFailure(code, isFromPeer: true)) }
        switch (phase, message) {
        case (.awaitingOpen, .open(let version, let method, let value, let app)): try opened(version, method, value, app)
        case (.awaitingNonce, .nonce(let peerNonce)): exchanged(peerNonce)
        case (.awaitingReveal(let commitment), .reveal(let peerNonce)): try revealed(peerNonce, commitment)
        case (.awaitingProof(let peerNonce), .proof(let proof)): try proved(proof, peerNonce)
        case (.deciding(let isAccepted, peer: nil), .accept(let name, let port, let household)):
            try accepted(Acceptance(name: name, port: port, household: household), isAccepted: isAccepted)
        case (.trusting(.nothing), .done): phase = .trusting(.done)
        case (.awaitingDone, .done): end(.paired)
        default: try lose(PairingFailure(.protocolError))
        }
    }

    /// The acceptor hears the initiator's first word.
    private mutating func opened(_ version: UInt8, _ method: UInt8, _ value: [UInt8], _ app: [UInt8]) throws(PairingFailure) {
        guard version == PairingLimits.version else { throw PairingFailure(.unsupportedVersion) }
        guard PairingTranscript.isSame(app, transcript.app) else { throw PairingFailure(.otherApp) }
        guard method == configuration.method.code else { throw PairingFailure(.otherMethod) }
        send(.nonce(nonce))
        let next: Phase
        switch configuration.method {
        case .numbers:
            // Who committed knows the digits as soon as it has this nonce: hanging up now is a guess that failed.
            isGuess = true
            next = .awaitingReveal(commitment: value)
        case .token:
            next = .awaitingProof(peerNonce: value)
        }
        enter(next, milliseconds: configuration.timing.exchangeMilliseconds)
    }

    /// The initiator hears the acceptor's nonce.
    private mutating func exchanged(_ peerNonce: [UInt8]) {
        switch configuration.method {
        case .numbers:
            send(.reveal(nonce))
            isGuess = true
            decide(peerNonce)
        case .token(let token):
            send(.proof(proof(of: configuration.role, token, peerNonce)))
            enter(.awaitingProof(peerNonce: peerNonce), milliseconds: configuration.timing.exchangeMilliseconds)
        }
    }

    /// The acceptor hears the nonce that was committed to.
    private mutating func revealed(_ peerNonce: [UInt8], _ commitment: [UInt8]) throws(PairingFailure) {
        guard PairingTranscript.isSame(transcript.commitment(to: peerNonce), commitment) else {
            throw PairingFailure(.commitmentBroken)
        }
        decide(peerNonce)
    }

    private mutating func decide(_ peerNonce: [UInt8]) {
        let nonces = nonces(peerNonce)
        enter(.deciding(isAccepted: false, peer: nil), milliseconds: configuration.timing.decisionMilliseconds)
        show(transcript.code(acceptorNonce: nonces.acceptor, initiatorNonce: nonces.initiator))
    }

    /// The token has the place of the people: who proved to know it is accepted at once.
    private mutating func proved(_ proof: [UInt8], _ peerNonce: [UInt8]) throws(PairingFailure) {
        guard case .token(let token) = configuration.method else { throw PairingFailure(.protocolError) }
        guard PairingTranscript.isSame(self.proof(of: configuration.role.other, token, peerNonce), proof) else {
            isGuess = true
            throw PairingFailure(.wrongToken)
        }
        if configuration.role == .acceptor { send(.proof(self.proof(of: .acceptor, token, peerNonce))) }
        enter(.deciding(isAccepted: false, peer: nil), milliseconds: configuration.timing.exchangeMilliseconds)
        try accept(nil)
    }

    private mutating func accepted(_ peer: Acceptance, isAccepted: Bool) throws(PairingFailure) {
        if isAccepted {
            try trust(peer)
        } else {
            phase = .deciding(isAccepted: false, peer: peer)
        }
    }

    private func proof(of role: PairingRole, _ token: [UInt8], _ peerNonce: [UInt8]) -> [UInt8] {
        let nonces = nonces(peerNonce)
        return transcript.proof(of: role, token: token, acceptorNonce: nonces.acceptor, initiatorNonce: nonces.initiator)
    }

    private func nonces(_ peerNonce: [UInt8]) -> (acceptor: [UInt8], initiator: [UInt8]) {
        configuration.role == .acceptor ? (nonce, peerNonce) : (peerNonce, nonce)
    }
}
