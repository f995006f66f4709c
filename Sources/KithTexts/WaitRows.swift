import KithLedger
import KithSQLite
import KithSync

/// Which change put aside waits for which other one of its text, so that a change that comes is followed by what waited for it, and by
/// nothing else. The only owner of `kith_text_wait`.
///
/// A change waits for one of its missing parents. That an entry is there says nothing more: the change may be gone.
package struct WaitRows {
    static let sql = """
        -- For a missing parent which changes among those put aside wait for it.
        CREATE TABLE IF NOT EXISTS kith_text_wait (
            tbl INTEGER NOT NULL, id BLOB NOT NULL, col INTEGER NOT NULL, doc INTEGER NOT NULL, parent INTEGER NOT NULL,
            parent_sequence INTEGER NOT NULL, replica INTEGER NOT NULL, sequence INTEGER NOT NULL,
            PRIMARY KEY (tbl, id, col, doc, parent, parent_sequence, replica, sequence)) WITHOUT ROWID;
        """

    private let connection: DatabaseConnection

    init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    /// A commit, by the number of its replica here.
    package struct Commit: Hashable {
        let replica: Int
        let sequence: UInt64

        /// No commit: what waits for it waits for any other change of the text.
        static let any = Commit(replica: 0, sequence: 0)
    }

    /// How many changes that wait for any other are taken at once.
    private static let anyMax = 1_024

    func note(_ change: Commit, waitsFor parent: Commit, at key: TextKey) throws {
        let insert = try connection.statement(
            """
            INSERT OR IGNORE INTO kith_text_wait (tbl, id, col, doc, parent, parent_sequence, replica, sequence)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        bind(parent, key, to: insert)
        insert.bind(7, change.replica)
        insert.bind(8, Int64(bitPattern: change.sequence))
        try insert.run()
    }

    func has(waitingFor parent: Commit, at key: TextKey) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_text_wait WHERE \(Self.condition) LIMIT 1")
        bind(parent, key, to: select)
        defer { select.reset() }
        return try select.step()
    }

    /// Takes out what waits for `parent`, at most so many; of what waits for any change, fewer.
    func take(waitingFor parent: Commit, at key: TextKey, max limit: Int) throws -> [Commit] {
        let select = try connection.statement("SELECT replica, sequence FROM kith_text_wait WHERE \(Self.condition) LIMIT ?")
        bind(parent, key, to: select)
        select.bind(7, parent == .any ? min(limit, Self.anyMax) : limit)
        var found: [Commit] = []
        while try select.step() { found.append(Commit(replica: select.int(0), sequence: UInt64(bitPattern: select.integer(1)))) }
        if found.isEmpty { return found }
        let delete = try connection.statement("DELETE FROM kith_text_wait WHERE \(Self.condition) AND replica = ? AND sequence = ?")
        for commit in found {
            bind(parent, key, to: delete)
            delete.bind(7, commit.replica)
            delete.bind(8, Int64(bitPattern: commit.sequence))
            try delete.run()
        }
        return found
    }

    private static let condition = "tbl = ? AND id = ? AND col = ? AND doc = ? AND parent = ? AND parent_sequence = ?"

    private func bind(_ parent: Commit, _ key: TextKey, to statement: PreparedStatement) {
        key.bind(to: statement)
        statement.bind(5, parent.replica)
        statement.bind(6, Int64(bitPattern: parent.sequence))
    }

    func remove(_ table: Int, _ id: RowID) throws {
        let delete = try connection.statement("DELETE FROM kith_text_wait WHERE tbl = ? AND id = ?")
        delete.bind(1, table)
        delete.bind(2, id)
        try delete.run()
    }

    func remove(where condition: String) throws {
        try connection.execute("DELETE FROM kith_text_wait WHERE \(condition);")
    }
}
