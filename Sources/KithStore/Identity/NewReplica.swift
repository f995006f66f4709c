import Crypto
import KithCausality
import KithLedger
import KithSync

/// How a store comes to an id: one that names its device, where the device is known, so that nobody else can speak for it.
struct NewReplica {
    var options: SyncedDatabase.Options

    /// Makes the store a new replica.
    ///
    /// - Parameter mayBeOfDevice: whether the store still is on the device that it noted.
    func adopt(_ ledger: RowLedger, mayBeOfDevice: Bool = true) throws -> (id: ReplicaID, origin: HeadProof.Origin?) {
        let records = VectorRecords(connection: ledger.connection)
        let random = options.makeReplicaID()
        var (id, origin): (ReplicaID, HeadProof.Origin?) = (random, nil)
        if let key = try options.deviceKey ?? (mayBeOfDevice ? deviceKey(records) : nil) {
            origin = HeadProof.Origin(key: key, nonce: random.bytes)
            id = origin?.replica ?? id
        }
        try records.adopt(id, ledger)
        if let origin { try HeadRecords(ledger.connection).add(id, origin) }
        return (id, origin)
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
