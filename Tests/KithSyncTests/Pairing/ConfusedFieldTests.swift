import TestSupport
import Testing

@testable import KithSync

/// The risk: two different pairings are hashed to the same, so that one field passes for another (as in CVE-2022-39250).
@Suite struct ConfusedFieldTests {
    private struct Fields: Hashable {
        /// Acceptor's id, initiator's id, acceptor's nonce, initiator's nonce.
        var values: [[UInt8]]

        var code: PairingCode {
            transcript.code(acceptorNonce: values[2], initiatorNonce: values[3])
        }

        /// All that is hashed for the code, of which the code is six digits.
        var commitment: [UInt8] { transcript.commitment(to: values[3]) }

        private var transcript: PairingTranscript {
            PairingTranscript(cryptography: StandInCryptography(), acceptor: values[0], initiator: values[1], app: "test")
        }
    }

    @Test func `two hundred swaps of fields change the code`() {
        var random = SplitMix64(seed: 11)
        var swaps = 0
        var collisions = 0
        while swaps < 200 {
            let original = Fields(values: (0..<4).map { _ in (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) } })
            for left in 0..<4 {
                for right in (left + 1)..<4 {
                    var swapped = original
                    swapped.values.swapAt(left, right)
                    if swapped.code == original.code { collisions += 1 }
                    swaps += 1
                }
            }
        }
        // Six digits: 204 swaps collide by chance once in five thousand runs, and this seed is none of them.
        #expect(collisions == 0)
    }

    @Test func `every byte of every field counts`() {
        let original = Fields(values: (0..<4).map { [UInt8](repeating: UInt8($0), count: 32) })
        for field in 0..<4 {
            for byte in 0..<32 {
                var changed = original
                changed.values[field][byte] ^= 0x80
                #expect(changed.code != original.code)
                // The acceptor's nonce is not known yet when the initiator commits.
                #expect((changed.commitment == original.commitment) == (field == 2))
            }
        }
    }

    /// Real cryptography has its own test of these, with the numbers of an independent implementation.
    @Test func `what is hashed is written down`() {
        struct Recorder: PairingCryptography {
            func hash(_ bytes: [UInt8]) -> [UInt8] { bytes }
            func authenticationCode(for bytes: [UInt8], key: [UInt8]) -> [UInt8] { key + bytes }
        }
        let a = [UInt8](repeating: 0xA, count: 32)
        let b = [UInt8](repeating: 0xB, count: 32)
        let first = [UInt8](repeating: 1, count: 32)
        let second = [UInt8](repeating: 2, count: 32)
        let transcript = PairingTranscript(cryptography: Recorder(), acceptor: a, initiator: b, app: "test")
        let app = Array("kith-pair/1 app".utf8) + b + a + Array("test".utf8)
        #expect(transcript.app == app)
        #expect(transcript.commitment(to: second) == Array("kith-pair/1 commit".utf8) + second + b + a)
        #expect(
            transcript.proof(of: .acceptor, token: [9], acceptorNonce: first, initiatorNonce: second)
                == [9] + Array("kith-pair/1 proof".utf8) + [1, 0x41, 0x41] + a + [0x42] + b + app + first + second)
    }

    @Test func `a code has six digits`() {
        #expect(PairingCode([0, 0, 0, 0, 0, 0, 0, 7]).description == "000 007")
        #expect(PairingCode([0, 0, 0, 0, 0, 0x0F, 0x42, 0x3F]).digits == "999999")
        #expect(PairingCode([0, 0, 0, 0, 0, 0x0F, 0x42, 0x40]).digits == "000000")
        #expect(PairingCode([UInt8](repeating: 0xFF, count: 32)).digits == "551615")
    }
}
