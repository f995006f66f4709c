import KithSync
import KithTrust

/// What the pairing protocol asks of cryptography, answered by swift-crypto.
struct NodeCryptography: PairingCryptography {
    func hash(_ bytes: [UInt8]) -> [UInt8] { PairingHash.sha256(bytes) }
    func authenticationCode(for bytes: [UInt8], key: [UInt8]) -> [UInt8] { PairingHash.hmacSHA256(bytes, key: key) }
}
