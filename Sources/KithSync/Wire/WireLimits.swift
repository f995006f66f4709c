import KithText

/// The limits of everything that arrives. Each has a test at the limit and one past it.
package enum WireLimits {
    /// Bytes of one TEXT or BLOB value.
    package static let valueBytesMax = 100 << 20
    /// Rows of one slice.
    package static let sliceRowsMax = 2_000
    /// Bytes of one slice's rows when the sender cuts it; a single larger row travels alone.
    package static let sliceBytesMax = 4 << 20
    /// Bytes of one frame, once the peer has said hello: a slice of one row with a value of the largest size.
    package static let frameBytesMax = (100 << 20) + (16 << 20)
    /// Bytes of a hello, and of any frame before it. What a store knows may be more; then the hello says its hash.
    package static let helloBytesMax = 256 << 10
    /// Heads that a session names to find out what the other side lacks, before it names all.
    package static let newestHeadsMax = 64
    /// Bytes of a frame that may be compressed, and of those before it that it is compressed with.
    package static let compressionBytesMax = 16 << 10
    /// Bytes of the smallest frame that a sender compresses: what is smaller is as quick to send as it is.
    package static let compressionBytesMin = 512
    /// Entries of all lists in one frame together, which bounds the memory that a frame takes once it is decoded.
    package static let entriesMax = 1 << 21
    /// Slices sent and not yet acknowledged, in one direction.
    package static let slicesInFlightMax = 4
    /// Bytes of slices sent and not yet acknowledged, in one direction; a single larger slice travels alone.
    package static let sliceBytesInFlightMax = 24 << 20
    /// Replicas named in a slice as being sent the same.
    package static let neighboursMax = 256
    /// Bytes of a group id.
    package static let groupBytesMax = 32
    /// Bytes of the name and version of the peer's software.
    package static let softwareBytesMax = 128
    /// Replicas in one vector.
    package static let replicasMax = 65_536
    /// Tables in one slice.
    package static let tablesMax = 1_024
    /// Columns of one table.
    package static let columnsMax = 2_000
    /// Bytes of a table's or column's name.
    package static let nameBytesMax = 512
    /// Concurrent writes of one register, or tombstones of one row.
    package static let concurrentMax = 4_096
    /// Different texts that were found in one cell.
    static let textDocumentsMax = 1_024
    /// Elements of one set.
    package static let setElementsMax = 100_000
    /// Bytes of one message about the household.
    static let householdBytesMax = 64 << 10
    /// Parents of one text change: as many as a text has current versions that an edit joins.
    package static let textParentsMax = TextLimits.parentsMax
    /// Changes of texts in the rows of one frame.
    package static let textChangesMax = 1 << 17
    /// Bytes of the changes of one row's texts, and number of those of a slice, beyond which a sender lets some of them travel ahead of it.
    static let textBytesAtOnceMax = 32 << 20
    static let textChangesAtOnceMax = 1 << 12
    /// Changes of one text, and their bytes, that are kept ahead of their row.
    package static let textChangesAheadMax = 1 << 22
    package static let textBytesAheadMax = 1 << 30
    /// Bytes of the operations, or of the inserted text, of one text change.
    static let textBytesMax = 64 << 20
    /// Parts into which a range of rows is cut to find one that differs.
    package static let digestPartsMax = 64
    /// Bytes of a reason given for closing.
    package static let reasonBytesMax = 1_024
}
