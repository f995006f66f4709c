import KithCausality
import KithStore
import KithSync
import KithTrust

/// Signs for the replicas of this device, and checks what others sign.
struct NodeAuthority: ReplicaAuthority {
    private let trust: TrustStore
    /// By public key: the device's own, and those that it had before.
    private let keys: [[UInt8]: DeviceKey]
    let key: [UInt8]

    init(_ key: DeviceKey, _ trust: TrustStore) {
        self.trust = trust
        self.key = key.publicKeyBytes
        keys = Dictionary((trust.retiredKeys + [key]).map { ($0.publicKeyBytes, $0) }, uniquingKeysWith: { $1 })
    }

    func replica(of origin: HeadProof.Origin) -> ReplicaID? { origin.replica }

    func device(of key: [UInt8]) -> [UInt8]? { DeviceKey.device(ofPublicKey: key)?.bytes }

    func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8]? { keys[key]?.signature(of: bytes) }

    func isSignature(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool {
        DeviceKey.isSignature(signature, of: bytes, byPublicKey: key)
    }

    func isOwn(_ key: [UInt8]) -> Bool { keys[key] != nil }

    func isMember(_ key: [UInt8]) -> Bool { DeviceKey.device(ofPublicKey: key).map(trust.isOrWasMember) ?? false }

    func roundsEnded(of key: [UInt8]) -> Int { DeviceKey.device(ofPublicKey: key).map(trust.roundsEnded) ?? 0 }

    var householdRecords: (digest: [UInt8], messages: [[UInt8]])? {
        trust.householdRecords.map { ($0.digest, $0.messages.map(\.encoded)) }
    }
}
