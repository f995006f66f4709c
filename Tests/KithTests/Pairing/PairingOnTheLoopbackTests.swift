import Foundation
import KithTransport
import KithTrust
import Testing

@testable import Kith
@testable import KithSync

/// The risk: what holds in the protocol does not hold over real TLS connections, with real keys and files.
@Suite struct PairingOnTheLoopbackTests {
    let attic: PairingDevice
    let desk: PairingDevice
    let token: PairingToken

    init() throws {
        attic = try PairingDevice()
        desk = try PairingDevice()
        var random = SystemRandomNumberGenerator()
        token = .random(using: &random)
    }

    private func pair(
        _ waiting: PairingConfiguration.Method, answering first: Bool?, _ dialling: PairingConfiguration.Method, answering second: Bool?,
        milliseconds: Int64 = 120_000
    ) async throws -> (PairingDevice.Record, PairingDevice.Record) {
        let (port, record) = try await wait(attic.open(waiting, name: "attic", milliseconds: milliseconds), answering: first)
        let other = try await run(desk.open(dialling, dialling: port, name: "desk\u{7}\n", milliseconds: milliseconds), answering: second)
        return (try await record.value, other)
    }

    @Test func `two people who say yes pair their devices`() async throws {
        let (first, second) = try await pair(.numbers, answering: true, .numbers, answering: true)
        #expect(first.codes == second.codes && first.codes.count == 1)
        #expect(attic.trust.isTrusted(desk.key.id) && desk.trust.isTrusted(attic.key.id))
        let atAttic = try #require(attic.trust.device(desk.key.id))
        #expect(first.outcome == .paired(atAttic))
        #expect(atAttic.name == "desk" && atAttic.addresses.isEmpty)
        // Who was given an address remembers where the node of the other one is.
        let atDesk = try #require(desk.trust.device(attic.key.id))
        #expect(second.outcome == .paired(atDesk))
        #expect(atDesk.addresses.map(\.description) == ["127.0.0.1:\(NodeConfiguration.preferredPort)"])
    }

    @Test(arguments: [true, false]) func `three devices that are paired before any of them synchronises are one household`(dials: Bool)
        async throws
    {
        let cellar = try PairingDevice()
        func pair(_ waiting: PairingDevice, _ dialling: PairingDevice) async throws {
            let (port, record) = try await wait(waiting.open(), answering: true)
            guard case .paired = try await run(dialling.open(dialling: port), answering: true).outcome else {
                Issue.record()
                return
            }
            guard case .paired = try await record.value.outcome else {
                Issue.record()
                return
            }
        }
        // The desk joins the attic's household, and has heard nothing of it when it is paired with the third.
        try await pair(attic, desk)
        if dials { try await pair(cellar, desk) } else { try await pair(desk, cellar) }
        #expect(cellar.trust.household?.id == attic.trust.household?.id && desk.trust.household?.id == attic.trust.household?.id)
        // Once more: the desk is the one that the cellar was paired with.
        if dials { try await pair(desk, cellar) } else { try await pair(cellar, desk) }
        for (one, other) in [(attic, desk), (desk, cellar), (attic, desk), (attic, cellar)] { try exchange(one.trust, other.trust) }
        let all = Set([attic, desk, cellar].map(\.key.id))
        for device in [attic, desk, cellar] {
            #expect(device.trust.standing == .member)
            #expect(Set(device.trust.devices.map(\.id)) == all.subtracting([device.key.id]))
        }
    }

    @Test(arguments: [true, false]) func `who was paired with a device that has lost the household is paired with it anew`(dials: Bool)
        async throws
    {
        let (port, record) = try await wait(attic.open(), answering: true)
        _ = try await run(desk.open(dialling: port), answering: true)
        _ = try await record.value
        try attic.trust.leave()
        try attic.trust.forgetHousehold()
        #expect(attic.trust.standing == .alone && desk.trust.standing == .joining)
        let (waiting, dialling) = dials ? (desk, attic) : (attic, desk)
        let (again, second) = try await wait(waiting.open(), answering: true)
        _ = try await run(dialling.open(dialling: again), answering: true)
        _ = try await second.value
        try exchange(attic.trust, desk.trust)
        #expect(attic.trust.standing == .member && desk.trust.standing == .member)
    }

    /// What two that synchronise tell each other of their household.
    private func exchange(_ one: TrustStore, _ other: TrustStore) throws {
        var messages = one.householdChange.map { (other, one, $0) } + other.householdChange.map { (one, other, $0) }
        for _ in 0..<100 where !messages.isEmpty {
            let (listener, speaker, message) = messages.removeFirst()
            let (answers, hasChanged) = try listener.answer(message)
            messages += answers.map { (speaker, listener, $0) }
            if hasChanged { messages += listener.householdChange.map { (speaker, listener, $0) } }
        }
    }

    @Test(arguments: [(true, false), (false, true)]) func `one no is enough`(answers: (Bool, Bool)) async throws {
        let (port, record) = try await wait(attic.open(), answering: answers.0, endsWithFailure: true)
        let other = try await run(desk.open(dialling: port), answering: answers.1)
        guard case .failed(let failure) = other.outcome else { Issue.record("\(other.outcome)"); return }
        #expect(failure.code == .refused && failure.isFromPeer == answers.1)
        let first = try await record.value
        #expect(first.failures.contains { $0.code == .refused && $0.isFromPeer == answers.0 })
        #expect(attic.trust.devices.isEmpty && desk.trust.devices.isEmpty)
    }

    @Test func `another app is refused with a reason`() async throws {
        let (port, record) = try await wait(attic.open(app: "diary"), answering: true, endsWithFailure: true)
        let other = try await run(desk.open(dialling: port, app: "pantry"), answering: true)
        #expect(other.outcome == .failed(PairingFailure(.otherApp, isFromPeer: true)))
        #expect(other.codes.isEmpty)
        #expect(try await record.value.failures.contains { $0.code == .otherApp })
        #expect(attic.trust.devices.isEmpty && desk.trust.devices.isEmpty)
    }

    @Test func `devices that dial each other pair once`() async throws {
        // The port of the second must be known before it is open.
        let probe = try Transport(key: DeviceKey(), admits: { _ in false })
        let free = try await probe.listen(host: "127.0.0.1", port: 0)
        await probe.close()
        let first = try attic.open(dialling: free)
        let (port, record) = try await wait(first, answering: true)
        var configuration = PairingConfiguration(app: "test", name: "desk", address: try PeerAddress(host: "127.0.0.1", port: port))
        configuration.port = free
        configuration.usesDiscovery = false
        let second = try await run(Pairing(key: desk.key, trust: desk.trust, configuration: configuration), answering: true)
        let other = try await record.value
        guard case .paired = second.outcome, case .paired = other.outcome else { Issue.record("\(second) \(other)"); return }
        #expect(attic.trust.devices.count == 1 && desk.trust.devices.count == 1)
    }

    @Test func `a token pairs without anybody and only once`() async throws {
        let (first, second) = try await pair(.showToken(token), answering: nil, .enterToken(token), answering: nil)
        guard case .paired = first.outcome, case .paired = second.outcome else { Issue.record("\(first) \(second)"); return }
        #expect(first.codes.isEmpty && second.codes.isEmpty)
        let third = try PairingDevice()
        let again = try await run(third.open(.enterToken(token), dialling: 1, milliseconds: 300), answering: nil)
        #expect(again.outcome == .windowOver(failures: 0))
        #expect(third.trust.devices.isEmpty)
    }

    @Test func `three wrong tokens are the last`() async throws {
        let (port, record) = try await wait(attic.open(.showToken(token)), answering: nil)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<3 {
            let stranger = try PairingDevice()
            let wrong = try await run(stranger.open(.enterToken(.random(using: &random)), dialling: port), answering: nil)
            #expect(wrong.outcome == .failed(PairingFailure(.wrongToken, isFromPeer: true)))
        }
        let first = try await record.value
        #expect(first.outcome == .tooManyFailures(3))
        #expect(attic.trust.devices.isEmpty)
        let late = try await run(desk.open(.enterToken(token), dialling: port, milliseconds: 300), answering: nil)
        #expect(late.outcome == .windowOver(failures: 0))
    }

    @Test func `a window that nobody comes to closes`() async throws {
        let record = try await run(attic.open(milliseconds: 100), answering: true)
        #expect(record.outcome == .windowOver(failures: 0))
        let expired = try await run(attic.open(.showToken(token), milliseconds: 100), answering: nil)
        #expect(expired.outcome == .windowOver(failures: 0))
    }

    @Test func `who stops tells the other side`() async throws {
        let (port, record) = try await wait(attic.open(), answering: nil, endsWithFailure: true)
        let pairing = try desk.open(dialling: port)
        let (seen, sawCode) = AsyncStream.makeStream(of: Void.self)
        let other = Task {
            async let outcome = pairing.run()
            for await event in pairing.events { if case .compare = event { sawCode.yield() } }
            return try await outcome
        }
        _ = await seen.first { true }
        other.cancel()
        #expect(try await other.value == .cancelled)
        #expect(try await record.value.failures == [PairingFailure(.cancelled, isFromPeer: true)])
        #expect(attic.trust.devices.isEmpty && desk.trust.devices.isEmpty)
    }

    @Test func `a pairing is not heard by a node nor a node by a pairing`() async throws {
        let (port, record) = try await wait(attic.open(milliseconds: 1_000), answering: true)
        let node = try Transport(key: desk.key, admits: { _ in true })
        await #expect(throws: TransportError.self) {
            let connection = try await node.dial(host: "127.0.0.1", port: port)
            // With TLS 1.3 the refusal may come with the first frame.
            for try await _ in connection.frames {}
            throw CancellationError()
        }
        #expect(try await record.value.failures.isEmpty)
    }

    /// Two devices that dial each other drop one of two connections, perhaps in the last moment.
    @Test func `who is replaced after both said yes is paired by the other connection`() async throws {
        let (port, record) = try await wait(attic.open(), answering: true)
        try await almostPair(desk.key, port)
        let second = try await run(desk.open(dialling: port), answering: true)
        guard case .paired = try await record.value.outcome, case .paired = second.outcome else { Issue.record("\(second)"); return }
        #expect(attic.trust.isTrusted(desk.key.id) && desk.trust.isTrusted(attic.key.id))
    }

    @Test func `who is replaced and never met again is named`() async throws {
        let (port, record) = try await wait(attic.open(), answering: true, endsWithFailure: true)
        try await almostPair(desk.key, port)
        // A stranger fails, and the person gives up.
        while try await !guesses(port) {}
        guard case .trustedAlone(let device, let failure) = try await record.value.outcome else { Issue.record("no end"); return }
        #expect(device.id == desk.key.id && failure.code == .replaced)
    }

    /// Pairs as `key` up to the last message, and then says that another connection has taken the place of this one.
    private func almostPair(_ key: DeviceKey, _ port: Int) async throws {
        var limits = TransportConfiguration()
        limits.applicationProtocol = PairingLimits.applicationProtocol
        let connection = try await Transport(key: key, configuration: limits, admits: { _ in true }).dial(host: "127.0.0.1", port: port)
        var configuration = PairingSession.Configuration(
            own: key.id.bytes, peer: connection.peer.bytes, role: .initiator, app: "test", method: .numbers)
        configuration.household = HouseholdClaim(.new, [UInt8](repeating: 0xFF, count: 32))
        var session = PairingSession(configuration, nonce: [UInt8](repeating: 5, count: 32), cryptography: NodeCryptography())
        var inputs = [PairingSession.Input.connected]
        var frames = connection.frames.makeAsyncIterator()
        while true {
            if inputs.isEmpty { inputs = [.received(try #require(try await frames.next()))] }
            for effect in session.handle(inputs.removeFirst(), now: Instant(milliseconds: 0)) {
                switch effect {
                case .send(let bytes): try await connection.send(bytes)
                case .show: inputs.append(.answered(isSame: true))
                case .trust:
                    try await connection.send([7, PairingFailure.Code.replaced.rawValue])
                    return await connection.close()
                case .end: throw CancellationError()
                }
            }
        }
    }

    // MARK: Strangers

    /// Connects to a window as a device that the test makes.
    private func stranger(_ port: Int, key: DeviceKey = DeviceKey()) async throws -> Connection {
        var configuration = TransportConfiguration()
        configuration.applicationProtocol = "kith-pair/1"
        return try await Transport(key: key, configuration: configuration, admits: { _ in true })
            .dial(host: "127.0.0.1", port: port)
    }

    /// An initiator knows the digits once it has the acceptor's nonce, and may hang up where they do not fit.
    @Test func `hanging up before the digits counts as a failure`() async throws {
        let (port, record) = try await wait(attic.open(), answering: true)
        for _ in 0..<3 {
            while try await !guesses(port) {}
        }
        let first = try await record.value
        #expect(first.outcome == .tooManyFailures(3))
        #expect(first.codes.isEmpty)
    }

    /// A device that dials again takes the place of its earlier attempt, whose connection it leaves open.
    @Test func `who replaces its own attempts guesses no more often`() async throws {
        let (port, record) = try await wait(attic.open(), answering: true)
        let key = DeviceKey()
        var (nonces, connections) = (0, [] as [Connection])
        for _ in 0..<12 {
            // Whoever has guessed too often may find nobody there any more.
            guard let connection = try? await stranger(port, key: key) else { continue }
            let transcript = PairingTranscript(
                cryptography: NodeCryptography(), acceptor: connection.peer.bytes, initiator: key.id.bytes, app: "test")
            try? await connection.send([1, 1, 1] + [UInt8](repeating: 9, count: 32) + transcript.app)
            var frames = connection.frames.makeAsyncIterator()
            // Whoever is not heard gets a word, or just the end of the connection.
            if let answer = try? await frames.next(), answer.first == 2 { nonces += 1 }
            connections.append(connection)
        }
        #expect(nonces <= PairingWindow.failuresMax)
        for connection in connections { connection.abort(reason: "the digits do not fit") }
        while nonces < PairingWindow.failuresMax {
            if try await guesses(port) { nonces += 1 }
        }
        #expect(try await record.value.outcome == .tooManyFailures(3))
    }

    /// Learns the acceptor's nonce and hangs up; `false` if it was told to wait, because the last attempt is not over yet.
    private func guesses(_ port: Int) async throws -> Bool {
        let key = DeviceKey()
        let connection = try await stranger(port, key: key)
        let transcript = PairingTranscript(
            cryptography: NodeCryptography(), acceptor: connection.peer.bytes, initiator: key.id.bytes, app: "test")
        try await connection.send([1, 1, 1] + [UInt8](repeating: 9, count: 32) + transcript.app)
        var frames = connection.frames.makeAsyncIterator()
        let answer = try await frames.next()?.first
        connection.abort(reason: "the digits do not fit")
        return answer == 2
    }

    @Test func `strangers who talk nonsense do not close the window`() async throws {
        let (port, record) = try await wait(attic.open(), answering: true)
        for index in 0..<30 {
            let connection = try await stranger(port)
            try? await connection.send(Array([UInt8](repeating: UInt8(index), count: 128).prefix(index * 4 + 1)))
            await connection.close()
        }
        let second = try await run(desk.open(dialling: port), answering: true)
        let first = try await record.value
        guard case .paired = first.outcome, case .paired = second.outcome else { Issue.record("\(first) \(second)"); return }
        #expect(attic.trust.devices.map(\.id) == [desk.key.id])
    }

    /// The other side of `isFinal`: what a stranger says ends nothing but its own attempt.
    @Test func `a stranger does not speak for the device at the address`() async throws {
        let (port, record) = try await wait(desk.open(dialling: 1), answering: true)
        let connection = try await stranger(port)
        try await connection.send([1, 200])
        for try await _ in connection.frames {}
        let second = try await run(attic.open(dialling: port), answering: true)
        guard case .paired = try await record.value.outcome, case .paired = second.outcome else { Issue.record("\(second)"); return }
    }
}
