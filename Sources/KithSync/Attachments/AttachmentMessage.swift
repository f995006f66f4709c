/// What two replicas say to each other about attachments.
public enum AttachmentMessage: Hashable, Sendable {
    /// Send me this piece. Answered with the piece, or with ``haveNot(_:)``.
    case want(AttachmentPiece)
    /// The outline that was asked for.
    case outline(AttachmentID, AttachmentOutline)
    /// The chunk that was asked for.
    case chunk(AttachmentID, index: Int, [UInt8])
    /// The attachment that was asked for is not here, or not whole.
    case haveNot(AttachmentID)
    /// The attachment that was once asked for in vain has come.
    case have(AttachmentID)
}

/// A part of an attachment that can be asked for.
public struct AttachmentPiece: Hashable, Sendable {
    public let id: AttachmentID
    /// The number of a chunk, from 0; `nil` for the outline.
    public let chunk: Int?

    public init(_ id: AttachmentID, chunk: Int?) {
        self.id = id
        self.chunk = chunk
    }
}
