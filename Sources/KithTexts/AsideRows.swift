import KithLedger
import KithSQLite
import KithSync

/// Changes of peers that are not applied, or not yet. The only owner of `kith_text_aside`.
///
/// With a reason they are refused for good, without one a parent is missing.
package struct AsideRows {
    static let sql = """
        -- Changes of peers that are not applied: with a reason for good, without one as long as a parent is missing.
        CREATE TABLE IF NOT EXISTS kith_text_aside (
            tbl INTEGER NOT NULL, id BLOB NOT NULL, col INTEGER NOT NULL, doc INTEGER NOT NULL, replica INTEGER NOT NULL,
            sequence INTEGER NOT NULL, reason TEXT, change BLOB NOT NULL,
            PRIMARY KEY (tbl, id, col, doc, replica, sequence)) WITHOUT ROWID;
        """

    private let connection: DatabaseConnection

    package init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    /// Selects by replica, by its number here, the bytes of its changes.
    package static let bytesByReplicaSQL = "SELECT replica, sum(length(change)) FROM kith_text_aside GROUP BY replica"

    func has(_ key: TextKey) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_text_aside WHERE tbl = ? AND id = ? AND col = ? AND doc = ? LIMIT 1")
        key.bind(to: select)
        defer { select.reset() }
        return try select.step()
    }

    func has(table: Int) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_text_aside WHERE tbl = ? LIMIT 1")
        select.bind(1, table)
        defer { select.reset() }
        return try select.step()
    }

    /// Puts a change aside.
    func put(_ change: [UInt8], replica: Int, sequence: UInt64, _ standing: TextCells.Standing, at key: TextKey) throws {
        let insert = try connection.statement(
            """
            INSERT OR REPLACE INTO kith_text_aside (tbl, id, col, doc, replica, sequence, reason, change) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        key.bind(to: insert)
        insert.bind(5, replica)
        insert.bind(6, Int64(bitPattern: sequence))
        switch standing {
        case .pending: insert.bindNull(7)
        case .refused(let reason): insert.bind(7, .text(Array(reason.utf8)))
        }
        insert.bind(8, blob: change)
        try insert.run()
    }

    /// Removes the change of each of these commits.
    func remove(_ commits: [(replica: Int, sequence: UInt64)], at key: TextKey) throws {
        let delete = try connection.statement(
            "DELETE FROM kith_text_aside WHERE tbl = ? AND id = ? AND col = ? AND doc = ? AND replica = ? AND sequence = ?")
        for commit in commits {
            key.bind(to: delete)
            delete.bind(5, commit.replica)
            delete.bind(6, Int64(bitPattern: commit.sequence))
            try delete.run()
        }
    }

    func remove(_ table: Int, _ id: RowID) throws {
        let delete = try connection.statement("DELETE FROM kith_text_aside WHERE tbl = ? AND id = ?")
        delete.bind(1, table)
        delete.bind(2, id)
        try delete.run()
    }

    /// A pending change.
    func pending(_ commit: WaitRows.Commit, at key: TextKey) throws -> [UInt8]? {
        let select = try connection.statement(
            """
            SELECT change FROM kith_text_aside
            WHERE tbl = ? AND id = ? AND col = ? AND doc = ? AND replica = ? AND sequence = ? AND reason IS NULL
            """)
        key.bind(to: select)
        select.bind(5, commit.replica)
        select.bind(6, Int64(bitPattern: commit.sequence))
        defer { select.reset() }
        return try select.step() ? Array(select.blob(0)) : nil
    }

    func selecting(at key: TextKey) throws -> PreparedStatement {
        let select = try connection.statement("SELECT change FROM kith_text_aside WHERE tbl = ? AND id = ? AND col = ? AND doc = ?")
        key.bind(to: select)
        return select
    }

    /// Selects table, id, column, replica, sequence number and reason.
    package func selecting(max limit: Int) throws -> PreparedStatement {
        let select = try connection.statement("SELECT tbl, id, col, replica, sequence, reason FROM kith_text_aside LIMIT ?")
        select.bind(1, limit)
        return select
    }

    func remove(where condition: String) throws {
        try connection.execute("DELETE FROM kith_text_aside WHERE \(condition);")
    }
}
