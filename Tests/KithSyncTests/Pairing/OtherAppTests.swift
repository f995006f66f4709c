import Testing

@testable import KithSync

/// The risk: devices of two apps are paired, and the rows of one come into the file of the other.
@Suite struct OtherAppTests {
    private let methods: [PairingMethod] = [.numbers, .token([UInt8](repeating: 7, count: 16))]

    @Test func `devices of two apps show no digits and trust nobody`() {
        for method in methods {
            var table = PairingTable([method, method], apps: ["org.example.diary", "org.example.pantry"])
            table.run()
            #expect(table.ends[0] == .failed(PairingFailure(.otherApp)))
            #expect(table.ends[1] == .failed(PairingFailure(.otherApp, isFromPeer: true)))
            #expect(table.codes.allSatisfy { $0 == nil } && table.trusts.allSatisfy { $0 == nil })
            // Who comes for another app has guessed nothing.
            #expect(table.sessions.allSatisfy { !$0.isGuess })
        }
        #expect(PairingFailure(.otherApp).description.contains("another app"))
    }

    /// Somebody who stands between the two and changes what they say of their app.
    @Test func `who hides the difference changes the digits`() {
        let ids = PairingTable.ids
        func transcript(_ app: AppID) -> PairingTranscript {
            PairingTranscript(cryptography: StandInCryptography(), acceptor: ids[0], initiator: ids[1], app: app)
        }
        let (diary, pantry) = (transcript("diary"), transcript("pantry"))
        let nonces = [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)]
        #expect(diary.app != pantry.app)
        #expect(
            diary.code(acceptorNonce: nonces[0], initiatorNonce: nonces[1])
                != pantry.code(acceptorNonce: nonces[0], initiatorNonce: nonces[1]))
        let proofs = [diary, pantry].map {
            $0.proof(of: .acceptor, token: [1], acceptorNonce: nonces[0], initiatorNonce: nonces[1])
        }
        #expect(proofs[0] != proofs[1])
    }

    @Test func `an app is named differently to each device`() {
        let others = (1...9).map { number in
            PairingTranscript(
                cryptography: StandInCryptography(), acceptor: PairingTable.ids[0], initiator: [UInt8](repeating: UInt8(number), count: 32),
                app: "diary")
        }
        #expect(Set(others.map(\.app)).count == others.count)
    }

    @Test func `an id is one short word`() {
        for text in ["a", "kith.notes", "org.example.Pantry-2_b", String(repeating: "x", count: AppID.bytesMax)] {
            #expect(AppID(text)?.description == text)
        }
        for text in ["", ".", "..", " ", "a b", "a/b", "é", "a\n", String(repeating: "x", count: AppID.bytesMax + 1)] {
            #expect(AppID(text) == nil)
        }
    }
}
