/// Rows that follow each other in the order of ``SlicePosition``.
package struct DigestRange: Hashable, Sendable {
    /// The row before the first; `nil` for the beginning of the store.
    package var after: SlicePosition?
    /// The last row; `nil` for the end of the store.
    package var through: SlicePosition?

    package init(after: SlicePosition? = nil, through: SlicePosition? = nil) {
        self.after = after
        self.through = through
    }

    /// Whether `position` is in the range.
    package func contains(_ position: SlicePosition) -> Bool {
        (after.map { $0 < position } ?? true) && (through.map { position <= $0 } ?? true)
    }
}

/// The sum of the rows of a range, up to a position.
package struct DigestPart: Hashable, Sendable {
    /// The last position that belongs to the part; `nil` for the end of the store. The part begins after the one before.
    package var through: SlicePosition?
    package var rows: DigestSum

    package init(through: SlicePosition?, rows: DigestSum) {
        self.through = through
        self.rows = rows
    }
}
