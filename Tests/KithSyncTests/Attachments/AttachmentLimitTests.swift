import KithSync
import Testing

/// Risk: a limit of attachments is one off, or not checked.
@Suite struct AttachmentLimitTests {
    // swift-format-ignore: NeverForceUnwrap
    private let id = AttachmentID(bytes: [UInt8](repeating: 0xab, count: 32))!

    private func encode(_ message: AttachmentMessage) -> [UInt8] { FrameCodec.encode(.attachment(message)) }

    /// A frame of this type with the id and these fields.
    private func frame(_ type: UInt8, _ fields: (inout ByteWriter) -> Void) -> [UInt8] {
        var writer = ByteWriter()
        fields(&writer)
        return [type, 0] + id.bytes + writer.bytes
    }

    @Test func `a chunk has at most chunkBytes bytes and an index below chunksMax`() throws {
        let chunk = AttachmentMessage.chunk(
            id, index: AttachmentLimits.chunksMax - 1, [UInt8](repeating: 1, count: AttachmentLimits.chunkBytes))
        #expect(try FrameCodec.decode(encode(chunk)) == .attachment(chunk))
        let long = AttachmentMessage.chunk(id, index: 0, [UInt8](repeating: 1, count: AttachmentLimits.chunkBytes + 1))
        #expect(throws: WireError.limitExceeded("chunkBytes")) { try FrameCodec.decode(encode(long)) }
        let far = AttachmentMessage.chunk(id, index: AttachmentLimits.chunksMax, [])
        #expect(throws: WireError.self) { try FrameCodec.decode(encode(far)) }
        let wanted = AttachmentMessage.want(AttachmentPiece(id, chunk: AttachmentLimits.chunksMax - 1))
        #expect(try FrameCodec.decode(encode(wanted)) == .attachment(wanted))
        let past = AttachmentMessage.want(AttachmentPiece(id, chunk: AttachmentLimits.chunksMax))
        #expect(throws: WireError.limitExceeded("chunksMax")) { try FrameCodec.decode(encode(past)) }
    }

    @Test func `an outline has at most bytesMax bytes, and as many hashes as chunks`() throws {
        let hashes = [UInt8](repeating: 1, count: 32 * AttachmentLimits.chunksMax)
        let largest = try #require(AttachmentOutline(size: AttachmentLimits.bytesMax, hashes: hashes))
        #expect(try FrameCodec.decode(encode(.outline(id, largest))) == .attachment(.outline(id, largest)))
        #expect(largest.range(ofChunk: largest.chunkCount - 1)?.upperBound == AttachmentLimits.bytesMax)
        let tooLarge = frame(0x99) { writer in
            writer.varint(UInt64(AttachmentLimits.bytesMax) + 1)
            writer.blob(hashes)
        }
        #expect(throws: WireError.limitExceeded("bytesMax")) { try FrameCodec.decode(tooLarge) }
        let tooMany = frame(0x99) { writer in
            writer.varint(1)
            writer.blob(hashes + [UInt8](repeating: 1, count: 32))
        }
        #expect(throws: WireError.limitExceeded("chunksMax")) { try FrameCodec.decode(tooMany) }
        for (size, count) in [(0, 2), (0, 0), (1, 0), (1, 2), (AttachmentLimits.chunkBytes, 2), (AttachmentLimits.chunkBytes + 1, 1)] {
            #expect(AttachmentOutline(size: Int64(size), hashes: [UInt8](repeating: 0, count: 32 * count)) == nil)
        }
        #expect(AttachmentOutline(size: -1, hashes: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(AttachmentOutline(size: AttachmentLimits.bytesMax + 1, hashes: hashes + [UInt8](repeating: 0, count: 32)) == nil)
    }

    @Test func `one message names at most holdingsAtOnceMax attachments, and more travel in several`() throws {
        let many = AttachmentLimits.holdingsAtOnceMax
        let full = AttachmentMessage.holdings(AttachmentHoldings(.also, Array(repeating: id, count: many)))
        #expect(try FrameCodec.decode(encode(full)) == .attachment(full))
        let past = AttachmentMessage.holdings(AttachmentHoldings(.also, Array(repeating: id, count: many + 1)))
        #expect(throws: WireError.limitExceeded("holdingsAtOnceMax")) { try FrameCodec.decode(encode(past)) }
        #expect(throws: WireError.self) { try FrameCodec.decode([0x9D, 0, 3, 0]) }
        let all = AttachmentHoldings.all(Array(repeating: id, count: 2 * many + 1))
        #expect(all.map(\.kind) == [.only, .also, .also] && all.map(\.ids.count) == [many, many, 1])
        #expect(AttachmentHoldings.all([]).map(\.kind) == [.only])
        let changes = AttachmentHoldings.changes(added: [id], removed: Array(repeating: id, count: many + 1))
        #expect(changes.map(\.kind) == [.also, .noLonger, .noLonger])
    }

    @Test func `chunks cover the content without gaps`() throws {
        for size in [0, 1, AttachmentLimits.chunkBytes - 1, AttachmentLimits.chunkBytes, AttachmentLimits.chunkBytes + 1, 1_000_000] {
            let count = max(1, (size + AttachmentLimits.chunkBytes - 1) / AttachmentLimits.chunkBytes)
            let outline = try #require(AttachmentOutline(size: Int64(size), hashes: [UInt8](repeating: 0, count: 32 * count)))
            var end: Int64 = 0
            for index in 0..<outline.chunkCount {
                let range = try #require(outline.range(ofChunk: index))
                #expect(range.lowerBound == end)
                end = range.upperBound
            }
            #expect(end == Int64(size))
            #expect(outline.range(ofChunk: outline.chunkCount) == nil && outline.hash(ofChunk: -1) == nil)
        }
    }

    @Test func `only 64 lower-case digits are an id`() {
        let text = String(repeating: "0f", count: 32)
        #expect(AttachmentID(text)?.description == text)
        for wrong in ["", text.dropLast() + "g", text.dropLast() + "F", text + "0", String(text.dropLast()), text.dropLast(2) + "é"] {
            #expect(AttachmentID(wrong) == nil)
        }
        #expect(AttachmentID(bytes: [UInt8](repeating: 0, count: 31)) == nil)
    }

    @Test func `types that are not known yet are still ignored`() throws {
        for type: UInt8 in [0x97, 0x9E] { #expect(try FrameCodec.decode([type, 1, 2, 3]) == nil) }
    }
}
