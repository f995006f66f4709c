import Crypto
import Foundation

extension UUID {
    /// An id that follows from these texts, the same on every machine: a UUID of version 8 (RFC 9562), the time in front, as with the ids
    /// of notes, then bits of a hash.
    package static func derived(from parts: [String], milliseconds: Int64?) -> UUID {
        var hash = SHA256()
        for part in parts {
            hash.update(data: Array(part.utf8))
            hash.update(data: [0])
        }
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let id = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        return milliseconds.map(id.at) ?? id
    }

    /// The id that the same texts give with this time.
    package func at(milliseconds: Int64) -> UUID {
        guard (0..<1 << 48).contains(milliseconds) else { return self }
        var bytes = withUnsafeBytes(of: uuid) { Array($0) }
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> Int64(40 - 8 * index)) }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
