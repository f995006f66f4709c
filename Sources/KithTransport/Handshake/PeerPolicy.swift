import Foundation
import KithTrust

/// Judges the certificate that a peer shows. TLS itself proves that the peer holds its key.
struct PeerPolicy: Sendable {
    let ownID: DeviceID
    /// The device that was dialled; `nil` if any that is admitted will do.
    let expected: DeviceID?
    let admission: Transport.Admission

    /// - Parameters:
    ///   - chain: what the peer showed, DER-encoded, its own certificate first.
    ///   - provedKey: the key of the first certificate as the TLS library has read it, which is the one that the peer proves to hold: a
    ///     DER-encoded SubjectPublicKeyInfo.
    ///   - now: for the validity of the certificate.
    /// - Returns: the certificate of the peer, if it may go on.
    func judge(chain: [[UInt8]], provedKey: [UInt8], now: Date) -> Result<DeviceCertificate, TransportError> {
        guard let bytes = chain.first, chain.count == 1 else {
            return refuse(.refusedCertificate, "The other side showed \(chain.count) certificates instead of one.")
        }
        let certificate: DeviceCertificate
        do throws(TrustError) {
            certificate = try DeviceCertificate(derBytes: bytes)
        } catch {
            return refuse(.refusedCertificate, error.message)
        }
        // Who it is follows from the key that is proved, not from what another reader of the same bytes takes for it.
        let id = DeviceID(publicKeyInfo: provedKey)
        guard id == certificate.id else {
            return refuse(.refusedCertificate, "The certificate of the other side can be read in two ways.")
        }
        return judge(certificate, now: now)
    }

    /// Judges the certificate of a device that holds its key.
    func judge(_ certificate: DeviceCertificate, now: Date) -> Result<DeviceCertificate, TransportError> {
        let id = certificate.id
        guard id != ownID else {
            return refuse(.ownDevice, "The other side is this device itself; its own address is announced or configured.", id)
        }
        let standing = admission(certificate)
        if let expected, id != expected, standing != expected {
            return refuse(
                .unexpectedPeer,
                "The device at this address is \(id), not \(expected) as expected. The address belongs to another device now.", id)
        }
        guard standing != nil else {
            return refuse(.untrustedPeer, "The other side is the device \(id), which is not trusted here. Add it if it should be.", id)
        }
        guard certificate.isValid(at: now) else {
            return refuse(
                .refusedCertificate, "The certificate of \(id) is not valid at this moment. Check the clocks of both devices.", id)
        }
        return .success(certificate)
    }

    private func refuse(_ code: TransportError.Code, _ message: String, _ peer: DeviceID? = nil) -> Result<
        DeviceCertificate, TransportError
    > {
        .failure(TransportError(code, message, peer: peer))
    }
}
