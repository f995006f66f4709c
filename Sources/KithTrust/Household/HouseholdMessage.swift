/// What two members say to each other about the household, over an authenticated connection. See docs/household.md, "Messages".
///
/// Each says the digest of what it holds; where the digests differ, each says what it has, and gets what it lacks.
package enum HouseholdMessage: Hashable, Sendable {
    /// The digest of the sender's records and secrets.
    case digest([UInt8])
    /// The ids of all records that the sender has.
    case have([MembershipRecord.ID])
    /// Records, each after those that it names; not verified yet.
    case records([[UInt8]])
    /// The secrets that the sender has.
    case secrets([HouseholdSecret])

    /// Largest message, in bytes.
    package static let bytesMax = 64 * 1024
    static let digestBytes = 32

    private enum Kind {
        static let digest: UInt8 = 1
        static let have: UInt8 = 2
        static let records: UInt8 = 3
        static let secrets: UInt8 = 4
    }

    package var encoded: [UInt8] {
        switch self {
        case .digest(let digest): [Kind.digest] + digest
        case .have(let ids): [Kind.have] + ids.flatMap(\.bytes)
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
            guard let ids = Self.pieces(rest, of: MembershipRecord.ID.byteCount, atMost: Membership.recordsMax) else { return nil }
            self = .have(ids.compactMap { MembershipRecord.ID(bytes: $0) })
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

    /// Messages for `records`, none larger than may be.
    static func messages(_ records: [MembershipRecord]) -> [HouseholdMessage] {
        var messages: [HouseholdMessage] = []
        var part: [[UInt8]] = []
        var size = 1
        for record in records {
            if size + 2 + record.bytes.count > bytesMax {
                messages.append(.records(part))
                (part, size) = ([], 1)
            }
            part.append(record.bytes)
            size += 2 + record.bytes.count
        }
        return part.isEmpty ? messages : messages + [.records(part)]
    }

    private static func pieces(_ bytes: ArraySlice<UInt8>, of length: Int, atMost count: Int) -> [ArraySlice<UInt8>]? {
        guard bytes.count % length == 0, bytes.count / length <= count else { return nil }
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: length).map { bytes[$0..<$0 + length] }
    }

    private static func records(_ bytes: ArraySlice<UInt8>) -> [[UInt8]]? {
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
