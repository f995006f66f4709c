/// The columns whose values name a row, so that two machines which insert the same key have inserted one row.
///
///     CREATE TABLE entry (
///         id   BLOB PRIMARY KEY NOT NULL,
///         day  TEXT NOT NULL UNIQUE,
///         text TEXT NOT NULL DEFAULT '')
///
///     TrackedTable("entry", key: Key("day"))
///
///     INSERT INTO entry (id, day, text) VALUES (kith_key('entry', '2026-11-21'), '2026-11-21', 'Rain')
///       ON CONFLICT (day) DO UPDATE SET text = excluded.text
///
/// The row's id is made of the table's name and these values (``/KithSync/RowID/init(table:key:)``, or `kith_key` in SQL); Kith
/// refuses an insertion with any other. A key holds integers, text and blobs, compared as bytes: `1` and `'1'` are two
/// keys, and so are two Unicode spellings of one word. NULL and reals are refused. Key columns merge as registers, never
/// change in place, and may be `NOT NULL` without a default and `UNIQUE`, which other columns may not.
///
/// The order of the columns is part of the key. Neither it nor the table's name can change later: all ids would.
public struct Key: Hashable, Sendable {
    /// Columns of a key.
    public static let columnsMax = 8

    /// The columns, in the order of the key.
    public let columns: [String]

    /// - Parameter columns: from one to ``columnsMax``, in the order in which they make up the key.
    public init(_ columns: String...) {
        self.init(columns)
    }

    /// - Parameter columns: from one to ``columnsMax``, in the order in which they make up the key.
    public init(_ columns: [String]) {
        self.columns = columns
    }
}
