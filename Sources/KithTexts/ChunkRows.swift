import KithSQLite

/// Packed changes of texts. The only owner of `kith_text_chunk`.
struct ChunkRows {
    static let sql = """
        -- Older changes, packed.
        CREATE TABLE IF NOT EXISTS kith_text_chunk (
            text INTEGER NOT NULL, first INTEGER NOT NULL, end INTEGER NOT NULL, times BLOB NOT NULL, graph BLOB NOT NULL,
            body BLOB NOT NULL, PRIMARY KEY (text, first)) WITHOUT ROWID;
        """

    private let connection: DatabaseConnection

    init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    /// Removes what is kept of texts, whose numbers `texts` selects.
    static func removeSQL(of texts: String) -> String { "DELETE FROM kith_text_chunk WHERE text IN (\(texts))" }

    /// Selects first event, end, graph and the bytes of all chunks.
    static let sizesSQL = "SELECT first, end, graph, length(times) + length(graph) + length(body) FROM kith_text_chunk"

    /// Selects first event, end, times, graph and, if asked for, body of the last chunk that begins before `end`.
    func selecting(_ text: Int64, before end: Int, body: Bool) throws -> PreparedStatement {
        let select = try connection.statement(
            """
            SELECT first, end, times, graph\(body ? ", body" : "") FROM kith_text_chunk
            WHERE text = ? AND first < ? ORDER BY first DESC LIMIT 1
            """)
        select.bind(1, text)
        select.bind(2, end)
        return select
    }

    func add(_ packed: PackedChanges, of text: Int64, _ events: Range<Int>) throws {
        let insert = try connection.statement(
            "INSERT INTO kith_text_chunk (text, first, end, times, graph, body) VALUES (?, ?, ?, ?, ?, ?)")
        insert.bind(1, text)
        insert.bind(2, events.lowerBound)
        insert.bind(3, events.upperBound)
        insert.bind(4, blob: packed.times)
        insert.bind(5, blob: packed.graph)
        insert.bind(6, blob: packed.body)
        try insert.run()
    }

    func remove(_ text: Int64, first: Int) throws {
        let delete = try connection.statement("DELETE FROM kith_text_chunk WHERE text = ? AND first = ?")
        delete.bind(1, text)
        delete.bind(2, first)
        try delete.run()
    }
}
