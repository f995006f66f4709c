/// The limits of attachments. Each has a test at the limit and one past it.
package enum AttachmentLimits {
    /// Bytes of one attachment.
    package static let bytesMax: Int64 = 4 << 30
    /// Bytes of every chunk but the last. Part of an attachment's identity: it can never change.
    package static let chunkBytes = 256 << 10
    /// Chunks of one attachment.
    package static let chunksMax = Int(bytesMax) / chunkBytes
    /// Attachments that are fetched at the same time, each from another peer.
    package static let transfersMax = 4
    /// Chunks asked of one peer and not yet on the disk. What a row may have to wait for on its way is this much.
    package static let chunksInFlightMax = 2
    /// Pieces that a peer may have asked for and not yet been given.
    package static let requestsMax = 8
    /// Attachments that a session remembers to have been asked for in vain.
    package static let askersMax = 1_024
    /// Attachments that one message about holdings names.
    package static let holdingsAtOnceMax = 1_024
    /// Attachments that are noted as held by one member; of more it is not known who holds them.
    package static let holdingsMax = 262_144
    /// How long a peer may take to send a piece before another one is asked, in milliseconds.
    package static let patienceMilliseconds: Int64 = 30_000
    /// The same for a peer that was late several times, in milliseconds. The slowest line that is not cut off takes half of it.
    static let patienceMillisecondsMax: Int64 = 480_000
    /// When a peer that did not have an attachment is asked again, and when a disk that failed is tried again, in milliseconds.
    package static let retryMilliseconds: Int64 = 30_000
    /// The same for a peer that was asked again and again in vain, in milliseconds: it says by itself when it has something.
    static let retryMillisecondsMax: Int64 = 3_600_000
    /// How long an attachment is fetched before its peer makes room for another that waits, in milliseconds.
    package static let turnMilliseconds: Int64 = 60_000
    /// What one peer has said that it has, and no row names yet, of which that is remembered.
    static let newsMax = 1_024
}
