import Crypto

/// One signed sentence about who belongs to a household: "A adds B", "A revokes C".
///
/// A value exists only with a valid signature: it was signed here, or read from bytes and verified. The records that its
/// author knew are named as `parents`, so that what came before, after or at the same time is known without any clock.
package struct MembershipRecord: Hashable, Sendable {
    /// The name of a record: the SHA-256 of its content, without the signature.
    package struct ID: Hashable, Sendable, Comparable {
        static let byteCount = 32
        // Four words, big-endian: sets of ids are compared all the time.
        private let words: SIMD4<UInt64>

        init?(bytes: some Collection<UInt8>) {
            guard bytes.count == Self.byteCount else { return nil }
            var words = SIMD4<UInt64>()
            for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
            self.words = words
        }

        init(of content: [UInt8]) {
            var words = SIMD4<UInt64>()
            for (index, byte) in SHA256.hash(data: MembershipRecordCodec.label + content).enumerated() {
                words[index / 8] = words[index / 8] << 8 | UInt64(byte)
            }
            self.words = words
        }

        var bytes: [UInt8] {
            (0..<Self.byteCount).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> UInt64(56 - $0 % 8 * 8)) }
        }

        package static func < (left: ID, right: ID) -> Bool {
            for index in 0..<4 where left.words[index] != right.words[index] { return left.words[index] < right.words[index] }
            return false
        }
    }

    /// Largest record, in bytes.
    package static let bytesMax = 1024
    /// Most parents of one record.
    package static let parentsMax = 16

    package let id: ID
    /// Which household it speaks of.
    package let household: HouseholdID
    /// The device that says it.
    package let author: DeviceID
    package let action: MembershipAction
    /// Records that the author knew and that no other known one had as a parent, in ascending order. Empty for the first one alone.
    package let parents: [ID]
    /// The author's wall clock, in milliseconds since 1970; for people alone.
    package let milliseconds: Int64
    /// The canonical form, signature included.
    package let bytes: [UInt8]

    /// Signs the first record of a new household; its author is the first member.
    package static func founding(as name: String, by key: DeviceKey, nonce: [UInt8], milliseconds: Int64) throws(MembershipError)
        -> MembershipRecord
    {
        try MembershipRecord(.found(name: name), household: nonce, parents: [], by: key, milliseconds: milliseconds)
    }

    /// Signs a record of a household that exists.
    init(
        _ action: MembershipAction, in household: HouseholdID, after parents: [ID], by key: DeviceKey, milliseconds: Int64
    ) throws(MembershipError) {
        try self.init(action, household: household.bytes, parents: parents, by: key, milliseconds: milliseconds)
    }

    private init(
        _ action: MembershipAction, household: [UInt8], parents: [ID], by key: DeviceKey, milliseconds: Int64
    ) throws(MembershipError) {
        let content = try MembershipRecordCodec.content(
            action, household: household, parents: parents.sorted(), author: key.publicKeyBytes, milliseconds: milliseconds)
        guard let signature = key.signature(of: MembershipRecordCodec.label + content) else { throw .unsigned }
        try self.init(bytes: content + signature)
    }

    /// Reads a record and verifies its signature. Whether its author may say it is for ``Membership`` to judge.
    /// - Throws: ``MembershipError`` with `.malformed` or `.unsigned`.
    package init(bytes: [UInt8]) throws(MembershipError) {
        self = try RecordClaim(bytes: bytes).verified()
    }

    /// What `claim` says, whose signature was verified.
    init(verified claim: RecordClaim) {
        id = claim.id
        household = claim.household
        author = claim.author
        action = claim.action
        parents = claim.parents
        milliseconds = claim.milliseconds
        bytes = claim.bytes
    }

    var isRevocation: Bool {
        if case .revoke = action { true } else { false }
    }

    // One record may be signed twice with different bytes; it remains the same record.
    package static func == (left: MembershipRecord, right: MembershipRecord) -> Bool { left.id == right.id }
    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// What a record says.
package enum MembershipAction: Hashable, Sendable {
    /// The author makes a household and is its first member, under this name.
    case found(name: String)
    /// The device becomes a member.
    case add(DeviceID, name: String)
    /// A member gets another name.
    case rename(DeviceID, name: String)
    /// The device is no member any more; what it says at the same time counts for nothing.
    case revoke(DeviceID)
    /// The author's key gives way to another one, which takes over its place and name.
    case replace(by: DeviceID)
}

/// Why a record is not taken.
package enum MembershipError: Error, Hashable, Sendable {
    /// Not a record in its canonical form, or one in a form that a later version knows.
    case malformed
    /// The signature is not that of its author.
    case unsigned
    /// It speaks of another household.
    case otherHousehold
    /// A record that it names is not known.
    case missingParent
    /// Its author was no member when it was written.
    case notAMember
    /// More records than a household may have, in all or of one author.
    case tooMany
}
