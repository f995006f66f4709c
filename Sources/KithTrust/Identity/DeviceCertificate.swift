import Crypto
import Foundation
import SwiftASN1
import X509

/// A device's self-signed certificate. It proves nothing by itself: the TLS handshake proves that the peer holds
/// the key, and the id of that key says who the peer is. Names, issuer and signature in it are not looked at.
package struct DeviceCertificate: Hashable, Sendable {
    /// Largest certificate that is read, in bytes.
    package static let bytesMax = 4096

    /// The certificate, DER-encoded.
    package let derBytes: [UInt8]
    /// The id of the device whose public key it carries.
    package let id: DeviceID
    /// That public key, as a compressed point: see ``DeviceKey/publicKeyBytes``.
    package let publicKeyBytes: [UInt8]
    /// First moment at which it is valid.
    package let notValidBefore: Date
    /// Last moment at which it is valid.
    package let notValidAfter: Date
    /// What the device says about its household, as it came; empty if it says nothing. See ``TrustStore/admission(of:)``.
    let statement: [UInt8]

    /// Names the extension that carries the statement: an arc that anybody may use (Rec. ITU-T X.667), with a random number.
    static let statementIdentifier: ASN1ObjectIdentifier = [2, 25, 5_237_404_191_760_826_337]

    /// Reads a certificate that came from a peer.
    /// - Throws: `.malformedCertificate` for anything but one X.509 certificate with a P-256 key.
    package init(derBytes: [UInt8]) throws(TrustError) {
        guard derBytes.count <= Self.bytesMax else {
            throw TrustError(
                .malformedCertificate, "The certificate has \(derBytes.count) bytes, more than the \(Self.bytesMax) allowed.")
        }
        do {
            try self.init(Certificate(derEncoded: derBytes), derBytes: derBytes)
        } catch let error as TrustError {
            throw error
        } catch {
            throw TrustError(.malformedCertificate, "The certificate cannot be read: \(error)")
        }
    }

    /// Whether `date` lies in the certificate's validity.
    package func isValid(at date: Date) -> Bool {
        notValidBefore <= date && date <= notValidAfter
    }

    init(_ certificate: Certificate) throws {
        var serializer = DER.Serializer()
        try certificate.serialize(into: &serializer)
        try self.init(certificate, derBytes: serializer.serializedBytes)
    }

    private init(_ certificate: Certificate, derBytes: [UInt8]) throws {
        guard let key = P256.Signing.PublicKey(certificate.publicKey) else {
            throw TrustError(.malformedCertificate, "The certificate's key is not a P-256 key, the only kind that devices use.")
        }
        self.derBytes = derBytes
        id = DeviceID(publicKey: key)
        publicKeyBytes = Array(key.compressedRepresentation)
        statement = certificate.extensions[oid: Self.statementIdentifier].map { Array($0.value) } ?? []
        notValidBefore = certificate.notValidBefore
        notValidAfter = certificate.notValidAfter
    }
}
