import KithCausality

/// Where a row stands in the order of a catch-up: by table name, then by row id, both as bytes.
///
/// The order is the same on every replica, so that a catch-up broken off with one peer is resumed with another.
package struct SlicePosition: Hashable, Sendable, Comparable {
    /// UTF-8 bytes of the table's name.
    package let table: [UInt8]
    package let row: RowID

    package init(table: [UInt8], row: RowID) {
        self.table = table
        self.row = row
    }

    /// Behind all rows.
    package static let end = SlicePosition(
        table: Array(repeating: .max, count: WireLimits.nameBytesMax + 1), row: RowID(high: .max, low: .max))

    /// The place just before this row's; `nil` for the first id of a table.
    package var predecessor: SlicePosition? {
        if row.low > 0 { return SlicePosition(table: table, row: RowID(high: row.high, low: row.low - 1)) }
        return row.high > 0 ? SlicePosition(table: table, row: RowID(high: row.high - 1, low: .max)) : nil
    }

    package static func < (left: SlicePosition, right: SlicePosition) -> Bool {
        left.table == right.table ? left.row < right.row : left.table.lexicographicallyPrecedes(right.table)
    }
}

/// The newest commit known of a replica.
package struct Head: Hashable, Sendable {
    package let dot: Dot
    /// The commit's timestamp, by which two histories of one replica are told apart.
    package let timestamp: HybridTimestamp

    package init(dot: Dot, timestamp: HybridTimestamp) {
        self.dot = dot
        self.timestamp = timestamp
    }
}

/// A catch-up that was broken off: what of it need not be sent again.
package struct Resumption: Hashable, Sendable {
    /// Rows up to and including this one arrived.
    package let position: SlicePosition
    /// They arrived as a sender with this vector (or a later one) knew them.
    package let vector: VersionVector

    package init(position: SlicePosition, vector: VersionVector) {
        self.position = position
        self.vector = vector
    }
}

/// What a sender is asked to read next.
package struct SliceRequest: Hashable, Sendable {
    /// The vector of the replica that will receive it.
    package let since: VersionVector
    /// What the receiver holds of a catch-up that was broken off.
    package let resumption: Resumption?
    /// The last row already sent of this delta; `nil` at its start.
    package let after: SlicePosition?
    /// What the receiver will know when the delta is complete: the vector of its first slice; `nil` at its start.
    package let target: [Head]?
    /// What has gone ahead of the row after ``after``.
    package let preludes: Preludes
    /// Rows that were found too large to be sent, and are left out as long as they are.
    package var withheld: [SlicePosition] = []

    package init(
        since: VersionVector, resumption: Resumption? = nil, after: SlicePosition? = nil, target: [Head]? = nil,
        preludes: Preludes = Preludes()
    ) {
        self.preludes = preludes
        self.since = since
        self.resumption = resumption
        self.after = after
        self.target = target
    }
}

/// One row of a slice: the part of it that the receiver lacks.
package struct RowPart: Hashable, Sendable {
    /// Index into the slice's tables; the cells' columns are indices into that table's columns.
    package var table: Int
    package var id: RowID
    package var state: RowState
    /// Whether cells are left out because the receiver knows them. A receiver that does not hold the row at all has collected
    /// it, and needs the whole of it.
    package var isCut: Bool
    /// Whether this is only the beginning of what is to come of the row: changes of texts, too many for one slice, to be kept
    /// until the row itself comes. Says nothing else of the row, and stands alone in its slice.
    package var isPrelude = false

    package init(table: Int, id: RowID, state: RowState, isCut: Bool = false) {
        self.table = table
        self.id = id
        self.state = state
        self.isCut = isCut
    }
}

/// What makes a slice speak of absent rows, too: every row that the sender holds between ``after`` and the slice's position is
/// in it, whole. What the receiver has there beside them, and the sender's vector covers, was deleted and collected.
package struct Listing: Hashable, Sendable {
    /// Up to where rows were listed before: by the slices before, or by a catch-up that was broken off. `nil` at the start.
    package var after: SlicePosition?
    /// The deletions that the sender has collected: who has not seen them all needs a listing, from the receiver as well once
    /// the delta is complete.
    package var floor: VersionVector

    package init(after: SlicePosition?, floor: VersionVector) {
        self.after = after
        self.floor = floor
    }
}

/// A delta, or one of the slices it is cut into between rows.
package struct Slice: Hashable, Sendable {
    /// The vector of the receiver the delta was made for. It may be applied if the receiver's vector covers this.
    package var since: VersionVector
    /// The sender's vector, from the read transaction that read these rows: the context of each row.
    package var vector: VersionVector
    /// What the receiver knows, beside its own, when the last slice is in.
    package var target: [Head]
    /// The sender's hybrid clock.
    package var clock: HybridTimestamp
    /// Whether this slice completes the delta.
    package var isLast: Bool
    /// Whether this slice begins the delta.
    package var isFirst: Bool
    /// The last row of this slice; `nil` if the delta has no rows.
    package var position: SlicePosition?
    /// Rows still to come, as an estimate for progress; 0 in the last slice.
    package var rowsRemaining: Int
    /// The tables that the rows refer to.
    package var tables: [TableSchema]
    package var rows: [RowPart]
    /// Set if absence means something; then `since` is empty.
    package var listing: Listing?
    /// Rows that are left out of the delta, because they are too large; on the wire this is not said. ``target`` does not have their authors.
    package var withheld: [SlicePosition] = []

    package init(
        since: VersionVector, vector: VersionVector, target: [Head], clock: HybridTimestamp, isFirst: Bool, isLast: Bool,
        position: SlicePosition?, rowsRemaining: Int, tables: [TableSchema], rows: [RowPart], listing: Listing? = nil
    ) {
        self.since = since
        self.vector = vector
        self.target = target
        self.clock = clock
        self.isFirst = isFirst
        self.isLast = isLast
        self.position = position
        self.rowsRemaining = rowsRemaining
        self.tables = tables
        self.rows = rows
        self.listing = listing
    }

    /// Whether the slice brings no row, but the beginning of one; its position is just before that.
    package var isPrelude: Bool { rows.first?.isPrelude == true }

    /// How many rows it brings to their end.
    var rowCount: Int { isPrelude ? 0 : rows.count }

    /// Whether the slice may follow one that ends at `after`.
    package func follows(_ after: SlicePosition?) -> Bool {
        guard let position else { return isLast }
        guard let after else { return true }
        // What was left of a delta may be known to the receiver, or superseded, by the time it is read.
        let isEmptyEnd = isLast && rows.isEmpty
        return isPrelude || isEmptyEnd ? after <= position : after < position
    }

    /// The vector of ``target``.
    package var targetVector: VersionVector { VersionVector(target.map(\.dot)) }
}

/// What a session needs to know of its store, read in one transaction.
package struct StoreSummary: Hashable, Sendable {
    /// Who this store is.
    package var replica: ReplicaID
    /// The newest commit known of every replica, this one's own among them, sorted by replica.
    package private(set) var heads: [Head]
    /// The same without timestamps.
    package private(set) var vector: VersionVector
    /// The hybrid clock.
    package var clock: HybridTimestamp
    /// The catch-up that was broken off, if there is one.
    package var resumption: Resumption?

    package init(replica: ReplicaID, heads: [Head], clock: HybridTimestamp, resumption: Resumption? = nil) {
        self.replica = replica
        self.heads = heads
        self.clock = clock
        self.resumption = resumption
        vector = VersionVector(heads.map(\.dot))
    }

    /// The newest commit known of `replica`.
    package func head(of replica: ReplicaID) -> Head? {
        let index = index(of: replica)
        return index < heads.count && heads[index].dot.replica == replica ? heads[index] : nil
    }

    /// Learns of a commit, unless a newer one of its replica is known.
    mutating func learn(_ head: Head) {
        guard head.dot.sequence > vector[head.dot.replica] else { return }
        let index = index(of: head.dot.replica)
        if index < heads.count, heads[index].dot.replica == head.dot.replica {
            heads[index] = head
        } else {
            heads.insert(head, at: index)
        }
        vector.insert(head.dot)
    }

    /// Where the replica's head stands, or would.
    private func index(of replica: ReplicaID) -> Int {
        var (low, high) = (0, heads.count)
        while low < high {
            let middle = (low + high) / 2
            if heads[middle].dot.replica < replica { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// What became of a slice that was to be applied.
package enum ApplyOutcome: Hashable, Sendable {
    /// It is in the store, whose state is now this.
    case applied(StoreSummary)
    /// The store's vector does not cover the slice's `since`; nothing changed.
    case refused(StoreSummary)
    /// A row comes back that was deleted and collected here; nothing changed. Rows must be sent whole, that is, since nothing.
    case incomplete(StoreSummary)
}
