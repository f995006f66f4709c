/// What a record stands on, and how far it reaches. See docs/household.md, "Records".
struct RecordTerms: Hashable, Sendable {
    /// Highest number, and most room.
    static let numberMax = Int(UInt16.max)

    /// The record that makes the author a member; `nil` in the first record of a household alone.
    var warrant: MembershipRecord.ID?
    /// Which record of the author under this warrant it is, counted from 1; 0 in the first record of a household and in revocations.
    var number = 0
    /// The author's record before it under this warrant, or the warrant; `nil` where there is no number.
    var previous: MembershipRecord.ID?
    /// How many numbers the author of an addition hands on.
    var room = 0
    /// How often an added device had been revoked, as far as its author knew.
    var round = 0
    /// Of two names of a device the one with the higher edition is newer.
    var edition = 0
    /// The addition that a revocation ends, with all others of the device in this round and earlier ones.
    var addition: MembershipRecord.ID?
    /// The first number of the revoked device that its author did not know: what it said from there on is void.
    var seal = 0

    /// The number that the next record of this author has. An addition takes the numbers that it hands on, and more of them the
    /// more often the device had been revoked, so that nobody makes the rounds high without paying for it.
    var next: Int { number + 1 + room + round }
}

/// Who signs: a device with its key. Tests that need many signatures put something faster in its place.
struct RecordSigner: Sendable {
    let id: DeviceID
    let publicKeyBytes: [UInt8]
    /// The 64 bytes of the signature; `nil` if the library fails.
    let sign: @Sendable ([UInt8]) -> [UInt8]?

    init(_ key: DeviceKey) {
        self.init(id: key.id, publicKeyBytes: key.publicKeyBytes) { key.signature(of: $0) }
    }

    init(id: DeviceID, publicKeyBytes: [UInt8], sign: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
        self.id = id
        self.publicKeyBytes = publicKeyBytes
        self.sign = sign
    }
}
