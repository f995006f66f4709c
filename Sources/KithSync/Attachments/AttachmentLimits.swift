/// The limits of attachments. Each has a test at the limit and one past it.
public enum AttachmentLimits {
    /// Bytes of one attachment.
    public static let bytesMax: Int64 = 4 << 30
    /// Bytes of every chunk but the last. Part of an attachment's identity: it can never change.
    public static let chunkBytes = 256 << 10
    /// Chunks of one attachment.
    public static let chunksMax = Int(bytesMax) / chunkBytes
    /// Attachments that are fetched at the same time, each from another peer.
    public static let transfersMax = 4
    /// Chunks asked of one peer and not yet on the disk. What a row may have to wait for on its way is this much.
    public static let chunksInFlightMax = 2
    /// Pieces that a peer may have asked for and not yet been given.
    public static let requestsMax = 8
    /// Attachments that a session remembers to have been asked for in vain.
    public static let askersMax = 1_024
    /// Attachments that one message about holdings names.
    public static let holdingsAtOnceMax = 1_024
    /// Attachments that are noted as held by one member; of more it is not known who holds them.
    public static let holdingsMax = 262_144
    /// How long a peer may take to send a piece before another one is asked, in milliseconds.
    public static let patienceMilliseconds: Int64 = 30_000
    /// The same for a peer that was late several times, in milliseconds. The slowest line that is not cut off takes half of it.
    public static let patienceMillisecondsMax: Int64 = 480_000
    /// When a peer that did not have an attachment is asked again, and when a disk that failed is tried again, in milliseconds.
    public static let retryMilliseconds: Int64 = 30_000
}
