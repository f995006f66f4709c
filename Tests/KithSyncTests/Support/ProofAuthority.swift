import KithCausality
import KithSync

/// Signs with a hash where a device has a key: whoever is not the device could find it, but no test tries.
struct ProofAuthority: ReplicaAuthority {
    let key: [UInt8]
    var strangers: Set<[UInt8]> = []
    /// How often devices have ceased to be members.
    var ended: [[UInt8]: Int] = [:]
    /// What it says that the household's records are.
    var householdRecords: (digest: [UInt8], messages: [[UInt8]])?

    init(_ name: UInt8) {
        key = [UInt8](repeating: name, count: HeadProof.Origin.keyBytes)
    }

    /// The origin of the `number`th replica of this device.
    func origin(_ number: UInt64 = 0) -> HeadProof.Origin {
        HeadProof.Origin(key: key, nonce: (0..<16).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) })
    }

    /// The `number`th replica of this device.
    func replica(_ number: UInt64 = 0) -> ReplicaID { replica(of: origin(number)) ?? .nobody }

    func proof(_ sequence: UInt64, time: UInt64 = 1, of number: UInt64 = 0) -> HeadProof {
        let head = Head(dot: Dot(replica: replica(number), sequence: sequence), timestamp: HybridTimestamp(rawValue: time))
        return proof(of: head, origin(number))
    }

    func proof(of head: Head, _ origin: HeadProof.Origin) -> HeadProof {
        HeadProof(head: head, origin: origin, signature: Self.signature(of: HeadProof.statement(of: head), by: key))
    }

    func replica(of origin: HeadProof.Origin) -> ReplicaID? {
        guard let nonce = origin.nonce else { return nil }
        let hash = Self.hash(origin.key + nonce)
        return ReplicaID(high: hash | 1 << 63, low: hash &* 31)
    }

    func device(of key: [UInt8]) -> [UInt8]? { key }

    func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8]? { isOwn(key) ? Self.signature(of: bytes, by: key) : nil }

    func isSignature(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool { signature == Self.signature(of: bytes, by: key) }

    func isOwn(_ key: [UInt8]) -> Bool { key == self.key }

    func isMember(_ key: [UInt8]) -> Bool { !strangers.contains(key) }

    func roundsEnded(of key: [UInt8]) -> Int { ended[key] ?? 0 }

    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    private static func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8] {
        let hash = hash(key + bytes)
        return (0..<8).flatMap { shift in withUnsafeBytes(of: (hash &+ shift).bigEndian, Array.init) }
    }
}
