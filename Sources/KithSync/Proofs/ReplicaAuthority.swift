import KithCausality

/// What a device can sign, and what it takes other devices' signatures for.
package protocol ReplicaAuthority: Sendable {
    /// The public key of this device, of ``HeadProof/Origin/keyBytes`` bytes.
    var key: [UInt8] { get }

    /// The id that a key and a nonce make; ``KithCausality/ReplicaID/isOfDevice`` is true of it. `nil` if the key is none.
    func replica(of origin: HeadProof.Origin) -> ReplicaID?

    /// Who has a key, as the store names members; `nil` if the key is none.
    func device(of key: [UInt8]) -> [UInt8]?

    /// The signature of `bytes`; `nil` if `key` is neither this device's nor was.
    func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8]?

    /// Whether whoever has `key` has signed `bytes`.
    func isSignature(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool

    /// Whether a key is this device's, or was.
    func isOwn(_ key: [UInt8]) -> Bool

    /// Whether the device with this key is a member, or was one.
    func isMember(_ key: [UInt8]) -> Bool

    /// How often the device with this key has ceased to be a member.
    func roundsEnded(of key: [UInt8]) -> Int

    /// Messages with all records of the household, by which others come to judge the same of members and rounds, and a digest of these records; `nil` if
    /// this device has none to show.
    var householdRecords: (digest: [UInt8], messages: [[UInt8]])? { get }
}
