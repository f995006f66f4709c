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
        if let milliseconds, (0..<1 << 48).contains(milliseconds) {
            for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> Int64(40 - 8 * index)) }
        }
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
