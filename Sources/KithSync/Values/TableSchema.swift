/// The identity of a column between replicas: its name and how it merges.
///
/// A column of the same name and another kind is another column.
public struct ColumnKey: Hashable, Sendable, Comparable {
    /// UTF-8 bytes of the name, compared as bytes.
    public let name: [UInt8]
    public let kind: ColumnKind

    public init(name: [UInt8], kind: ColumnKind) {
        self.name = name
        self.kind = kind
    }

    public init(_ name: String, _ kind: ColumnKind) {
        self.init(name: Array(name.utf8), kind: kind)
    }

    public static func < (left: ColumnKey, right: ColumnKey) -> Bool {
        left.name == right.name ? left.kind.rawValue < right.kind.rawValue : left.name.lexicographicallyPrecedes(right.name)
    }
}

/// The columns of one table that a slice speaks of; cells refer to them by position.
public struct TableSchema: Hashable, Sendable {
    /// UTF-8 bytes of the name, compared as bytes.
    public let name: [UInt8]
    public var columns: [ColumnKey]
    /// Columns of which rows of the sender may lack cells that nobody has removed: its app, or that of somebody it has rows from, let
    /// go of the column once.
    public var incomplete: [ColumnKey]

    public init(name: [UInt8], columns: [ColumnKey], incomplete: [ColumnKey] = []) {
        self.name = name
        self.columns = columns
        self.incomplete = incomplete
    }
}
