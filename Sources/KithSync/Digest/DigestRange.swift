/// Rows that follow each other in the order of ``SlicePosition``.
public struct DigestRange: Hashable, Sendable {
    /// The row before the first; `nil` for the beginning of the store.
    public var after: SlicePosition?
    /// The last row; `nil` for the end of the store.
    public var through: SlicePosition?

    public init(after: SlicePosition? = nil, through: SlicePosition? = nil) {
        self.after = after
        self.through = through
    }

    /// Whether `position` is in the range.
    public func contains(_ position: SlicePosition) -> Bool {
        (after.map { $0 < position } ?? true) && (through.map { position <= $0 } ?? true)
    }
}

/// The sum of the rows of a range, up to a position.
public struct DigestPart: Hashable, Sendable {
    /// The last position that belongs to the part; `nil` for the end of the store. The part begins after the one before.
    public var through: SlicePosition?
    public var rows: DigestSum

    public init(through: SlicePosition?, rows: DigestSum) {
        self.through = through
        self.rows = rows
    }
}
