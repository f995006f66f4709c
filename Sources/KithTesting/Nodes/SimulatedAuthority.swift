import KithCausality
import KithStore
import KithSync
import KithTrust

/// Signs for a machine, with a hash where a device has a key: in a simulation nobody tries to find one.
struct SimulatedAuthority: ReplicaAuthority {
    let key: [UInt8]
    /// What the machine holds of the household; `nil` where everybody is a member for ever.
    private let household: SimulatedHousehold?

    /// - Parameter device: the name of the machine, of at most 31 bytes.
    init(device: [UInt8], _ household: SimulatedHousehold? = nil) {
        key = Self.key(of: device)
        self.household = household
    }

    /// Whom the household takes the machine for.
    var id: DeviceID { Self.id(of: key) }

    static func key(of device: [UInt8]) -> [UInt8] {
        [2] + device + [UInt8](repeating: 0, count: HeadProof.Origin.keyBytes - 1 - device.count)
    }

    func replica(of origin: HeadProof.Origin) -> ReplicaID? { origin.replica }

    func device(of key: [UInt8]) -> [UInt8]? { Array(key.dropFirst().prefix { $0 != 0 }) }

    func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8]? { isOwn(key) ? Self.signature(of: bytes, by: key) : nil }

    func isSignature(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool { signature == Self.signature(of: bytes, by: key) }

    func isOwn(_ key: [UInt8]) -> Bool { key == self.key }

    func isMember(_ key: [UInt8]) -> Bool { household?.isOrWasMember(Self.id(of: key)) ?? true }

    func roundsEnded(of key: [UInt8]) -> Int { household?.roundsEnded(of: Self.id(of: key)) ?? 0 }

    var householdRecords: (digest: [UInt8], messages: [[UInt8]])? { household?.allRecords }

    // MARK: Records of the household

    /// Signs records.
    var signer: RecordSigner { RecordSigner(id: id, publicKeyBytes: key) { [key] in Self.signature(of: $0, by: key) } }

    static let verifier = RecordVerifier(device: id) { signature, bytes, key in signature == Self.signature(of: bytes, by: key) }

    static func id(of key: [UInt8]) -> DeviceID {
        DeviceID(bytes: key.dropFirst()) ?? DeviceID(publicKeyInfo: key)
    }

    private static func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8] {
        let hash = (key + bytes).reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return (0..<8).flatMap { shift in withUnsafeBytes(of: (hash &+ shift).bigEndian, Array.init) }
    }
}
