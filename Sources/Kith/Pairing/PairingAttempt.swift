import Foundation
import KithSync
import KithTransport
import KithTrust

/// Runs one ``PairingSession`` over one connection.
actor PairingAttempt {
    struct Result: Sendable {
        let end: PairingEnd
        let isGuess: Bool
        /// The other device, if it is trusted now.
        let device: TrustedDevice?
    }

    nonisolated let connection: Connection
    private let trust: TrustStore
    /// The household that is made if neither device has one; `nil` if this one has.
    private let founding: Household?
    /// The address that a person gave for the other device.
    private let address: PeerAddress?
    private let onCode: @Sendable (PairingCode) -> Void
    private var session: PairingSession
    private var end: PairingEnd?
    private var device: TrustedDevice?
    private let frames: AsyncStream<[UInt8]>
    private let outgoing: AsyncStream<[UInt8]>.Continuation

    init(
        _ connection: Connection, _ configuration: PairingSession.Configuration, trust: TrustStore, founding: Household?,
        address: PeerAddress?,
        onCode: @escaping @Sendable (PairingCode) -> Void
    ) {
        self.connection = connection
        self.trust = trust
        self.founding = founding
        self.address = address
        self.onCode = onCode
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<PairingLimits.hashBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
        session = PairingSession(configuration, nonce: nonce, cryptography: NodeCryptography())
        (frames, outgoing) = AsyncStream.makeStream()
    }

    /// Whether both sides have said yes.
    var isDecided: Bool { session.isDecided }

    /// Runs until the session has ended and the connection is closed. A task that is cancelled tells the other side.
    func run() async -> Result {
        // Not a child: what is to be said at the end is said even if this task is cancelled.
        let sending = Task { await self.send() }
        handle(.connected)
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .milliseconds(100))
                    await self.handle(.tick)
                }
            }
            await receive()
            group.cancelAll()
        }
        handle(Task.isCancelled ? .stop(.cancelled) : .disconnected)
        await sending.value
        return Result(end: end ?? .failed(PairingFailure(.unspecified)), isGuess: session.isGuess, device: device)
    }

    /// Tells the other side why there will be no session.
    func turnAway(_ code: PairingFailure.Code) async {
        handle(.connected)
        handle(.stop(code))
        await send()
    }

    /// A person has compared `code`. Without effect if the session shows another one.
    func answer(isSame: Bool, to code: PairingCode) {
        if session.code == code { handle(.answered(isSame: isSame)) }
    }

    func stop(_ code: PairingFailure.Code) {
        handle(.stop(code))
    }

    // MARK: The connection

    private func receive() async {
        do {
            for try await frame in connection.frames { handle(.received(frame)) }
        } catch {
            // Whatever broke the connection, the session hears that it is gone.
        }
    }

    private func send() async {
        for await frame in frames {
            guard (try? await connection.send(frame)) != nil else { break }
        }
        await connection.close(reason: "the pairing has ended")
    }

    // MARK: The session

    private func handle(_ input: PairingSession.Input) {
        var inputs = [input][...]
        while let input = inputs.popFirst() {
            for effect in session.handle(input, now: MonotonicClock.now) {
                if let answer = perform(effect) { inputs.append(answer) }
            }
        }
    }

    /// Does what the session asks, and returns the answer if it waits for one.
    private func perform(_ effect: PairingSession.Effect) -> PairingSession.Input? {
        switch effect {
        case .send(let bytes): outgoing.yield(bytes)
        case .show(let code): onCode(code)
        case .trust(let name, let port, let choice): return trustPeer(named: name, nodePort: port, in: choice)
        case .end(let end):
            self.end = end
            outgoing.finish()
        }
        return nil
    }

    private func trustPeer(named name: [UInt8], nodePort: UInt16, in choice: HouseholdChoice) -> PairingSession.Input {
        do {
            // Where a person said that the device is, its node is as well.
            let node = try address.flatMap { nodePort == 0 ? nil : try PeerAddress(host: $0.host, port: Int(nodePort)) }
            let peer = try TrustedDevice(
                id: connection.peer, name: ProposedName.sanitized(name), addresses: node.map { [$0] } ?? [], added: Date())
            switch choice {
            case .own: device = try trust.admit(peer, founding: founding)
            case .peer(let bytes):
                guard let household = HouseholdID(bytes: bytes) else { return .trustFailed }
                device = try trust.join(household, through: peer)
            }
            return .trusted
        } catch {
            return .trustFailed
        }
    }
}
