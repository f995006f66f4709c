import Crypto
import KithCausality
import KithLedger
import KithSync

/// How a store comes to an id: one that names its device, where the device is known, so that nobody else can speak for it.
struct NewReplica {
    /// A device, and how often it had ceased to be a member when that was noted.
    struct Device: Hashable {
        let key: [UInt8]
        let round: UInt8
    }

    /// - `origin`: `nil` for an id that is nobody's.
    typealias Result = (id: ReplicaID, origin: HeadProof.Origin?)

    var options: SyncedDatabase.Options

    /// Makes the store a new replica.
    ///
    /// - Parameters:
    ///   - mayBeOfDevice: whether the store still is on the device that it noted.
    ///   - isSameStore: whether nothing was lost or copied: the store only has another name from now on.
    func adopt(_ ledger: RowLedger, mayBeOfDevice: Bool = true, isSameStore: Bool = false) throws -> Result {
        let records = VectorRecords(connection: ledger.connection)
        let random = options.makeReplicaID()
        var (id, origin): Result = (random, nil)
        let noted = try device(records)
        if let key = options.deviceKey() ?? (mayBeOfDevice ? noted?.key : nil) {
            origin = HeadProof.Origin(key: key, nonce: [noted?.key == key ? noted?.round ?? 0 : 0] + random.bytes.dropFirst())
            id = origin?.replica ?? id
        }
        let incarnation = isSameStore ? try self.incarnation(ledger) : id.description
        try records.adopt(id, ledger)
        try records.setMeta("incarnation", .text(incarnation))
        if let origin { try HeadRecords(ledger.connection).add(id, origin) }
        return (id, origin)
    }

    /// What the store is as long as it is not copied, restored or set back.
    func incarnation(_ ledger: RowLedger) throws -> String {
        let records = VectorRecords(connection: ledger.connection)
        if case .text(let bytes)? = try records.meta("incarnation") { return String(decoding: bytes, as: UTF8.self) }
        return try records.replica(ledger.catalog).description
    }

    /// The device that the store was bound to last.
    func device(_ records: VectorRecords) throws -> Device? {
        guard case .blob(let bytes)? = try records.meta("device"), bytes.count == HeadProof.Origin.keyBytes + 1 else { return nil }
        return Device(key: Array(bytes.dropLast()), round: bytes[HeadProof.Origin.keyBytes])
    }

    func setDevice(_ device: Device, _ records: VectorRecords) throws {
        try records.setMeta("device", .blob(device.key + [device.round]))
    }
}

extension HeadProof.Origin {
    /// The id that a device's key and a nonce make: the first bytes of a SHA-256 over both, with the highest bit set. `nil` without a nonce.
    package var replica: ReplicaID? {
        guard let nonce else { return nil }
        let digest = Array(SHA256.hash(data: Array("kith replica 1\n".utf8) + key + nonce).prefix(ReplicaID.byteCount))
        guard let id = ReplicaID(bytes: digest) else { return nil }
        return ReplicaID(high: id.high | 1 << 63, low: id.low)
    }
}
