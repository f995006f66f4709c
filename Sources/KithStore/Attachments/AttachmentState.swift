import Foundation

/// Whether the bytes of an attachment are here. A row may be, long before its bytes are.
public enum AttachmentState: Hashable, Sendable {
    /// All of it, proved when it came. That the disk has changed it since is found when it is read: see ``SyncedDatabase/verifyAttachments()``.
    case present(AttachmentFile)
    /// It is being fetched, or will be as soon as a peer that has it is met; the size is known once one was.
    case onItsWay(receivedBytes: Int64, sizeBytes: Int64?)
    /// It is larger than what is fetched unasked, and nobody has asked for it: see ``SyncedDatabase/fetchAttachment(_:)``.
    case notFetched(sizeBytes: Int64)
    /// It was here, and the disk has changed it. It is fetched again, whatever its size, from a peer that has it.
    case damaged(receivedBytes: Int64, sizeBytes: Int64?)

    /// Bytes of the whole, if known.
    public var sizeBytes: Int64? {
        switch self {
        case .present(let file): file.sizeBytes
        case .onItsWay(_, let size): size
        case .notFetched(let size): size
        case .damaged(_, let size): size
        }
    }
}

/// The content of an attachment on this machine's disk.
public struct AttachmentFile: Hashable, Sendable {
    /// To be read, never written.
    public let url: URL
    /// The content's length.
    public let sizeBytes: Int64
}
