/// The identity of a column between replicas: its name and how it merges.
///
/// A column of the same name and another kind is another column.
package struct ColumnKey: Hashable, Sendable, Comparable {
    /// UTF-8 bytes of the name, compared as bytes.
    package let name: [UInt8]
    package let kind: ColumnKind

    package init(name: [UInt8], kind: ColumnKind) {
        self.name = name
        self.kind = kind
    }

    package init(_ name: String, _ kind: ColumnKind) {
        self.init(name: Array(name.utf8), kind: kind)
    }

    package static func < (left: ColumnKey, right: ColumnKey) -> Bool {
        left.name == right.name ? left.kind.rawValue < right.kind.rawValue : left.name.lexicographicallyPrecedes(right.name)
    }
}

/// The columns of one table that a slice speaks of; cells refer to them by position.
package struct TableSchema: Hashable, Sendable {
    /// UTF-8 bytes of the name, compared as bytes.
    package let name: [UInt8]
    package var columns: [ColumnKey]
    /// Columns of which rows of the sender may lack cells that nobody has removed: its app, or that of somebody it has rows from, let
    /// go of the column once.
    package var incomplete: [ColumnKey]

    package init(name: [UInt8], columns: [ColumnKey], incomplete: [ColumnKey] = []) {
        self.name = name
        self.columns = columns
        self.incomplete = incomplete
    }
}
