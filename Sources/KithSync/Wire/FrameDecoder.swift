/// Cuts a stream of bytes into frames: four bytes of length, big-endian, then that many bytes. A pure value.
///
/// The length is judged before anything is allocated for it, and memory grows with the bytes that arrive, not with
/// the length that was promised. A stream that ends in the middle of a frame leaves no frame.
package struct FrameDecoder: Sendable {
    /// Bytes of the length in front of each frame.
    package static let headerBytes = 4
    /// Bytes reserved for a frame before its content has arrived.
    package static let reservedBytesMax = 64 * 1024

    package enum Step: Hashable, Sendable {
        /// A whole frame.
        case frame([UInt8])
        /// The input is used up; nothing is decided.
        case needsMore
        /// The next frame has this length, more than the limit. Asking again with a higher limit goes on.
        case overLimit(Int)
        /// The next frame has no content, which no sender may say. There is no way on.
        case empty
    }

    private var headerCount = 0
    private var length = 0
    private var body: [UInt8]?

    package init() {}

    /// The length that stands in front of `frame`, to be written in big-endian order.
    package static func header(of frame: [UInt8]) -> UInt32 {
        UInt32(truncatingIfNeeded: frame.count)
    }

    /// Whether a frame has begun and is not complete.
    package var isInsideFrame: Bool { headerCount > 0 }

    /// Bytes held for the incomplete frame.
    package var reservedBytes: Int { body?.capacity ?? 0 }

    /// Takes bytes from the front of `input` up to the end of the next frame.
    /// - Parameter limit: longest frame allowed, in bytes.
    package mutating func next(from input: inout UnsafeRawBufferPointer.SubSequence, limit: Int) -> Step {
        while headerCount < Self.headerBytes {
            guard let byte = input.popFirst() else { return .needsMore }
            length = length << 8 | Int(byte)
            headerCount += 1
        }
        guard length > 0 else { return .empty }
        guard var content = body ?? begin(limit: limit) else { return .overLimit(length) }
        body = nil  // so that the array has one owner and grows in place
        let taken = input.prefix(length - content.count)
        content.append(contentsOf: UnsafeRawBufferPointer(rebasing: taken))
        input = input[taken.endIndex...]
        guard content.count == length else {
            body = content
            return .needsMore
        }
        self = FrameDecoder()
        return .frame(content)
    }

    private func begin(limit: Int) -> [UInt8]? {
        guard length <= limit else { return nil }
        var content: [UInt8] = []
        content.reserveCapacity(min(length, Self.reservedBytesMax))
        return content
    }
}
