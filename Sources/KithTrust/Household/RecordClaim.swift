/// What the bytes of a record say, before its signature was looked at.
///
/// It costs little, and often shows already that a record is of no use: known, of another household, or of a stranger.
package struct RecordClaim {
    package let id: MembershipRecord.ID
    let household: HouseholdID
    let author: DeviceID
    let action: MembershipAction
    let terms: RecordTerms
    let milliseconds: Int64
    let bytes: [UInt8]

    private let fields: MembershipRecordCodec.Fields

    /// - Throws: `.malformed`, or `.unsigned` if there can be no key of the author.
    package init(bytes: [UInt8], _ verifier: RecordVerifier = .devices) throws(MembershipError) {
        let fields = try MembershipRecordCodec.fields(of: bytes)
        guard let author = verifier.device(fields.author) else { throw .unsigned }
        self.init(fields, bytes: bytes, by: author)
    }

    /// - Parameter author: the device of the key in `fields`.
    init(_ fields: MembershipRecordCodec.Fields, bytes: [UInt8], by author: DeviceID) {
        self.fields = fields
        self.bytes = bytes
        self.author = author
        id = MembershipRecord.ID(of: fields.content)
        action = fields.action
        terms = fields.terms
        milliseconds = fields.milliseconds
        if case .found = fields.action {
            household = HouseholdID(foundedBy: id)
        } else {
            household = fields.household
        }
    }

    /// Reads again what was verified before it was written down. The keys of few authors are in many records, and to expand one is
    /// what costs most.
    static func restored(_ all: [[UInt8]]) throws(MembershipError) -> [MembershipRecord] {
        var authors: [[UInt8]: DeviceID] = [:]
        var records: [MembershipRecord] = []
        for bytes in all {
            let fields = try MembershipRecordCodec.fields(of: bytes)
            guard let author = authors[fields.author] ?? RecordVerifier.devices.device(fields.author) else { throw .unsigned }
            authors[fields.author] = author
            records.append(MembershipRecord(verified: RecordClaim(fields, bytes: bytes, by: author)))
        }
        return records
    }

    /// - Throws: `.unsigned` if the signature is not that of the author.
    func verified(by verifier: RecordVerifier = .devices) throws(MembershipError) -> MembershipRecord {
        guard verifier.isSignature(fields.signature, MembershipRecordCodec.label + fields.content, fields.author) else { throw .unsigned }
        return MembershipRecord(verified: self)
    }
}
