/// The canonical bytes of a record; one record has one content. See docs/household.md, "Records".
enum MembershipRecordCodec {
    /// Stands before whatever is hashed or signed, so that no other signature of the key can pass for one of a record.
    static let label = Array("kith-household/2 record".utf8)
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
        let terms: RecordTerms
        /// The id of the household, or the random bytes of a new one.
        let household: HouseholdID
        let author: [UInt8]
        let milliseconds: Int64
    }

    /// What is signed.
    static func content(
        _ action: MembershipAction, _ terms: RecordTerms, household: [UInt8], author: [UInt8], milliseconds: Int64
    ) throws(MembershipError) -> [UInt8] {
        guard author.count == authorBytes, household.count == HouseholdID.byteCount else { throw .malformed }
        var bytes = [kind(of: action)] + household
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: milliseconds >> Int64(shift))) }
        if let warrant = terms.warrant { bytes += warrant.bytes }
        if let previous = terms.previous { bytes += try number(terms.number) + previous.bytes }
        bytes += author
        switch action {
        case .found(let name): bytes += try text(name)
        case .add(let device, let name):
            bytes += try device.bytes + number(terms.room) + number(terms.round) + number(terms.edition) + text(name)
        case .rename(let device, let name): bytes += try device.bytes + number(terms.edition) + text(name)
        case .revoke(let device): bytes += try device.bytes + (terms.addition?.bytes ?? []) + number(terms.seal)
        case .replace(let device): bytes += device.bytes
        }
        return bytes
    }

    /// Takes a record apart. The signature is not looked at.
    static func fields(of bytes: [UInt8]) throws(MembershipError) -> Fields {
        guard bytes.count > signatureBytes, bytes.count <= MembershipRecord.bytesMax else { throw .malformed }
        var reader = Reader(rest: bytes.dropLast(signatureBytes))
        let kind = try reader.bytes(1)[0]
        guard let household = HouseholdID(bytes: try reader.bytes(HouseholdID.byteCount)) else { throw .malformed }
        let milliseconds = Int64(bitPattern: try reader.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        var terms = RecordTerms()
        if kind != Kind.found { terms.warrant = try reader.id() }
        if kind != Kind.found, kind != Kind.revoke {
            terms.number = try reader.number()
            terms.previous = try reader.id()
            guard terms.number > 0 else { throw .malformed }
        }
        let author = try reader.bytes(authorBytes)
        let action = try action(kind, &terms, &reader)
        guard reader.rest.isEmpty else { throw .malformed }
        return Fields(
            content: Array(bytes.dropLast(signatureBytes)), signature: Array(bytes.suffix(signatureBytes)), action: action, terms: terms,
            household: household, author: author, milliseconds: milliseconds)
    }

    // MARK: Parts

    private static func kind(of action: MembershipAction) -> UInt8 {
        switch action {
        case .found: Kind.found
        case .add: Kind.add
        case .rename: Kind.rename
        case .revoke: Kind.revoke
        case .replace: Kind.replace
        }
    }

    private static func action(_ kind: UInt8, _ terms: inout RecordTerms, _ reader: inout Reader) throws(MembershipError)
        -> MembershipAction
    {
        if kind == Kind.found { return .found(name: try reader.name()) }
        guard let device = DeviceID(bytes: try reader.bytes(DeviceID.byteCount)) else { throw .malformed }
        switch kind {
        case Kind.add:
            terms.room = try reader.number()
            terms.round = try reader.number()
            terms.edition = try reader.number()
            return .add(device, name: try reader.name())
        case Kind.rename:
            terms.edition = try reader.number()
            return .rename(device, name: try reader.name())
        case Kind.revoke:
            terms.addition = try reader.id()
            terms.seal = try reader.number()
            return .revoke(device)
        case Kind.replace: return .replace(by: device)
        default: throw .malformed
        }
    }

    private static func number(_ number: Int) throws(MembershipError) -> [UInt8] {
        guard (0...RecordTerms.numberMax).contains(number) else { throw .tooMany }
        return [UInt8(number >> 8), UInt8(number & 0xFF)]
    }

    private static func text(_ name: String) throws(MembershipError) -> [UInt8] {
        guard isName(name) else { throw .malformed }
        return [UInt8(name.utf8.count)] + Array(name.utf8)
    }

    /// Whether `name` may stand in a list and in a terminal, as it is.
    private static func isName(_ name: String) -> Bool {
        ProposedName.sanitized(Array(name.utf8)).utf8.elementsEqual(name.utf8)
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func bytes(_ count: Int) throws(MembershipError) -> [UInt8] {
            guard rest.count >= count else { throw .malformed }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }

        mutating func number() throws(MembershipError) -> Int { try bytes(2).reduce(0) { $0 << 8 | Int($1) } }

        mutating func id() throws(MembershipError) -> MembershipRecord.ID {
            guard let id = MembershipRecord.ID(bytes: try bytes(MembershipRecord.ID.byteCount)) else { throw .malformed }
            return id
        }

        mutating func name() throws(MembershipError) -> String {
            let length = Int(try bytes(1)[0])
            guard let name = String(validating: try bytes(length), as: UTF8.self), isName(name) else { throw .malformed }
            return name
        }
    }
}
