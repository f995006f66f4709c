import KithSync
import NIOCore

extension FrameDecoder {
    /// Takes bytes from `input` up to the end of the next frame.
    /// - Parameter limit: longest frame allowed, in bytes.
    mutating func next(from input: inout ByteBuffer, limit: Int) -> Step {
        input.readWithUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            let step = next(from: &rest, limit: limit)
            return (bytes.count - rest.count, step)
        }
    }
}
