import Crypto

/// What the bytes of a record say, before its signature was looked at.
///
/// It costs little, and often shows already that a record is of no use: known, of another household, or of a stranger.
struct RecordClaim {
    let id: MembershipRecord.ID
    let household: HouseholdID
    let author: DeviceID
    let action: MembershipAction
    let parents: [MembershipRecord.ID]
    let milliseconds: Int64
    let bytes: [UInt8]

    private let key: P256.Signing.PublicKey
    private let content: [UInt8]
    private let signature: [UInt8]

    /// - Throws: `.malformed`, or `.unsigned` if there can be no key of the author.
    init(bytes: [UInt8]) throws(MembershipError) {
        let fields = try MembershipRecordCodec.fields(of: bytes)
        guard let key = try? P256.Signing.PublicKey(compressedRepresentation: fields.author) else { throw .unsigned }
        self.key = key
        content = fields.content
        signature = fields.signature
        id = MembershipRecord.ID(of: fields.content)
        author = DeviceID(publicKey: key)
        action = fields.action
        parents = fields.parents
        milliseconds = fields.milliseconds
        self.bytes = bytes
        if case .found = action {
            household = HouseholdID(foundedBy: id)
        } else {
            household = fields.household
        }
    }

    /// - Throws: `.unsigned` if the signature is not that of the author.
    func verified() throws(MembershipError) -> MembershipRecord {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(signature, for: MembershipRecordCodec.label + content)
        else { throw .unsigned }
        return MembershipRecord(verified: self)
    }
}
