import Foundation
import KithTrust
import NIOSSL
import Testing

@testable import KithTransport

/// The risk: the library that reads a certificate takes another key for the peer's than the one that the handshake proved.
@Suite struct TwoReadersTests {
    @Test func `whoever proves another key than the certificate seems to carry is refused`() throws {
        let (friend, thief, own) = (DeviceKey(), DeviceKey(), DeviceKey())
        let policy = PeerPolicy(ownID: own.id, expected: nil, admission: { $0.id })
        let shown = try friend.makeCertificate().derBytes
        for (key, isLetIn) in [(friend, true), (thief, false)] {
            let proved = try NIOSSLCertificate(bytes: key.makeCertificate().derBytes, format: .der).extractPublicKey().toSPKIBytes()
            #expect(DeviceID(publicKeyInfo: proved) == key.id)
            switch policy.judge(chain: [shown], provedKey: proved, now: Date()) {
            case .success(let certificate): #expect(isLetIn && certificate.id == friend.id)
            case .failure(let error): #expect(!isLetIn && error.code == .refusedCertificate)
            }
        }
        guard case .failure = policy.judge(chain: [shown], provedKey: [], now: Date()) else { Issue.record("no key was proved"); return }
    }
}
