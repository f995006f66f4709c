/// The canonical bytes of a record; one record has one content. See docs/household.md, "Records".
enum MembershipRecordCodec {
    /// Stands before whatever is hashed or signed, so that no other signature of the key can pass for one of a record.
    static let label = Array("kith-household/1 record".utf8)
    static let signatureBytes = 64
    static let authorBytes = 33

    private enum Kind {
        static let found: UInt8 = 1
        static let add: UInt8 = 2
        static let rename: UInt8 = 3
        static let revoke: UInt8 = 4
        static let replace: UInt8 = 5
    }

    struct Fields {
        let content: [UInt8]
        let signature: [UInt8]
        let action: MembershipAction
        let household: HouseholdID
        let parents: [MembershipRecord.ID]
        let author: [UInt8]
        let milliseconds: Int64
    }

    /// What is signed.
    static func content(
        _ action: MembershipAction, household: [UInt8], parents: [MembershipRecord.ID], author: [UInt8], milliseconds: Int64
    ) throws(MembershipError) -> [UInt8] {
        guard parents.count <= MembershipRecord.parentsMax, author.count == authorBytes, household.count == HouseholdID.byteCount else {
            throw .malformed
        }
        let (kind, subject, name) = parts(of: action)
        guard isName(name) else { throw .malformed }
        var bytes = [kind] + household
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: milliseconds >> Int64(shift))) }
        bytes.append(UInt8(parents.count))
        for parent in parents { bytes += parent.bytes }
        return bytes + author + (subject?.bytes ?? []) + [UInt8(name.utf8.count)] + Array(name.utf8)
    }

    /// Takes a record apart. The signature is not looked at.
    static func fields(of bytes: [UInt8]) throws(MembershipError) -> Fields {
        guard bytes.count > signatureBytes, bytes.count <= MembershipRecord.bytesMax else { throw .malformed }
        let content = Array(bytes.dropLast(signatureBytes))
        var rest = content[...]
        guard let kind = rest.popFirst(), let household = HouseholdID(bytes: take(HouseholdID.byteCount, &rest)) else { throw .malformed }
        let clock = take(8, &rest)
        guard clock.count == 8, let count = rest.popFirst(), count <= MembershipRecord.parentsMax else { throw .malformed }
        var parents: [MembershipRecord.ID] = []
        for _ in 0..<count {
            guard let parent = MembershipRecord.ID(bytes: take(MembershipRecord.ID.byteCount, &rest)) else { throw .malformed }
            // Ascending, so that there is one way to write them.
            if let last = parents.last, parent <= last { throw .malformed }
            parents.append(parent)
        }
        let author = take(authorBytes, &rest)
        guard author.count == authorBytes else { throw .malformed }
        let action = try action(kind, &rest)
        guard rest.isEmpty, parents.isEmpty == (kind == Kind.found) else { throw .malformed }
        return Fields(
            content: content, signature: Array(bytes.suffix(signatureBytes)), action: action, household: household, parents: parents,
            author: author, milliseconds: Int64(bitPattern: clock.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
    }

    // MARK: Parts

    private static func parts(of action: MembershipAction) -> (kind: UInt8, subject: DeviceID?, name: String) {
        switch action {
        case .found(let name): (Kind.found, nil, name)
        case .add(let device, let name): (Kind.add, device, name)
        case .rename(let device, let name): (Kind.rename, device, name)
        case .revoke(let device): (Kind.revoke, device, "")
        case .replace(let device): (Kind.replace, device, "")
        }
    }

    private static func action(_ kind: UInt8, _ rest: inout ArraySlice<UInt8>) throws(MembershipError) -> MembershipAction {
        let subject = kind == Kind.found ? nil : DeviceID(bytes: take(DeviceID.byteCount, &rest))
        guard let length = rest.popFirst() else { throw .malformed }
        guard let name = String(validating: take(Int(length), &rest), as: UTF8.self), name.utf8.count == Int(length), isName(name) else {
            throw .malformed
        }
        switch (kind, subject) {
        case (Kind.found, nil): return .found(name: name)
        case (Kind.add, let device?): return .add(device, name: name)
        case (Kind.rename, let device?): return .rename(device, name: name)
        case (Kind.revoke, let device?) where name.isEmpty: return .revoke(device)
        case (Kind.replace, let device?) where name.isEmpty: return .replace(by: device)
        default: throw .malformed
        }
    }

    /// Whether `name` may stand in a list and in a terminal, as it is.
    private static func isName(_ name: String) -> Bool {
        ProposedName.sanitized(Array(name.utf8)).utf8.elementsEqual(name.utf8)
    }

    /// Up to `count` bytes; fewer if there are no more.
    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
