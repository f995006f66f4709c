import Crypto
import KithCausality
import KithLedger
import KithSync

/// How a store comes to an id: one that names its device, where the device is known, so that nobody else can speak for it.
struct NewReplica {
    var options: SyncedDatabase.Options

    /// Makes the store a new replica.
    ///
    /// - Parameters:
    ///   - mayBeOfDevice: whether the store still is on the device that it noted.
    ///   - isSameStore: whether nothing was lost or copied: the store only has another name from now on.
    func adopt(
        _ ledger: RowLedger, mayBeOfDevice: Bool = true, isSameStore: Bool = false
    ) throws -> (id: ReplicaID, origin: HeadProof.Origin?) {
        let records = VectorRecords(connection: ledger.connection)
        let random = options.makeReplicaID()
        var (id, origin): (ReplicaID, HeadProof.Origin?) = (random, nil)
        if let key = try options.deviceKey ?? (mayBeOfDevice ? deviceKey(records) : nil) {
            origin = HeadProof.Origin(key: key, nonce: random.bytes)
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

    /// The public key of the device that the store was bound to last.
    func deviceKey(_ records: VectorRecords) throws -> [UInt8]? {
        guard case .blob(let key)? = try records.meta("device"), key.count == HeadProof.Origin.keyBytes else { return nil }
        return key
    }

    func setDeviceKey(_ key: [UInt8], _ records: VectorRecords) throws {
        try records.setMeta("device", .blob(key))
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
