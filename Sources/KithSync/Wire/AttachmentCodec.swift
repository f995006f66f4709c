/// How messages about attachments stand in bytes. See docs/protocol.md, "Attachments".
enum AttachmentCodec {
    static let want: UInt8 = 0x98
    static let outline: UInt8 = 0x99
    static let chunk: UInt8 = 0x9A
    static let haveNot: UInt8 = 0x9B
    static let have: UInt8 = 0x9C
    static let holdings: UInt8 = 0x9D

    static let types = want...holdings

    /// Writes the fields of `message` and returns its type.
    static func encode(_ message: AttachmentMessage, to writer: inout ByteWriter) -> UInt8 {
        switch message {
        case .want(let piece):
            writer.raw(piece.id.bytes)
            writer.count(piece.chunk.map { $0 + 1 } ?? 0)
            return want
        case .outline(let id, let outline):
            writer.raw(id.bytes)
            writer.varint(UInt64(outline.size))
            writer.blob(outline.hashes)
            return self.outline
        case .chunk(let id, let index, let bytes):
            writer.raw(id.bytes)
            writer.count(index)
            writer.blob(bytes)
            return chunk
        case .haveNot(let id):
            writer.raw(id.bytes)
            return haveNot
        case .have(let id):
            writer.raw(id.bytes)
            return have
        case .holdings(let holdings):
            writer.byte(holdings.kind.rawValue)
            writer.count(holdings.ids.count)
            for id in holdings.ids { writer.raw(id.bytes) }
            return self.holdings
        }
    }

    static func decode(_ type: UInt8, _ reader: inout ByteReader) throws(WireError) -> AttachmentMessage {
        if type == holdings { return .holdings(try decodeHoldings(&reader)) }
        let id = try decodeID(&reader)
        switch type {
        case want:
            let piece = try reader.varint()
            guard piece <= UInt64(AttachmentLimits.chunksMax) else { throw .limitExceeded("chunksMax") }
            return .want(AttachmentPiece(id, chunk: piece == 0 ? nil : Int(piece) - 1))
        case outline:
            let size = try reader.varint()
            guard size <= UInt64(AttachmentLimits.bytesMax) else { throw .limitExceeded("bytesMax") }
            let hashes = try reader.blob(limit: AttachmentOutline.hashBytes * AttachmentLimits.chunksMax, "chunksMax")
            guard let outline = AttachmentOutline(size: Int64(size), hashes: hashes) else {
                throw .malformed("an outline has one hash for each chunk")
            }
            return .outline(id, outline)
        case chunk:
            let index = try reader.index(below: AttachmentLimits.chunksMax, "chunk")
            return .chunk(id, index: index, try reader.blob(limit: AttachmentLimits.chunkBytes, "chunkBytes"))
        case haveNot:
            return .haveNot(id)
        case have:
            return .have(id)
        default:
            throw .unsupported("frame type \(type)")
        }
    }

    private static func decodeID(_ reader: inout ByteReader) throws(WireError) -> AttachmentID {
        guard let id = AttachmentID(bytes: try reader.raw(AttachmentID.byteCount)) else { throw .truncated }
        return id
    }

    private static func decodeHoldings(_ reader: inout ByteReader) throws(WireError) -> AttachmentHoldings {
        let code = try reader.byte()
        guard let kind = AttachmentHoldings.Kind(rawValue: code) else { throw .malformed("\(code) is no kind of holdings") }
        let count = try reader.count(
            eachBytes: AttachmentID.byteCount, limit: AttachmentLimits.holdingsAtOnceMax, "holdingsAtOnceMax")
        var ids: [AttachmentID] = []
        ids.reserveCapacity(count)
        for _ in 0..<count { ids.append(try decodeID(&reader)) }
        return AttachmentHoldings(kind, ids)
    }
}
