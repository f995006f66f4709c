import Crypto
import Foundation
import KithTrust
import SwiftASN1
import TestSupport
import Testing
import X509

/// The risk: a certificate makes a peer look like somebody else, or brings the reader down.
@Suite struct FalseCertificateTests {
    @Test func `a certificate carries the ID of its key`() throws {
        let key = DeviceKey()
        let certificate = try key.makeCertificate()
        #expect(certificate.id == key.id)
        #expect(try DeviceCertificate(derBytes: certificate.derBytes) == certificate)
    }

    @Test func `the ID is the hash of the public key info`() throws {
        let key = DeviceKey()
        let publicKey = try P256.Signing.PrivateKey(derRepresentation: key.privateKeyDER).publicKey
        #expect(key.id.bytes == Array(SHA256.hash(data: publicKey.derRepresentation)))
    }

    @Test func `a certificate says nothing of the person or the machine`() throws {
        let certificate = try Certificate(derEncoded: DeviceKey().makeCertificate().derBytes)
        #expect(certificate.subject.description == "CN=kith")
        #expect(certificate.issuer.description == "CN=kith")
        #expect(certificate.extensions.isEmpty)
    }

    @Test func `a certificate is valid whatever the clock says`() throws {
        let certificate = try DeviceKey().makeCertificate()
        for year in stride(from: 0.0, through: 8000, by: 10) {
            #expect(certificate.isValid(at: Date(timeIntervalSince1970: year * 31_556_952)))
        }
    }

    @Test func `validity ends where the certificate says`() throws {
        let from = Date(timeIntervalSince1970: 1_000_000)
        let until = Date(timeIntervalSince1970: 2_000_000)
        let certificate = try DeviceKey().makeCertificate(notValidBefore: from, notValidAfter: until)
        #expect(!certificate.isValid(at: from - 1))
        #expect(certificate.isValid(at: from))
        #expect(certificate.isValid(at: until))
        #expect(!certificate.isValid(at: until + 1))
    }

    @Test func `keys of other kinds are refused`() throws {
        let name = try DistinguishedName { CommonName("kith") }
        for key in [Certificate.PrivateKey(Curve25519.Signing.PrivateKey()), .init(P384.Signing.PrivateKey())] {
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: key.publicKey, notValidBefore: .distantPast + 1e10,
                notValidAfter: Date(timeIntervalSince1970: 4e9), issuer: name, subject: name, extensions: .init(),
                issuerPrivateKey: key)
            var serializer = DER.Serializer()
            try certificate.serialize(into: &serializer)
            let error = #expect(throws: TrustError.self) { try DeviceCertificate(derBytes: serializer.serializedBytes) }
            #expect(error?.code == .malformedCertificate)
        }
    }

    @Test func `no bytes crash the reader or become another device`() throws {
        var random = SplitMix64(seed: 3)
        let key = DeviceKey()
        let good = try key.makeCertificate().derBytes
        for round in 0..<10_000 {
            var bytes = good
            switch round % 3 {
            case 0: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            case 1: bytes = random.bytes(Int.random(in: 0...400, using: &random))
            default:
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
                }
            }
            // A change outside the key is not noticed here: that is the handshake's work. A change of the key is
            // another device, or no point on the curve.
            if let certificate = try? DeviceCertificate(derBytes: bytes), certificate.id == key.id {
                #expect(round % 3 == 2)
            }
        }
    }

    @Test func `a certificate is read up to its limit and refused beyond`() {
        for count in [DeviceCertificate.bytesMax, DeviceCertificate.bytesMax + 1] {
            let error = #expect(throws: TrustError.self) {
                try DeviceCertificate(derBytes: [UInt8](repeating: 0x30, count: count))
            }
            #expect(error?.message.contains("more than") == (count > DeviceCertificate.bytesMax))
        }
    }
}
