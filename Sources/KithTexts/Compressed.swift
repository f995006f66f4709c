import CZlib
import KithSQLite
import KithSync

/// Bytes made smaller: their number as a varint, then a zlib stream (RFC 1950), whose checksum tells when it was damaged.
package enum Compressed {
    /// What one byte of a stream stands for at most (zlib's technical notes).
    private static let expansionMax = 1_032

    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var count = compressBound(uLong(bytes.count))
        let stream = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            let result = compress2(buffer.baseAddress, &count, bytes, uLong(bytes.count), Z_BEST_COMPRESSION)
            // There is room, so only memory could be missing, which Swift does not survive either.
            precondition(result == Z_OK, "zlib could not compress: \(result)")
            initialized = Int(count)
        }
        var writer = ByteWriter()
        writer.count(bytes.count)
        writer.raw(stream)
        return writer.bytes
    }

    /// - Throws: ``WireError`` for anything that ``encode(_:)`` does not write for at most `bytesMax` bytes. Never takes more
    ///   memory than that, nor much more than the input can stand for.
    package static func decode(_ bytes: [UInt8], bytesMax: Int) throws(WireError) -> [UInt8] {
        var reader = ByteReader(bytes)
        let size = try reader.varint()
        guard size <= UInt64(bytesMax) else { throw .limitExceeded("compressed bytes") }
        let stream = try reader.raw(reader.remaining)
        guard size / UInt64(expansionMax) <= UInt64(stream.count) else { throw .truncated }
        var count = uLong(size)
        var consumed = uLong(stream.count)
        var result = Z_OK
        let content = [UInt8](unsafeUninitializedCapacity: max(1, Int(size))) { buffer, initialized in
            result = uncompress2(buffer.baseAddress, &count, stream, &consumed)
            initialized = result == Z_OK ? Int(count) : 0
        }
        guard result == Z_OK, content.count == Int(size), consumed == stream.count else { throw .malformed("compressed bytes") }
        return content
    }
}
