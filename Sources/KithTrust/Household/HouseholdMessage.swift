/// What two members say to each other about the household, over an authenticated connection. See docs/household.md, "Messages".
///
/// Each says the digest of what it holds; where the digests differ, each says what it has, and gets what it lacks.
package enum HouseholdMessage: Hashable, Sendable {
    /// The digest of the sender's records and secrets.
    case digest([UInt8])
    /// The ids of all records that the sender has from `from` up to `through`, in ascending order.
    case have([MembershipRecord.ID], from: MembershipRecord.ID, through: MembershipRecord.ID)
    /// Records, each after those that it needs; not verified yet.
    case records([[UInt8]])
    /// The secrets that the sender has.
    case secrets([HouseholdSecret])

    /// Largest message, in bytes.
    package static let bytesMax = 64 * 1024
    static let digestBytes = 32
    /// Most ids of a message.
    static let idsMax = 2000

    private enum Kind {
        static let digest: UInt8 = 1
        static let have: UInt8 = 2
        static let records: UInt8 = 3
        static let secrets: UInt8 = 4
    }

    package var encoded: [UInt8] {
        switch self {
        case .digest(let digest): [Kind.digest] + digest
        case .have(let ids, let from, let through): [Kind.have] + ([from, through] + ids).flatMap(\.bytes)
        case .records(let records): [Kind.records] + records.flatMap { Self.big(UInt32($0.count), 2) + $0 }
        case .secrets(let secrets): [Kind.secrets] + secrets.flatMap { Self.big($0.number, 4) + $0.bytes }
        }
    }

    /// Reads a message; `nil` if it is none that this version knows.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.bytesMax, let kind = bytes.first else { return nil }
        let rest = bytes.dropFirst()
        switch kind {
        case Kind.digest:
            guard rest.count == Self.digestBytes else { return nil }
            self = .digest(Array(rest))
        case Kind.have:
            guard let pieces = Self.pieces(rest, of: MembershipRecord.ID.byteCount, atMost: Self.idsMax + 2) else { return nil }
            let ids = pieces.compactMap { MembershipRecord.ID(bytes: $0) }
            guard ids.count >= 2 else { return nil }
            self = .have(Array(ids.dropFirst(2)), from: ids[0], through: ids[1])
        case Kind.records:
            guard let records = Self.records(rest) else { return nil }
            self = .records(records)
        case Kind.secrets:
            guard let pieces = Self.pieces(rest, of: 4 + HouseholdSecret.byteCount, atMost: HouseholdSecret.keptMax) else { return nil }
            self = .secrets(
                pieces.compactMap { HouseholdSecret(number: $0.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }, bytes: $0.dropFirst(4)) })
        default: return nil
        }
    }

    /// Says that of all records the sender has these.
    static func have(_ ids: [MembershipRecord.ID]) -> HouseholdMessage { .have(ids, from: .lowest, through: .highest) }

    /// What to say that a device has that holds `ids`, in one message or several.
    static func have(all ids: [MembershipRecord.ID]) -> [HouseholdMessage] {
        let ids = ids.sorted()
        var messages: [HouseholdMessage] = []
        var from = MembershipRecord.ID.lowest
        for start in stride(from: 0, to: max(1, ids.count), by: idsMax) {
            let part = Array(ids[start..<min(start + idsMax, ids.count)])
            // The last of a part is the first of the next one, which does no harm.
            let through = start + idsMax < ids.count ? part[part.count - 1] : .highest
            messages.append(.have(part, from: from, through: through))
            from = through
        }
        return messages
    }

    /// Messages for `records` of `membership`, none larger than may be. What a record cannot be taken without is in one message with it.
    static func messages(_ records: [MembershipRecord], of membership: Membership) -> [HouseholdMessage] {
        var messages: [HouseholdMessage] = []
        var part: [MembershipRecord] = []
        var size = 1
        for record in records {
            let group = membership.witnesses(of: record) + [record]
            let added = group.filter { !part.contains($0) }
            if size + added.reduce(0, { $0 + 2 + $1.bytes.count }) > bytesMax {
                messages.append(.records(part.map(\.bytes)))
                (part, size) = ([], 1)
            }
            for record in group where !part.contains(record) {
                part.append(record)
                size += 2 + record.bytes.count
            }
        }
        return part.isEmpty ? messages : messages + [.records(part.map(\.bytes))]
    }

    private static func pieces(_ bytes: ArraySlice<UInt8>, of length: Int, atMost count: Int) -> [ArraySlice<UInt8>]? {
        guard bytes.count % length == 0, bytes.count / length <= count else { return nil }
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: length).map { bytes[$0..<$0 + length] }
    }

    static func records(_ bytes: ArraySlice<UInt8>) -> [[UInt8]]? {
        var rest = bytes
        var records: [[UInt8]] = []
        while !rest.isEmpty {
            guard rest.count >= 2 else { return nil }
            let length = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(2)
            guard length <= MembershipRecord.bytesMax, length <= rest.count else { return nil }
            records.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return records
    }

    private static func big(_ number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * (count - 1 - $0))) }
    }
}
