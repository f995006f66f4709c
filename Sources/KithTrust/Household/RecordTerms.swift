/// What a record stands on, and how far it reaches. See docs/household.md, "Records".
package struct RecordTerms: Hashable, Sendable {
    /// Highest number, and most room.
    static let numberMax = Int(UInt16.max)

    /// The record that makes the author a member; `nil` in the first record of a household alone.
    package var warrant: MembershipRecord.ID?
    /// Which record of the author under this warrant it is, counted from 1; 0 in the first record of a household and in revocations.
    package var number = 0
    /// The author's record before it under this warrant, or the warrant; `nil` where there is no number.
    package var previous: MembershipRecord.ID?
    /// How many numbers the author of an addition hands on.
    package var room = 0
    /// How often an added device had been revoked, as far as its author knew.
    package var round = 0
    /// Of two names of a device the one with the higher edition is newer.
    package var edition = 0
    /// The addition that a revocation ends, with all others of the device in this round and earlier ones.
    package var addition: MembershipRecord.ID?
    /// The first number of the revoked device that its author did not know: what it said from there on is void.
    package var seal = 0

    package init() {}

    /// The number that the next record of this author has. An addition takes the numbers that it hands on, and more of them the
    /// more often the device had been revoked, so that nobody makes the rounds high without paying for it.
    package var next: Int { number + 1 + room + round }
}

/// Who signs: a device with its key. The simulator, and tests that need many signatures, put something faster in its place.
package struct RecordSigner: Sendable {
    package let id: DeviceID
    let publicKeyBytes: [UInt8]
    /// The 64 bytes of the signature; `nil` if the library fails.
    package let sign: @Sendable ([UInt8]) -> [UInt8]?

    init(_ key: DeviceKey) {
        self.init(id: key.id, publicKeyBytes: key.publicKeyBytes) { key.signature(of: $0) }
    }

    package init(id: DeviceID, publicKeyBytes: [UInt8], sign: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
        self.id = id
        self.publicKeyBytes = publicKeyBytes
        self.sign = sign
    }
}

/// Whose key it is, and whether a signature is of that key. Who puts something in the place of a ``RecordSigner`` does so here.
package struct RecordVerifier: Sendable {
    /// The device whose public key it is; `nil` if it is none.
    let device: @Sendable (_ key: [UInt8]) -> DeviceID?
    let isSignature: @Sendable (_ signature: [UInt8], _ bytes: [UInt8], _ key: [UInt8]) -> Bool

    package init(
        device: @escaping @Sendable (_ key: [UInt8]) -> DeviceID?,
        isSignature: @escaping @Sendable (_ signature: [UInt8], _ bytes: [UInt8], _ key: [UInt8]) -> Bool
    ) {
        self.device = device
        self.isSignature = isSignature
    }

    /// What devices sign.
    package static let devices = RecordVerifier(device: DeviceKey.device(ofPublicKey:)) { signature, bytes, key in
        DeviceKey.isSignature(signature, of: bytes, byPublicKey: key)
    }
}
