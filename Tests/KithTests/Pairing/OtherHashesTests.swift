import Testing

@testable import Kith
@testable import KithSync

/// The risk: this version hashes something else than what docs/pairing.md says, and pairs with no other.
/// The numbers were computed with Python's `hashlib` and `hmac`.
@Suite struct OtherHashesTests {
    private let transcript = PairingTranscript(
        cryptography: NodeCryptography(), acceptor: Array(0..<32), initiator: Array(32..<64))
    private let acceptorNonce = [UInt8](64..<96)
    private let initiatorNonce = [UInt8](96..<128)

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    }

    @Test func theCommitmentNeverChanges() {
        #expect(hex(transcript.commitment(to: initiatorNonce)) == "068777763d15f9b013a0e7db3d9cbf27fe4827d68d52f053a2b804db83d907ca")
    }

    @Test func theSixDigitsNeverChange() {
        #expect(transcript.code(acceptorNonce: acceptorNonce, initiatorNonce: initiatorNonce).digits == "157601")
    }

    @Test func theProofsNeverChange() {
        let proofs = [PairingRole.acceptor, .initiator].map {
            hex(transcript.proof(of: $0, token: Array(0..<16), acceptorNonce: acceptorNonce, initiatorNonce: initiatorNonce))
        }
        #expect(
            proofs == [
                "c42793137f1963d4bab9ba460654defd0bb3639f36f9a23f6b606448d9e1d491",
                "3f39575277206ff9dd0a56e0f7d70db0a5000a061196f346799ede000edafb0d",
            ])
    }
}
