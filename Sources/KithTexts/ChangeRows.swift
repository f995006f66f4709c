import KithSQLite

/// The newest changes of texts, one a row. The only owner of `kith_text_change`.
///
/// ``TextArchive`` encodes and decodes them.
struct ChangeRows {
    static let sql = """
        -- Their newest changes, one a row; `parents` are event numbers, NULL: the event before.
        CREATE TABLE IF NOT EXISTS kith_text_change (
            text INTEGER NOT NULL, first INTEGER NOT NULL, length INTEGER NOT NULL, replica INTEGER NOT NULL,
            sequence INTEGER NOT NULL, timestamp INTEGER NOT NULL, parents BLOB, replaced INTEGER, outside BLOB,
            steps BLOB NOT NULL, inserted BLOB NOT NULL, PRIMARY KEY (text, first)) WITHOUT ROWID;
        """

    private let connection: DatabaseConnection

    init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    /// Removes what is kept of texts, whose numbers `texts` selects.
    static func removeSQL(of texts: String) -> String { "DELETE FROM kith_text_change WHERE text IN (\(texts))" }

    /// Selects by replica, by its number here, the bytes of its changes.
    static let bytesByReplicaSQL = """
        SELECT replica, sum(length(steps) + length(inserted) + coalesce(length(parents), 0) + coalesce(length(outside), 0))
        FROM kith_text_change GROUP BY replica
        """

    /// Takes text, first event, length, replica, sequence number, timestamp, parents, scalars replaced, parents outside, steps and text.
    func inserting() throws -> PreparedStatement {
        try connection.statement(
            """
            INSERT OR REPLACE INTO kith_text_change
            (text, first, length, replica, sequence, timestamp, parents, replaced, outside, steps, inserted)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
    }

    /// Selects the same but for the text, and without operations also the steps, of changes that begin before `end`, the newest first.
    func selecting(_ text: Int64, before end: Int, max limit: Int, operations: Bool) throws -> PreparedStatement {
        let select = try connection.statement(operations ? Self.wholeSQL : Self.graphSQL)
        select.bind(1, text)
        select.bind(2, end)
        select.bind(3, limit)
        return select
    }

    private static let wholeSQL = """
        SELECT first, length, replica, sequence, timestamp, parents, replaced, outside, steps, inserted
        \(newestSQL)
        """
    private static let graphSQL = """
        SELECT first, length, replica, sequence, timestamp, parents, replaced, outside
        \(newestSQL)
        """
    private static let newestSQL = "FROM kith_text_change WHERE text = ? AND first < ? ORDER BY first DESC LIMIT ?"

    /// Selects the parents that restarts of a text name and that were not here when these came. Restarts are never packed.
    func selectingOutsides(of text: Int64) throws -> PreparedStatement {
        let select = try connection.statement("SELECT outside FROM kith_text_change WHERE text = ? AND outside IS NOT NULL")
        select.bind(1, text)
        return select
    }

    /// How many changes of a text can be packed.
    func packableCount(of text: Int64) throws -> Int {
        let count = try connection.statement("SELECT count(*) FROM kith_text_change WHERE text = ? AND replaced IS NULL")
        count.bind(1, text)
        defer { count.reset() }
        return try count.step() ? count.int(0) : 0
    }

    /// Where the newest change begins that has `count` newer ones.
    func first(of text: Int64, leaving count: Int) throws -> Int? {
        let select = try connection.statement("SELECT first FROM kith_text_change WHERE text = ? ORDER BY first DESC LIMIT 1 OFFSET ?")
        select.bind(1, text)
        select.bind(2, count)
        defer { select.reset() }
        return try select.step() ? select.int(0) : nil
    }

    /// Selects first event, length, whether it can be packed, and bytes of the changes that begin at `newest` or before, in order.
    func selectingSizes(of text: Int64, upTo newest: Int) throws -> PreparedStatement {
        let select = try connection.statement(
            """
            SELECT first, length, replaced IS NULL, length(steps) + length(inserted) FROM kith_text_change
            WHERE text = ? AND first <= ? ORDER BY first
            """)
        select.bind(1, text)
        select.bind(2, newest)
        return select
    }

    func remove(_ text: Int64, _ events: Range<Int>) throws {
        let delete = try connection.statement("DELETE FROM kith_text_change WHERE text = ? AND first >= ? AND first < ?")
        delete.bind(1, text)
        delete.bind(2, events.lowerBound)
        delete.bind(3, events.upperBound)
        try delete.run()
    }
}
