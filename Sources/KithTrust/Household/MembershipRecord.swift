import Crypto

/// One signed sentence about who belongs to a household: "A adds B", "A revokes C".
///
/// A value exists only with a valid signature: it was signed here, or read from bytes and verified. It names what it needs and
/// nothing else (``RecordTerms``), so that what one device says cannot stand in the way of what another one says.
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

        package static let lowest = ID(words: SIMD4(repeating: 0))
        package static let highest = ID(words: SIMD4(repeating: .max))

        private init(words: SIMD4<UInt64>) {
            self.words = words
        }

        package var bytes: [UInt8] {
            (0..<Self.byteCount).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> UInt64(56 - $0 % 8 * 8)) }
        }

        package static func < (left: ID, right: ID) -> Bool {
            for index in 0..<4 where left.words[index] != right.words[index] { return left.words[index] < right.words[index] }
            return false
        }
    }

    /// Largest record, in bytes.
    package static let bytesMax = 512

    package let id: ID
    /// Which household it speaks of.
    package let household: HouseholdID
    /// The device that says it.
    package let author: DeviceID
    package let action: MembershipAction
    /// The author's wall clock, in milliseconds since 1970; for people alone.
    package let milliseconds: Int64
    /// The canonical form, signature included.
    package let bytes: [UInt8]
    package let terms: RecordTerms

    /// Signs the first record of a new household; its author is the first member.
    package static func founding(as name: String, by key: DeviceKey, nonce: [UInt8], milliseconds: Int64) throws(MembershipError)
        -> MembershipRecord
    {
        try MembershipRecord(
            .found(name: name), RecordTerms(), household: nonce, by: RecordSigner(key), milliseconds: milliseconds)
    }

    /// Signs a record.
    /// - Parameter household: the id of the household, or the random bytes of a new one.
    package init(
        _ action: MembershipAction, _ terms: RecordTerms, household: [UInt8], by signer: RecordSigner, milliseconds: Int64
    ) throws(MembershipError) {
        let content = try MembershipRecordCodec.content(
            action, terms, household: household, author: signer.publicKeyBytes, milliseconds: milliseconds)
        guard let signature = signer.sign(MembershipRecordCodec.label + content) else { throw .unsigned }
        let fields = try MembershipRecordCodec.fields(of: content + signature)
        self.init(verified: RecordClaim(fields, bytes: content + signature, by: signer.id))
    }

    /// Reads a record and verifies its signature. Whether its author may say it is for ``Membership`` to judge.
    /// - Throws: ``MembershipError`` with `.malformed` or `.unsigned`.
    package init(bytes: [UInt8]) throws(MembershipError) {
        self = try RecordClaim(bytes: bytes).verified()
    }

    /// What `claim` says, whose signature was verified: now, or before it was written to a file that only its owner can write.
    init(verified claim: RecordClaim) {
        id = claim.id
        household = claim.household
        author = claim.author
        action = claim.action
        terms = claim.terms
        milliseconds = claim.milliseconds
        bytes = claim.bytes
    }

    /// The public key of the author: a compressed point.
    var authorKey: [UInt8] { (try? MembershipRecordCodec.fields(of: bytes).author) ?? [] }

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
    /// The device is no member any more; what it said and the author did not know counts for nothing.
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
    case missingRecord
    /// What it names does not make its author a member.
    case notAMember
    /// More than its author has room for, or than a line of devices may be long.
    case tooMany
    /// Its author has said something else under the same number.
    case forked
}
