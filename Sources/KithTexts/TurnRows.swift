import KithLedger
import KithSQLite
import KithSync

/// Which texts have changes that are to be taken when their turn comes. The only owner of `kith_text_turn`.
///
/// One transaction takes only so many changes of a text, so that others can write in between.
package struct TurnRows {
    static let sql = """
        -- Texts of which changes are to be taken: portions, or, where a parent is named, those that waited for it.
        CREATE TABLE IF NOT EXISTS kith_text_turn (
            tbl INTEGER NOT NULL, id BLOB NOT NULL, col INTEGER NOT NULL, doc INTEGER NOT NULL, parent INTEGER NOT NULL,
            parent_sequence INTEGER NOT NULL, PRIMARY KEY (tbl, id, col, doc, parent, parent_sequence)) WITHOUT ROWID;
        """

    private let ledger: RowLedger

    private var connection: DatabaseConnection { ledger.connection }

    package init(_ ledger: RowLedger) {
        self.ledger = ledger
    }

    /// - Parameter parent: a change of which some waited that are to be taken; `nil` for the portions.
    func note(_ key: TextKey, followersOf parent: WaitRows.Commit? = nil) throws {
        ledger.hasTextTurns = true
        let insert = try connection.statement(
            "INSERT OR IGNORE INTO kith_text_turn (tbl, id, col, doc, parent, parent_sequence) VALUES (?, ?, ?, ?, ?, ?)")
        key.bind(to: insert)
        bind(parent, to: insert)
        try insert.run()
    }

    func end(_ key: TextKey, followersOf parent: WaitRows.Commit? = nil) throws {
        let delete = try connection.statement(
            "DELETE FROM kith_text_turn WHERE tbl = ? AND id = ? AND col = ? AND doc = ? AND parent = ? AND parent_sequence = ?")
        key.bind(to: delete)
        bind(parent, to: delete)
        try delete.run()
    }

    private func bind(_ parent: WaitRows.Commit?, to statement: PreparedStatement) {
        statement.bind(5, parent?.replica ?? 0)
        statement.bind(6, Int64(bitPattern: parent?.sequence ?? 0))
    }

    /// Whether portions of a text are to be taken.
    func has(_ key: TextKey) throws -> Bool {
        let select = try connection.statement(
            "SELECT 1 FROM kith_text_turn WHERE tbl = ? AND id = ? AND col = ? AND doc = ? AND parent = 0 AND parent_sequence = 0")
        key.bind(to: select)
        defer { select.reset() }
        return try select.step()
    }

    /// A change of a text of which some waited that are to be taken.
    func parent(at key: TextKey) throws -> WaitRows.Commit? {
        let select = try connection.statement(
            """
            SELECT parent, parent_sequence FROM kith_text_turn
            WHERE tbl = ? AND id = ? AND col = ? AND doc = ? AND (parent, parent_sequence) <> (0, 0) LIMIT 1
            """)
        key.bind(to: select)
        defer { select.reset() }
        return try select.step() ? WaitRows.Commit(replica: select.int(0), sequence: UInt64(bitPattern: select.integer(1))) : nil
    }

    /// Selects the texts whose turn is to come.
    static let keysSQL = "SELECT DISTINCT tbl, id, col, doc FROM kith_text_turn"

    /// The texts whose turn is to come.
    package func keys() throws -> [TextKey] {
        let select = try connection.statement(Self.keysSQL)
        var keys: [TextKey] = []
        while try select.step() { keys.append(try TextKey(select)) }
        return keys
    }

    func remove(_ table: Int, _ id: RowID) throws {
        let delete = try connection.statement("DELETE FROM kith_text_turn WHERE tbl = ? AND id = ?")
        delete.bind(1, table)
        delete.bind(2, id)
        try delete.run()
    }

    /// Removes all turns of a text.
    func remove(at key: TextKey) throws {
        let delete = try connection.statement("DELETE FROM kith_text_turn WHERE tbl = ? AND id = ? AND col = ? AND doc = ?")
        key.bind(to: delete)
        try delete.run()
    }

    func remove(where condition: String) throws {
        try connection.execute("DELETE FROM kith_text_turn WHERE \(condition);")
    }
}
