import Crypto
import KithCapture
import KithLedger
import KithMerge
import KithSQLite
import KithSync
import KithTexts

extension AttachmentOutline {
    /// Bytes of the longest ``hashed``.
    static let hashedBytesMax = prefixBytes + hashBytes * AttachmentLimits.chunksMax

    /// Bytes of the ``hashed`` of content that has so many.
    static func hashedBytes(forContentOf bytes: Int64) -> Int64 {
        let chunks = max(1, (bytes + Int64(AttachmentLimits.chunkBytes) - 1) / Int64(AttachmentLimits.chunkBytes))
        return Int64(prefixBytes) + Int64(hashBytes) * chunks
    }

    private static let prefixBytes = Array("kith attachment 1\n".utf8).count + 8

    /// The id of the attachment with this outline.
    package var id: AttachmentID {
        AttachmentID(digest: SHA256.hash(data: hashed))
    }

    /// Whether `bytes` is the chunk `index`.
    func proves(_ bytes: [UInt8], chunk index: Int) -> Bool {
        guard let hash = hash(ofChunk: index), let range = range(ofChunk: index), range.count == bytes.count else { return false }
        return SHA256.hash(data: bytes).elementsEqual(hash)
    }

    /// The outline that ``hashed`` is of; `nil` if it is none.
    init?(hashed: [UInt8]) {
        guard let size = Self.size(inHashed: hashed) else { return nil }
        self.init(size: size, hashes: Array(hashed.dropFirst(Self.prefixBytes)))
    }

    /// The size in the beginning of ``hashed``.
    static func size(inHashed bytes: [UInt8]) -> Int64? {
        var reader = ByteReader(bytes)
        guard (try? reader.raw(prefixBytes - 8)).map({ $0 == Array("kith attachment 1\n".utf8) }) == true, let size = try? reader.fixed64(),
            size <= UInt64(AttachmentLimits.bytesMax)
        else { return nil }
        return Int64(size)
    }

    /// The outline of a file's content, which is read once; `nil` if it is no regular file or too large.
    init?(of file: OpenFile) throws {
        guard let size = try file.size(), size <= AttachmentLimits.bytesMax else { return nil }
        var builder = AttachmentOutlineBuilder()
        while true {
            let chunk = try file.read(at: builder.size, count: AttachmentLimits.chunkBytes)
            if chunk.isEmpty { break }
            guard builder.append(chunk) else { return nil }
            if chunk.count < AttachmentLimits.chunkBytes { break }
        }
        self = builder.outline
    }
}

/// Gathers an outline while content is read from its beginning to its end.
struct AttachmentOutlineBuilder {
    private(set) var size: Int64 = 0
    private var hashes: [UInt8] = []

    /// Takes the next chunk, of which only the last may be shorter than the others. Returns whether it still fits.
    mutating func append(_ chunk: [UInt8]) -> Bool {
        guard size + Int64(chunk.count) <= AttachmentLimits.bytesMax else { return false }
        size += Int64(chunk.count)
        hashes += SHA256.hash(data: chunk)
        return true
    }

    var outline: AttachmentOutline {
        // Empty content has one empty chunk.
        let all = hashes.isEmpty ? Array(SHA256.hash(data: [UInt8]())) : hashes
        guard let outline = AttachmentOutline(size: size, hashes: all) else {
            preconditionFailure("there is one hash for each chunk of \(size) bytes")
        }
        return outline
    }
}

extension AttachmentID {
    fileprivate init(digest: SHA256Digest) {
        guard let id = AttachmentID(bytes: Array(digest)) else { preconditionFailure("a SHA-256 has 32 bytes") }
        self = id
    }
}
