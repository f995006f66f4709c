/// The two functions that pairing takes from cryptography, so that tests can tell what it hashes.
package protocol PairingCryptography: Sendable {
    /// SHA-256 (FIPS 180-4): 32 bytes.
    func hash(_ bytes: [UInt8]) -> [UInt8]
    /// HMAC-SHA256 (RFC 2104): 32 bytes.
    func authenticationCode(for bytes: [UInt8], key: [UInt8]) -> [UInt8]
}

extension PairingCryptography {
    /// The first 32 bytes of HKDF-SHA256 without salt (RFC 5869): one block of its expansion.
    func derive(from secret: [UInt8], info: [UInt8]) -> [UInt8] {
        let noSalt = [UInt8](repeating: 0, count: PairingLimits.hashBytes)
        let key = authenticationCode(for: secret, key: noSalt)
        return authenticationCode(for: info + [1], key: key)
    }
}
