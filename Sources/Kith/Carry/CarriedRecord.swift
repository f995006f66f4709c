import KithSync
import KithTrust

/// What stands in a carried file beside the frames of a session. See docs/carry.md, "Records".
enum CarriedRecord {
    static let headType: UInt8 = 0xC0
    static let endType: UInt8 = 0xC1
    /// What frames about the household begin with.
    static let householdType: UInt8 = 0xA0
    private static let label = Array("kith carry 1\n".utf8)

    /// The last record: the signature of all that stands before it.
    static func end(_ hash: RunningHash, by key: DeviceKey) -> [UInt8]? {
        key.signature(of: label + hash.digest).map { [endType] + $0 }
    }

    /// Whether `record` is the end of what has this hash, made by who has `key`.
    static func isEnd(_ record: [UInt8], of hash: RunningHash, by key: [UInt8]) -> Bool {
        record.count == 1 + HeadProof.signatureBytes && record.first == endType
            && DeviceKey.isSignature(Array(record.dropFirst()), of: label + hash.digest, byPublicKey: key)
    }
}

/// The first record of a carried file.
struct CarriedHead: Hashable {
    /// The public key of the device that made the file: a compressed point.
    let key: [UInt8]
    /// The device that it was made for; `nil` for all members.
    let target: DeviceID?
    /// When it was made, in milliseconds since 1970 by its writer's wall clock.
    let madeMilliseconds: Int64

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(CarriedRecord.headType)
        writer.raw(key)
        writer.byte(target == nil ? 0 : 1)
        if let target { writer.raw(target.bytes) }
        writer.fixed64(UInt64(max(0, madeMilliseconds)))
        return writer.bytes
    }

    init(key: [UInt8], target: DeviceID?, madeMilliseconds: Int64) {
        self.key = key
        self.target = target
        self.madeMilliseconds = madeMilliseconds
    }

    /// Reads one; `nil` if it is none. What a later version adds behind is passed over.
    init?(_ record: [UInt8]) {
        var reader = ByteReader(record)
        guard (try? reader.byte()) == CarriedRecord.headType, let key = try? reader.raw(HeadProof.Origin.keyBytes),
            let isTargeted = try? reader.byte(), isTargeted <= 1
        else { return nil }
        var target: DeviceID?
        if isTargeted == 1 {
            guard let bytes = try? reader.raw(DeviceID.byteCount), let device = DeviceID(bytes: bytes) else { return nil }
            target = device
        }
        guard let made = try? reader.fixed64() else { return nil }
        self.init(key: key, target: target, madeMilliseconds: Int64(clamping: made))
    }
}
