import KithCausality

/// A summary of the rows of a store: two stores with equal vectors have equal digests, whatever way they came to them.
package struct StoreDigest: Hashable, Sendable {
    /// What the store knew.
    package var vector: VersionVector
    /// The rows.
    package var rows: DigestSum

    package init(vector: VersionVector, rows: DigestSum) {
        self.vector = vector
        self.rows = rows
    }

    /// Whether both stores know the same and yet hold different rows, which a merge never causes.
    package func contradicts(_ other: StoreDigest) -> Bool {
        vector == other.vector && rows != other.rows
    }
}

/// The digests of some rows together, in no order: added, they can be taken away again.
package struct DigestSum: Hashable, Sendable {
    /// How many rows.
    package private(set) var count: UInt64
    /// The sum of their digests, without carry.
    package private(set) var value: UInt64

    package init(count: UInt64 = 0, value: UInt64 = 0) {
        self.count = count
        self.value = value
    }

    /// Adds a row's digest; `nil` is a row that does not count.
    package mutating func add(_ row: UInt64?) {
        guard let row else { return }
        count &+= 1
        value &+= row
    }

    /// Takes a row's digest away.
    package mutating func subtract(_ row: UInt64?) {
        guard let row else { return }
        count &-= 1
        value &-= row
    }
}
