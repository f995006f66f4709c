import TestSupport
import Testing

@testable import KithSync

/// The risk: somebody between two devices makes both screens show the same numbers.
@Suite struct ManInTheMiddleTests {
    private static let codes: UInt64 = 4_096

    /// The attacker's end of a connection to one honest device, in either role. It plays by the rules, since everything else is refused.
    private struct Victim {
        private var session: PairingSession
        private let transcript: PairingTranscript
        private let role: PairingRole
        private let now = Instant(milliseconds: 0)
        /// What the victim said and the attacker has not used.
        private(set) var heard: [[UInt8]] = []

        init(_ role: PairingRole, id: UInt8, _ cryptography: StandInCryptography, _ random: inout SplitMix64) {
            let own = [UInt8](repeating: id, count: 32)
            let attacker = [UInt8](repeating: 0xEE, count: 32)
            let configuration = PairingSession.Configuration(own: own, peer: attacker, role: role, app: "test", method: .numbers)
            session = PairingSession(configuration, nonce: random.nonce(), cryptography: cryptography)
            let isAcceptor = role == .acceptor
            transcript = PairingTranscript(
                cryptography: cryptography, acceptor: isAcceptor ? own : attacker, initiator: isAcceptor ? attacker : own,
                app: "test")
            self.role = role
            tell(.connected)
        }

        var code: PairingCode? { session.code }
        var isGuess: Bool { session.isGuess }

        mutating func tell(_ input: PairingSession.Input) {
            for effect in session.handle(input, now: now) {
                if case .send(let bytes) = effect { heard.append(Array(bytes.dropFirst())) }
            }
        }

        /// The attacker's first word: what fixes its nonce.
        mutating func fix(_ nonce: [UInt8]) {
            let message: PairingMessage =
                role == .acceptor
                ? .open(version: 1, method: 1, value: transcript.commitment(to: nonce), app: transcript.app) : .nonce(nonce)
            tell(.received(message.encoded))
        }

        /// The victim's code, which the attacker knows once it has heard the victim's nonce.
        func foreseenCode(_ nonce: [UInt8]) -> PairingCode? {
            guard let theirs = heard.last else { return nil }
            return role == .acceptor
                ? transcript.code(acceptorNonce: theirs, initiatorNonce: nonce)
                : transcript.code(acceptorNonce: nonce, initiatorNonce: theirs)
        }

        mutating func reveal(_ nonce: [UInt8]) {
            if role == .acceptor { tell(.received(PairingMessage.reveal(nonce).encoded)) }
        }
    }

    @Test func `a hundred thousand attacks win no more than chance`() {
        var random = SplitMix64(seed: 5)
        let cryptography = StandInCryptography(codes: Self.codes)
        let roles: [(PairingRole, PairingRole)] = [
            (.acceptor, .acceptor), (.acceptor, .initiator), (.initiator, .acceptor), (.initiator, .initiator),
        ]
        var wins = 0
        for attack in 0..<100_000 {
            let nonces = (random.nonce(), random.nonce())
            var first = Victim(roles[attack % 4].0, id: 1, cryptography, &random)
            var second = Victim(roles[attack % 4].1, id: 2, cryptography, &random)
            first.fix(nonces.0)
            first.reveal(nonces.0)
            second.fix(nonces.1)
            second.reveal(nonces.1)
            guard let left = first.code, let right = second.code else { Issue.record("no code"); return }
            if left == right { wins += 1 }
        }
        // Binomial with p = 1/4096: mean 24.4, three standard deviations 14.8. Fewer would mean that the test does not attack.
        #expect((10...39).contains(wins), "\(wins) wins")
    }

    @Test func `without the commitment every attack wins`() {
        var random = SplitMix64(seed: 6)
        let cryptography = StandInCryptography(codes: 256, isWithoutCommitments: true)
        for _ in 0..<100 {
            var first = Victim(.acceptor, id: 1, cryptography, &random)
            var nonce = random.nonce()
            first.fix(nonce)
            first.reveal(nonce)
            var second = Victim(.acceptor, id: 2, cryptography, &random)
            second.fix(nonce)
            while second.foreseenCode(nonce) != first.code { nonce = random.nonce() }
            second.reveal(nonce)
            #expect(second.code != nil && second.code == first.code)
        }
    }

    @Test func `with the commitment the same attack is found out`() {
        var random = SplitMix64(seed: 6)
        let cryptography = StandInCryptography(codes: 256)
        for _ in 0..<100 {
            var first = Victim(.acceptor, id: 1, cryptography, &random)
            var nonce = random.nonce()
            first.fix(nonce)
            first.reveal(nonce)
            nonce = random.nonce()
            var second = Victim(.acceptor, id: 2, cryptography, &random)
            let committed = nonce
            second.fix(nonce)
            while second.foreseenCode(nonce) != first.code || nonce == committed { nonce = random.nonce() }
            second.reveal(nonce)
            #expect(second.code == nil)
            #expect(second.heard.last == [PairingFailure.Code.commitmentBroken.rawValue])
        }
    }

    /// Who dials knows the numbers before the screen shows them, and may hang up where they do not fit.
    @Test func `hanging up in time gives no free guesses`() {
        var random = SplitMix64(seed: 7)
        let cryptography = StandInCryptography(codes: 512)
        var wins = 0
        for _ in 0..<5_000 {
            var nonce = random.nonce()
            var first = Victim(.acceptor, id: 1, cryptography, &random)
            first.fix(nonce)
            first.reveal(nonce)
            var window = PairingWindow(now: Instant(milliseconds: 0), milliseconds: 120_000)
            var guesses = 0
            while window.begin(Instant(milliseconds: 0)) {
                guesses += 1
                nonce = random.nonce()
                var second = Victim(.acceptor, id: 2, cryptography, &random)
                second.fix(nonce)
                if second.foreseenCode(nonce) == first.code {
                    wins += 1
                    break
                }
                second.tell(.disconnected)
                window.end(isGuess: second.isGuess)
            }
            #expect(guesses <= PairingWindow.failuresMax)
        }
        // Binomial with p = 3/512: mean 29.3, three standard deviations 16.2.
        #expect((13...46).contains(wins), "\(wins) wins")
    }
}

extension SplitMix64 {
    fileprivate mutating func nonce() -> [UInt8] {
        withUnsafeBytes(of: (next(), next(), next(), next())) { Array($0) }
    }
}
