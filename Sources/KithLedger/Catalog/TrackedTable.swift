import KithSync

/// The declaration that a table of the app takes part in synchronisation.
///
/// The table itself is the app's own, made by its own SQL:
///
///     CREATE TABLE note (
///         id    BLOB PRIMARY KEY NOT NULL,          -- a UUID, 16 bytes
///         title TEXT NOT NULL DEFAULT '',
///         tags  TEXT NOT NULL DEFAULT '[]')
///
///     TrackedTable("note", sets: ["tags"])
///
/// Its primary key is one column that holds UUIDs, as 16 bytes or as text (``KeyForm``). Every other column is nullable or has a default, and none is
/// `UNIQUE`: two machines could each insert a row that is fine alone. (Columns of a natural key are exempt from both; see ``key``.) At most ``columnsMax`` columns and ``rowBytesMax``
/// bytes a row, and one column at least beside the key. Its foreign keys refer to primary keys of tracked tables; they hold after every merge, too.
public struct TrackedTable: Hashable, Sendable {
    /// Columns of one tracked table, the key aside.
    public static let columnsMax = 60
    /// Columns of a natural key.
    public static let keyColumnsMax = 8
    /// Bytes of one row, all its values together. SQLite answers a longer one with "string or blob too big".
    public static let rowBytesMax = WireLimits.valueBytesMax

    /// Its name in the app's schema.
    public let name: String
    /// Columns that merge otherwise than as registers.
    public let kinds: [String: ColumnKind]
    /// Columns that stay on this machine.
    public let localColumns: Set<String>
    /// For each column that had another name once, the name it had first, by which all replicas know it.
    public let renamed: [String: String]
    /// Columns that name attachments: see ``SyncedDatabase/attach(contentsOf:)``. They merge as registers, and other replicas need not
    /// declare them alike.
    public let attachments: [String]
    /// The column in which the order stands that people give the rows by hand: see ``Position``. It merges as a register.
    public let position: String?
    /// What becomes of a row that is deleted on one device and edited on another at the same time.
    public let deletePolicy: DeletePolicy
    /// The columns whose values name a row, in the order of the key, so that two machines which insert the same key have inserted one row;
    /// `nil` if ids are drawn.
    ///
    ///     CREATE TABLE entry (
    ///         id   BLOB PRIMARY KEY NOT NULL,
    ///         day  TEXT NOT NULL UNIQUE,
    ///         text TEXT NOT NULL DEFAULT '')
    ///
    ///     TrackedTable("entry", key: ["day"])
    ///
    ///     INSERT INTO entry (id, day, text) VALUES (kith_key('entry', '2026-11-21'), '2026-11-21', 'Rain')
    ///       ON CONFLICT (day) DO UPDATE SET text = excluded.text
    ///
    /// The row's id is made of the table's name and these values (`RowID(table:key:)`, or `kith_key` in SQL); Kith
    /// refuses an insertion with any other. A key holds integers, text and blobs, compared as bytes: `1` and `'1'` are two
    /// keys, and so are two Unicode spellings of one word. NULL and reals are refused. Key columns merge as registers, never
    /// change in place, and may be `NOT NULL` without a default and `UNIQUE`, which other columns may not.
    ///
    /// The order of the columns is part of the key. Neither it nor the table's name can change later: all ids would.
    public let key: [String]?
    /// For how long what transactions made of its rows is kept in this file, for ``SyncedDatabase/history(after:tables:excluding:limit:)``
    /// and undo; `nil` if it is not.
    public let journal: Journal?
    /// How the table writes its ids; `nil` leaves it to the rows that are there, else to what the column declares: TEXT in lower case where
    /// that is text, and BLOB otherwise.
    public let ids: KeyForm?
    /// Columns that are declared as of more than one kind, sorted.
    package let ambiguous: [String]

    /// - Parameters:
    ///   - name: the table's name, as in its `CREATE TABLE`.
    ///   - sets: columns that hold a JSON array of distinct elements.
    ///   - counters: INTEGER columns whose concurrent increments add up.
    ///   - attachments: TEXT columns that hold the id of an attachment, whose bytes are fetched from peers.
    ///   - position: a TEXT column for an order by hand.
    ///   - texts: TEXT columns that several people may edit at once: what each types is merged character by character.
    ///   - localColumns: columns that are not synchronised. A row that was deleted or hidden and comes back has their values again.
    ///   - renamed: for each column that was renamed, its first name: `["heading": "title"]`. Without it a column of another
    ///     name is another column.
    ///   - key: the columns that a row's id is made of, from one to ``keyColumnsMax``, so that the same key on two machines is one row.
    ///   - ids: how the table writes its ids, where its rows and its key column do not tell.
    ///   - journal: for how long old and new values of changes are kept.
    public init(
        _ name: String, sets: [String] = [], counters: [String] = [], texts: [String] = [], attachments: [String] = [],
        position: String? = nil, localColumns: Set<String> = [], renamed: [String: String] = [:], deletePolicy: DeletePolicy = .updateWins,
        key: [String]? = nil, ids: KeyForm? = nil, journal: Journal? = nil
    ) {
        self.name = name
        var kinds: [String: ColumnKind] = [:]
        for column in sets { kinds[column] = .set }
        for column in counters { kinds[column] = .counter }
        for column in texts { kinds[column] = .text }
        self.kinds = kinds
        let named = [sets, counters, texts, attachments, position.map { [$0] } ?? [], Array(localColumns)].flatMap(Set.init)
        ambiguous = Dictionary(grouping: named) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
        self.localColumns = localColumns
        self.renamed = renamed
        self.attachments = attachments
        self.position = position
        self.deletePolicy = deletePolicy
        self.key = key
        self.ids = ids
        self.journal = journal
    }

    /// For how long a journal is kept.
    public struct Journal: Hashable, Sendable {
        /// At least one, and at most a million.
        public let days: Int

        /// So many days, from the end of each transaction on by this machine's clock: `.max` for ever.
        public static func days(_ days: Int) -> Journal { Journal(days: min(max(1, days), 1_000_000)) }
    }
}
