import CZlib

/// One direction of a session, in which a frame travels as what it says beside the frames before it.
///
/// Most of what frames of a large group say of who knows what has been said just before. So each is compressed with DEFLATE
/// (RFC 1951) and the last frames of its direction as the dictionary, as RFC 7692 does with the messages of a WebSocket. Both
/// sides see the same frames in the same order, and hold the same dictionary. See docs/protocol.md, "Compressed frames".
package struct FrameCompression: Sendable {
    /// The last frames, one behind the other; of these the last ``WireLimits/compressionBytesMax`` bytes count.
    private var recent: [UInt8] = []

    package init() {}

    /// The bytes to send for `frame`, the next one of this direction.
    ///
    /// - Parameter isUnderstood: whether the peer has said that it can undo it.
    package mutating func compress(_ frame: [UInt8], isUnderstood: Bool) -> [UInt8] {
        guard Self.concerns(frame) else { return frame }
        defer { remember(frame) }
        guard isUnderstood, frame.count >= WireLimits.compressionBytesMin else { return frame }
        var writer = ByteWriter()
        writer.byte(FrameCodec.FrameType.compressed)
        writer.count(frame.count)
        writer.raw(deflate(frame))
        return writer.count < frame.count ? writer.bytes : frame
    }

    /// The frame that was sent as `bytes`, the next ones of this direction to arrive.
    ///
    /// - Throws: ``WireError`` if they are no frame that was compressed by somebody who has sent what was received here. Takes at
    ///   most ``WireLimits/compressionBytesMax`` bytes for it, whatever arrives.
    package mutating func decompress(_ bytes: [UInt8]) throws(WireError) -> [UInt8] {
        var frame = bytes
        if bytes.first == FrameCodec.FrameType.compressed {
            var reader = ByteReader(bytes)
            _ = try reader.byte()
            let count = try reader.varint()
            guard count <= UInt64(WireLimits.compressionBytesMax) else { throw .limitExceeded("compressionBytesMax") }
            frame = try inflate(try reader.raw(reader.remaining), count: Int(count))
            guard Self.concerns(frame) else { throw .malformed("compressed frame of another kind") }
        }
        if Self.concerns(frame) { remember(frame) }
        return frame
    }

    /// Whether a frame is one of the session's own, which are sent in the order in which they are made, and not too long.
    private static func concerns(_ frame: [UInt8]) -> Bool {
        guard let type = frame.first, frame.count <= WireLimits.compressionBytesMax else { return false }
        return type < FrameCodec.firstOptionalType || FrameCodec.FrameType.knownOptional.contains(type)
    }

    private mutating func remember(_ frame: [UInt8]) {
        recent += frame
        if recent.count > 2 * WireLimits.compressionBytesMax { recent.removeFirst(recent.count - WireLimits.compressionBytesMax) }
    }
}

// MARK: - zlib

extension FrameCompression {
    /// No header and no checksum: what carries frames tells whether they are damaged.
    private static let windowBits: Int32 = -15

    private var dictionary: ArraySlice<UInt8> { recent.suffix(WireLimits.compressionBytesMax) }

    private func deflate(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        let started = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, Self.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        // Only memory could be missing, which Swift does not survive either.
        precondition(started == Z_OK, "zlib could not begin: \(started)")
        defer { deflateEnd(&stream) }
        dictionary.withUnsafeBufferPointer { _ = deflateSetDictionary(&stream, $0.baseAddress, UInt32($0.count)) }
        let room = Int(deflateBound(&stream, UInt(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: room) { output, count in
            let result = stream.run(from: bytes, to: output) { CZlib.deflate(&$0, Z_FINISH) }
            precondition(result == Z_STREAM_END, "zlib could not compress: \(result)")
            count = room - Int(stream.avail_out)
        }
    }

    private func inflate(_ bytes: [UInt8], count: Int) throws(WireError) -> [UInt8] {
        var stream = z_stream()
        let started = inflateInit2_(&stream, Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(started == Z_OK, "zlib could not begin: \(started)")
        defer { inflateEnd(&stream) }
        dictionary.withUnsafeBufferPointer { _ = inflateSetDictionary(&stream, $0.baseAddress, UInt32($0.count)) }
        var isWhole = false
        let frame = [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            let result = stream.run(from: bytes, to: output) { CZlib.inflate(&$0, Z_FINISH) }
            isWhole = result == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0
            initialized = isWhole ? count : 0
        }
        guard isWhole else { throw .malformed("compressed frame") }
        return frame
    }
}

extension z_stream {
    /// Runs `step` over all of `input`, with room for what comes of it.
    fileprivate mutating func run(
        from input: [UInt8], to output: UnsafeMutableBufferPointer<UInt8>, _ step: (inout z_stream) -> Int32
    ) -> Int32 {
        input.withUnsafeBufferPointer { input in
            // zlib does not write there.
            next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            avail_in = UInt32(input.count)
            next_out = output.baseAddress
            avail_out = UInt32(output.count)
            return step(&self)
        }
    }
}
