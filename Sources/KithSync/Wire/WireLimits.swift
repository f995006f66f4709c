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
    /// Bytes of one frame before the peer has said hello.
    public static let helloBytesMax = 64 << 10
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
    /// Elements of one set.
    public static let setElementsMax = 100_000
    /// Bytes of a reason given for closing.
    public static let reasonBytesMax = 1_024
}
