import Crypto

/// Who a device is: the SHA-256 of its public key, as a DER-encoded SubjectPublicKeyInfo (RFC 5280, 4.1.2.7).
///
/// The id is public. Whoever holds the matching private key *is* the device; nothing else (name, address,
/// certificate fields) says who it is. Ids are compared as bytes, first byte first.
public struct DeviceID: Hashable, Sendable, Comparable {
    /// Length of an id in bytes.
    package static let byteCount = 32

    /// The 32 bytes of the hash.
    public let bytes: [UInt8]

    /// The id with these 32 bytes; `nil` for any other length.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// The id of the device whose public key this is, as a DER-encoded SubjectPublicKeyInfo.
    public init(publicKeyInfo: [UInt8]) {
        bytes = Array(SHA256.hash(data: publicKeyInfo))
    }

    /// The id of the device whose public key this is.
    init(publicKey: P256.Signing.PublicKey) {
        bytes = Array(SHA256.hash(data: publicKey.derRepresentation))
    }

    public static func < (left: DeviceID, right: DeviceID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
