import Crypto

/// The functions of cryptography that pairing needs.
package enum PairingHash {
    /// SHA-256 (FIPS 180-4) of `bytes`: 32 bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: bytes))
    }

    /// HMAC-SHA256 (RFC 2104) of `bytes` under `key`: 32 bytes.
    package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    }
}
