/// The limits of everything that arrives. Each has a test at the limit and one past it.
public enum WireLimits {
    /// Bytes of one TEXT or BLOB value.
    public static let valueBytesMax = 100 << 20
    /// Rows of one slice.
    public static let sliceRowsMax = 2_000
    /// Bytes of one slice's rows when the sender cuts it; a single larger row travels alone.
    public static let sliceBytesMax = 4 << 20
    /// Bytes of one frame, once the peer has said hello: a slice of one row with a value of the largest size.
    public static let frameBytesMax = (100 << 20) + (16 << 20)
    /// Bytes of a hello, and of any frame before it: enough for the largest vectors a store may have.
    public static let helloBytesMax = 256 << 10
    /// Bytes of a frame that may be compressed, and of those before it that it is compressed with.
    public static let compressionBytesMax = 16 << 10
    /// Bytes of the smallest frame that a sender compresses: what is smaller is as quick to send as it is.
    public static let compressionBytesMin = 512
    /// Entries of all lists in one frame together, which bounds the memory that a frame takes once it is decoded.
    public static let entriesMax = 1 << 21
    /// Slices sent and not yet acknowledged, in one direction.
    public static let slicesInFlightMax = 4
    /// Bytes of slices sent and not yet acknowledged, in one direction; a single larger slice travels alone.
    public static let sliceBytesInFlightMax = 24 << 20
    /// Replicas named in a slice as being sent the same.
    public static let neighboursMax = 256
    /// Bytes of a group id.
    public static let groupBytesMax = 32
    /// Bytes of the name and version of the peer's software.
    public static let softwareBytesMax = 128
    /// Replicas in one vector.
    public static let replicasMax = 4_096
    /// Tables in one slice.
    public static let tablesMax = 1_024
    /// Columns of one table.
    public static let columnsMax = 2_000
    /// Bytes of a table's or column's name.
    public static let nameBytesMax = 512
    /// Concurrent writes of one register, or tombstones of one row.
    public static let concurrentMax = 4_096
    /// Different texts that were found in one cell.
    public static let textDocumentsMax = 1_024
    /// Elements of one set.
    public static let setElementsMax = 100_000
    /// Bytes of one message about the household.
    public static let householdBytesMax = 64 << 10
    /// Changes of one text in one slice.
    public static let textChangesMax = 1 << 20
    /// Bytes of the changes of one row's texts, and their number, beyond which a sender lets some of them travel ahead of it.
    public static let textBytesAtOnceMax = 32 << 20
    public static let textChangesAtOnceMax = 1 << 18
    /// Changes of one text, and their bytes, that are kept ahead of their row.
    public static let textChangesAheadMax = 1 << 22
    public static let textBytesAheadMax = 1 << 30
    /// Bytes of the operations, or of the inserted text, of one text change.
    public static let textBytesMax = 64 << 20
    /// Parts into which a range of rows is cut to find one that differs.
    public static let digestPartsMax = 64
    /// Bytes of a reason given for closing.
    public static let reasonBytesMax = 1_024
}
