import KithCausality
import KithStore
import KithSync

/// Signs for a machine, with a hash where a device has a key: in a simulation nobody tries to find one.
struct SimulatedAuthority: ReplicaAuthority {
    let key: [UInt8]

    /// - Parameter device: the name of the machine, of at most 31 bytes.
    init(device: [UInt8]) {
        key = Self.key(of: device)
    }

    static func key(of device: [UInt8]) -> [UInt8] {
        [2] + device + [UInt8](repeating: 0, count: HeadProof.Origin.keyBytes - 1 - device.count)
    }

    func replica(of origin: HeadProof.Origin) -> ReplicaID? { origin.replica }

    func device(of key: [UInt8]) -> [UInt8]? { Array(key.dropFirst().prefix { $0 != 0 }) }

    func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8]? { isOwn(key) ? Self.signature(of: bytes, by: key) : nil }

    func isSignature(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool { signature == Self.signature(of: bytes, by: key) }

    func isOwn(_ key: [UInt8]) -> Bool { key == self.key }

    func isMember(_ key: [UInt8]) -> Bool { true }

    func roundsEnded(of key: [UInt8]) -> Int { 0 }

    private static func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8] {
        let hash = (key + bytes).reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return (0..<8).flatMap { shift in withUnsafeBytes(of: (hash &+ shift).bigEndian, Array.init) }
    }
}
