/// What an attachment consists of: its size, and the SHA-256 of each of its chunks.
///
/// The attachment's id is the hash of its outline, and the outline has the hash of every chunk. So an outline is proved by the id
/// as soon as it arrives, and each chunk by the outline, whoever sends it and in whatever order: a list of hashes as in BitTorrent's
/// `pieces` (BEP 3), whose own hash is the name. A tree would spare the list, which is 1/8,192 of the content, and cost a proof with
/// each chunk.
package struct AttachmentOutline: Hashable, Sendable {
    /// Bytes of a SHA-256.
    package static let hashBytes = 32

    /// Bytes of the content.
    package let size: Int64
    /// The hashes of all chunks, one after the other.
    package let hashes: [UInt8]

    /// `nil` unless `size` is within ``AttachmentLimits/bytesMax`` and there is a hash for each of its chunks.
    package init?(size: Int64, hashes: [UInt8]) {
        guard (0...AttachmentLimits.bytesMax).contains(size), hashes.count == Self.hashBytes * Self.chunkCount(ofSize: size) else {
            return nil
        }
        self.size = size
        self.hashes = hashes
    }

    /// How many chunks there are, at least one: that of empty content is empty.
    package var chunkCount: Int { hashes.count / Self.hashBytes }

    /// The hash of the chunk `index`; `nil` if there is no such chunk.
    package func hash(ofChunk index: Int) -> ArraySlice<UInt8>? {
        guard (0..<chunkCount).contains(index) else { return nil }
        return hashes[index * Self.hashBytes..<(index + 1) * Self.hashBytes]
    }

    /// Where the chunk `index` stands in the content; `nil` if there is no such chunk.
    package func range(ofChunk index: Int) -> Range<Int64>? {
        guard (0..<chunkCount).contains(index) else { return nil }
        let start = Int64(index) * Int64(AttachmentLimits.chunkBytes)
        return start..<min(size, start + Int64(AttachmentLimits.chunkBytes))
    }

    /// The bytes whose SHA-256 is the attachment's id: a name that no other hash of Kith begins with, the size as eight bytes,
    /// big-endian, and the hashes.
    package var hashed: [UInt8] {
        var writer = ByteWriter(reservingCapacity: hashes.count + 32)
        writer.raw("kith attachment 1\n".utf8)
        writer.fixed64(UInt64(size))
        writer.raw(hashes)
        return writer.bytes
    }

    private static func chunkCount(ofSize size: Int64) -> Int {
        let chunkBytes = Int64(AttachmentLimits.chunkBytes)
        return max(1, Int((size + chunkBytes - 1) / chunkBytes))
    }
}
