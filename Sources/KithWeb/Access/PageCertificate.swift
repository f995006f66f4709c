import Crypto
import Foundation
import Kith
import KithTrust
import NIOSSL

/// The key and the certificate of the page in the local network, of its own: nobody vouches for them, so browsers warn. They stay the same,
/// so that a browser warns once a year and a person can compare.
struct PageCertificate {
    /// Browsers of Apple take no certificate that is valid for longer.
    private static let validDays = 397
    /// It is made anew before it ends.
    private static let leftDays = 30
    private static let daySeconds: TimeInterval = 86_400

    let tls: TLSConfiguration
    /// SHA-256 of the certificate, as browsers show it.
    let fingerprint: String

    /// The one in `folder`, made there if there is none.
    ///
    /// - Throws: ``TrustError``, or an error of the file system.
    init(in folder: URL, now: Date = Date()) throws {
        let key = try DeviceKey.loadOrCreate(in: folder)
        let file = folder.appending(path: "certificate")
        let known = (try? Data(contentsOf: file)).flatMap { try? DeviceCertificate(derBytes: [UInt8]($0)) }
        let later = now.addingTimeInterval(Double(Self.leftDays) * Self.daySeconds)
        var certificate = known.flatMap { $0.id == key.id && $0.isValid(at: now) && $0.isValid(at: later) ? $0 : nil }
        if certificate == nil {
            // A phone's clock may be a little behind.
            let begin = now.addingTimeInterval(-Self.daySeconds)
            certificate = try key.makeCertificate(
                notValidBefore: begin, notValidAfter: begin.addingTimeInterval(Double(Self.validDays) * Self.daySeconds))
            try PrivateText.write(Data(certificate?.derBytes ?? []), to: file)
        }
        let bytes = certificate?.derBytes ?? []
        fingerprint = SHA256.hash(data: bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(separator: ":")
            .uppercased()
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: bytes, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key.privateKeyDER, format: .der)))
        tls.minimumTLSVersion = .tlsv13
        tls.applicationProtocols = ["http/1.1"]
        self.tls = tls
    }
}
