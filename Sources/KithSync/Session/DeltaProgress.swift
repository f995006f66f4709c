/// How far a delta has come that travels in several slices.
public struct DeltaProgress: Codable, Hashable, Sendable {
    /// Rows that were sent, or received and applied.
    public var rows: Int
    /// Bytes of the frames that carried them.
    public var bytes: Int
    /// Rows in all, as the sender estimates: rows of other replicas' commits may be among them that turn out not to be lacking.
    public var rowsTotal: Int

    public init(rows: Int = 0, bytes: Int = 0, rowsTotal: Int = 0) {
        self.rows = rows
        self.bytes = bytes
        self.rowsTotal = rowsTotal
    }
}
