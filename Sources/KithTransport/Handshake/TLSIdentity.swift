import KithTrust
import NIOCore
import NIOSSL

/// This device's key and certificate, ready for either end of a TLS 1.3 handshake.
struct TLSIdentity: Sendable {
    let id: DeviceID
    private let context: NIOSSLContext

    init(key: DeviceKey, certificate: DeviceCertificate, configuration: TransportConfiguration) throws(TransportError) {
        id = key.id
        do {
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: certificate.derBytes, format: .der))],
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key.privateKeyDER, format: .der)))
            tls.minimumTLSVersion = .tlsv13
            tls.maximumTLSVersion = .tlsv13
            tls.applicationProtocols = [configuration.applicationProtocol]
            tls.signingSignatureAlgorithms = [.ecdsaSecp256R1Sha256]
            tls.verifySignatureAlgorithms = [.ecdsaSecp256R1Sha256]
            // Makes either side demand a certificate, which `PeerPolicy` then judges instead of any authority.
            tls.certificateVerification = .noHostnameVerification
            tls.trustRoots = .certificates([])
            tls.shutdownTimeout = .milliseconds(Int64(configuration.closeTimeoutMilliseconds))
            context = try NIOSSLContext(configuration: tls)
        } catch {
            throw TransportError(.invalidIdentity, "The device key cannot be used for TLS: \(error)")
        }
    }

    /// The TLS handler for one connection. It sends no server name, so that a dial tells no listener more than any other.
    func makeHandler(
        isInitiator: Bool, verify: @escaping NIOSSLCustomVerificationCallback
    ) throws -> NIOSSLHandler {
        isInitiator
            ? try NIOSSLClientHandler(context: context, serverHostname: nil, customVerificationCallback: verify)
            : NIOSSLServerHandler(context: context, customVerificationCallback: verify)
    }
}
