import KithCausality
import KithStore
import KithSync

/// Signs with a hash where a device has a key.
struct TestDevice: ReplicaAuthority {
    let key: [UInt8]
    /// A key that it had before.
    var earlier: [UInt8]?
    /// How often devices have ceased to be members.
    var ended: [[UInt8]: Int] = [:]

    init(_ name: UInt8, earlier: UInt8? = nil, ended: [UInt8: Int] = [:]) {
        key = Self.key(name)
        self.earlier = earlier.map(Self.key)
        self.ended = Dictionary(uniqueKeysWithValues: ended.map { (Self.key($0), $1) })
    }

    static func key(_ name: UInt8) -> [UInt8] { [UInt8](repeating: name, count: HeadProof.Origin.keyBytes) }

    func replica(of origin: HeadProof.Origin) -> ReplicaID? { origin.replica }
    func device(of key: [UInt8]) -> [UInt8]? { Array(key.prefix(1)) }
    func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8]? { isOwn(key) ? Self.signature(of: bytes, by: key) : nil }
    func isSignature(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool {
        signature == Self.signature(of: bytes, by: key)
    }
    func isOwn(_ key: [UInt8]) -> Bool { key == self.key || key == earlier }
    func roundsEnded(of key: [UInt8]) -> Int { ended[key] ?? 0 }
    func isMember(_ key: [UInt8]) -> Bool { true }
    var householdRecords: (digest: [UInt8], messages: [[UInt8]])? { nil }

    private static func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8] {
        let hash = (key + bytes).reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return (0..<8).flatMap { shift in withUnsafeBytes(of: (hash &+ shift).bigEndian, Array.init) }
    }
}
