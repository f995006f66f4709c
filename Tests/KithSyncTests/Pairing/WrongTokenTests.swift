import Testing

@testable import KithSync

/// The risk: a device is trusted that does not know the token, or learns enough to guess it.
@Suite struct WrongTokenTests {
    private let token = [UInt8](repeating: 7, count: 16)

    @Test func `every token one bit away is refused`() {
        for bit in 0..<128 {
            var wrong = token
            wrong[bit / 8] ^= 1 << UInt8(bit % 8)
            var table = PairingTable([.token(token), .token(wrong)])
            table.run()
            #expect(table.ends[0] == .failed(PairingFailure(.wrongToken)))
            #expect(table.ends[1] == .failed(PairingFailure(.wrongToken, isFromPeer: true)))
            #expect(table.trusts.allSatisfy { $0 == nil })
            #expect(table.sessions[0].isGuess)
        }
    }

    @Test func `a proof is worth nothing in another role session or pair of devices`() {
        let one = [UInt8](repeating: 1, count: 32)
        let two = [UInt8](repeating: 2, count: 32)
        let three = [UInt8](repeating: 3, count: 32)
        func proof(_ acceptor: [UInt8], _ initiator: [UInt8], _ role: PairingRole, _ first: [UInt8], _ second: [UInt8]) -> [UInt8] {
            PairingTranscript(cryptography: StandInCryptography(), acceptor: acceptor, initiator: initiator, app: "test")
                .proof(of: role, token: token, acceptorNonce: first, initiatorNonce: second)
        }
        let proofs = [
            proof(one, two, .initiator, one, two), proof(one, two, .acceptor, one, two), proof(two, one, .initiator, one, two),
            proof(one, three, .initiator, one, two), proof(three, two, .initiator, one, two), proof(one, two, .initiator, two, one),
            proof(one, two, .initiator, three, two), proof(one, two, .initiator, one, three),
        ]
        #expect(Set(proofs).count == proofs.count)
    }

    /// An acceptor that echoes everything has no proof of its own.
    @Test func `an echo is no proof`() {
        var table = PairingTable([.token(token), .token(token)])
        table.feed(1, .connected)
        table.feed(1, .received(PairingMessage.nonce(Array(table.sent[0].dropFirst(3).prefix(32))).encoded))
        table.feed(1, .received(table.sent[1]))
        #expect(table.ends[1] == .failed(PairingFailure(.wrongToken)))
    }

    @Test func `a proof of an other session is refused`() {
        var first = PairingTable([.token(token), .token(token)], seed: 1)
        first.run()
        #expect(first.ends == [.paired, .paired])
        var second = PairingTable([.token(token), .token(token)], seed: 2)
        second.feed(0, .connected)
        second.feed(0, .received(first.sent[0]))
        second.feed(0, .received(first.sent[2]))
        #expect(second.ends[0] == .failed(PairingFailure(.wrongToken)))
        #expect(second.trusts[0] == nil)
    }
}
