import KithTrust
import Testing

/// The risk: two versions hash differently and never pair.
@Suite struct WrongHashTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    }

    @Test func `the hash is the one of the standard`() {
        // FIPS 180-4, "abc".
        #expect(hex(PairingHash.sha256(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func `the authentication code is the one of the standard`() {
        // RFC 4231, test case 2.
        let code = PairingHash.hmacSHA256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        #expect(hex(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }
}
