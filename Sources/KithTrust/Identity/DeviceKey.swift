import Crypto
import Foundation
import X509

/// The private key that makes this machine a device of its own: P-256, kept in a file that only its owner can read.
///
/// P-256 rather than Ed25519, because every TLS 1.3 stack must support ECDSA over P-256 (RFC 8446, 9.1) while
/// Ed25519 certificates are off by default in BoringSSL and absent from several platforms' stacks.
/// The key belongs outside the folder of the database, which people copy and back up.
public struct DeviceKey: Sendable {
    /// Name of the key's file in the identity folder.
    static let fileName = "device.key"
    /// Largest key file that is read, in bytes.
    package static let fileBytesMax = 16 * 1024

    /// The id of this device.
    public let id: DeviceID
    private let key: P256.Signing.PrivateKey

    /// A new key, in memory only.
    public init() {
        self.init(key: P256.Signing.PrivateKey())
    }

    /// The key in a PEM; `nil` if there is none.
    init?(pem: String) {
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else { return nil }
        self.init(key: key)
    }

    /// The key as PKCS#8 PEM. Secret.
    var pem: String { key.pemRepresentation }

    private init(key: P256.Signing.PrivateKey) {
        self.key = key
        id = DeviceID(publicKey: key.publicKey)
    }

    /// The key in `folder`, made there if there is none.
    ///
    /// The folder is made with mode 0700, the file with mode 0600, complete or not at all. Processes that start
    /// together get the same key. A file that is damaged or open to others is refused and never overwritten. Beside a household
    /// no key is made: the one that was lost is its member.
    /// - Throws: `TrustError` with `.missingKey`, `.exposedFile`, `.exposedFolder`, `.corruptedKey`, `.busy` or `.fileSystem`.
    public static func loadOrCreate(in folder: URL) throws(TrustError) -> DeviceKey {
        if let key = try existing(in: folder) { return key }
        try PrivateFolder.create(folder.path)
        return try EditTurn.take(beside: path(in: folder)) { () throws(TrustError) in
            if let key = try existing(in: folder) { return key }
            guard FileStatus(path: folder.appendingPathComponent(HouseholdFile.name).path) == nil else {
                throw .keyOfHouseholdMissing(folder.path)
            }
            let key = DeviceKey()
            try key.write(to: path(in: folder))
            return key
        }
    }

    /// The key in `folder`.
    /// - Throws: as `loadOrCreate(in:)`, and `.missingKey` if there is none.
    public static func load(from folder: URL) throws(TrustError) -> DeviceKey {
        guard let key = try existing(in: folder) else {
            throw TrustError(.missingKey, "There is no device key at \(path(in: folder)). It is made when the device first starts.")
        }
        return key
    }

    /// Whether there is a key in `folder`, even one that cannot be read.
    package static func exists(in folder: URL) -> Bool { FileStatus(path: path(in: folder)) != nil }

    /// The private key as PKCS#8 DER, for the TLS stack. Secret: neither log nor store it.
    package var privateKeyDER: [UInt8] { Array(key.derRepresentation) }

    /// The public key as a compressed point (SEC 1, 2.3.3): 33 bytes.
    package var publicKeyBytes: [UInt8] { Array(key.publicKey.compressedRepresentation) }

    /// An ECDSA signature with SHA-256 (FIPS 186-5) of `bytes`, as the 64 bytes of r and s; `nil` if the library fails.
    package func signature(of bytes: [UInt8]) -> [UInt8]? {
        (try? key.signature(for: bytes)).map { Array($0.rawRepresentation) }
    }

    /// The same key for agreeing on secrets with whoever knows the public key; `nil` if the library fails.
    ///
    /// What is signed and what is agreed on name different purposes, so that the one says nothing about the other (Degabriele, Lehmann,
    /// Paterson, Smart and Strefler, "On the Joint Security of Encryption and Signature in EMV", 2012).
    var agreementKey: P256.KeyAgreement.PrivateKey? { try? P256.KeyAgreement.PrivateKey(rawRepresentation: key.rawRepresentation) }

    /// A self-signed certificate that carries the public key and says nothing else about the device.
    ///
    /// The defaults are the widest validity X.509 can say (RFC 5280, 4.1.2.5), so that neither a wrong clock nor
    /// time itself separates devices; trust ends by removing the device's id, not by a date.
    ///
    /// - Parameter statements: what it says about the household, to members that have not heard yet; see ``TrustStore/statements``.
    package func makeCertificate(
        stating statements: [MembershipRecord] = [],
        notValidBefore: Date = Date(timeIntervalSince1970: 0),
        notValidAfter: Date = Date(timeIntervalSince1970: 253_402_300_799)
    ) throws(TrustError) -> DeviceCertificate {
        do {
            let name = try DistinguishedName { CommonName("kith") }
            let statement = HouseholdMessage.records(statements.map(\.bytes)).encoded
            let extensions =
                statements.isEmpty
                ? [] : [Certificate.Extension(oid: DeviceCertificate.statementIdentifier, critical: false, value: statement[...])]
            let certificate = try Certificate(
                version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
                notValidBefore: notValidBefore, notValidAfter: notValidAfter, issuer: name, subject: name,
                signatureAlgorithm: .ecdsaWithSHA256, extensions: .init(extensions), issuerPrivateKey: .init(key))
            return try DeviceCertificate(certificate)
        } catch {
            throw TrustError(.malformedCertificate, "No certificate could be made for this device: \(error)")
        }
    }

    /// The id of the device whose public key this is, a compressed point; `nil` if it is none.
    package static func device(ofPublicKey bytes: [UInt8]) -> DeviceID? {
        (try? P256.Signing.PublicKey(compressedRepresentation: bytes)).map(DeviceID.init(publicKey:))
    }

    /// Whether whoever has the public key has made this signature, in the form of ``signature(of:)``.
    package static func isSignature(_ signature: [UInt8], of bytes: [UInt8], byPublicKey key: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(compressedRepresentation: key),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: bytes)
    }

    // MARK: File

    private static func path(in folder: URL) -> String {
        folder.appendingPathComponent(fileName).path
    }

    /// Writes the key to the file at `path`, in the place of any other.
    func write(to path: String) throws(TrustError) {
        try PrivateFile.replace(path, with: Array(key.pemRepresentation.utf8))
    }

    private static func existing(in folder: URL) throws(TrustError) -> DeviceKey? {
        guard let key = try read(path(in: folder)) else { return nil }
        return try key.finishingRenewal(in: folder)
    }

    /// The key in the file at `path`; `nil` without a file.
    static func read(_ path: String) throws(TrustError) -> DeviceKey? {
        guard let bytes = try PrivateFile.read(path, bytesMax: fileBytesMax, forbiddenMode: 0o077) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), let key = try? P256.Signing.PrivateKey(pemRepresentation: text)
        else {
            throw TrustError(
                .corruptedKey,
                """
                The device key \(path) is damaged and was left as it is. Restore it from a backup; or move the folder \
                it is in away to become a new device, which the other devices must then be told to trust.
                """)
        }
        return DeviceKey(key: key)
    }
}

extension TrustError {
    fileprivate static func keyOfHouseholdMissing(_ folder: String) -> TrustError {
        TrustError(
            .missingKey,
            """
            There is a household in \(folder) and no device key: an import was interrupted, or the key was lost. Move that folder away; \
            then import the exported identity again, or pair this machine anew. The notes are not in it.
            """)
    }
}

extension DeviceKey: CustomStringConvertible, CustomReflectable {
    /// The id alone, so that no log shows the key.
    public var description: String { "DeviceKey(\(id))" }
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
