import Testing

@testable import Kith
@testable import KithSync

/// The risk: this version hashes something else than what docs/pairing.md says, and pairs with no other.
/// The numbers were computed with Python's `hashlib` and `hmac`.
@Suite struct OtherHashesTests {
    private let transcript = PairingTranscript(
        cryptography: NodeCryptography(), acceptor: Array(0..<32), initiator: Array(32..<64), app: "kith.notes")
    private let acceptorNonce = [UInt8](64..<96)
    private let initiatorNonce = [UInt8](96..<128)

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    }

    @Test func `the commitment never changes`() {
        #expect(hex(transcript.commitment(to: initiatorNonce)) == "068777763d15f9b013a0e7db3d9cbf27fe4827d68d52f053a2b804db83d907ca")
    }

    @Test func `the name of an app never changes`() {
        #expect(hex(transcript.app) == "bef22615c04447abb12dbf21d7cefe6fe66a2e47c2bdca66564bfb84a20323f2")
        #expect(hex(AppMark(of: "kith.notes", salt: Array(0..<8)).bytes) == "0001020304050607326f0e38a092e601")
    }

    @Test func `the six digits never change`() {
        #expect(transcript.code(acceptorNonce: acceptorNonce, initiatorNonce: initiatorNonce).digits == "791933")
    }

    @Test func `the proofs never change`() {
        let proofs = [PairingRole.acceptor, .initiator].map {
            hex(transcript.proof(of: $0, token: Array(0..<16), acceptorNonce: acceptorNonce, initiatorNonce: initiatorNonce))
        }
        #expect(
            proofs == [
                "2943e80315c45f433b40f9f4797f53a2f28077cf678e875e6a1bed083e37f920",
                "789445f6559bd1b24c68e978d5203bf1861cbda8fd9b3f54e776bb469a382462",
            ])
    }
}
