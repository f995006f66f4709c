import KithCausality
import KithSQLite
import KithSync

/// Rows that the app's tables do not show, as `kith_hidden` keeps them: its only owner.
///
/// ``RowLedger`` reads their states. Rows of this table are selected as number, state, context and reason, in this order, for
/// ``RowLedger/hiddenRow(_:at:table:)``.
package struct HiddenRows {
    package static let table = "kith_hidden"

    package static let sql = """
        -- Rows that the app's tables do not show: deleted, of unknown tables, refused by a constraint.
        CREATE TABLE IF NOT EXISTS kith_hidden (
            number INTEGER PRIMARY KEY, tbl INTEGER NOT NULL, id BLOB NOT NULL, state BLOB NOT NULL,
            context INTEGER, reason INTEGER NOT NULL, since INTEGER NOT NULL, UNIQUE (tbl, id));
        """

    private let connection: DatabaseConnection

    package init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    // MARK: Parts of statements

    /// Selects the ids of a table's hidden rows.
    package static func idsSQL(of table: Int) -> String { "SELECT id FROM kith_hidden WHERE tbl = \(table)" }

    /// Selects all states.
    package static let statesSQL = "SELECT state FROM kith_hidden"

    /// Selects the id of the row that has the number of the parameter.
    package static let idSQL = "SELECT id FROM kith_hidden WHERE number = ?"

    /// Selects the tables and ids of rows of one table that are hidden for want of a row that they refer to.
    static let referringSQL = "SELECT tbl, id FROM kith_hidden WHERE tbl = ? AND reason = \(HiddenReason.reference.rawValue)"

    /// Whether a row was deleted.
    static func isDeletedSQL(table: String, id: String) -> String {
        "EXISTS (SELECT 1 FROM kith_hidden WHERE tbl = \(table) AND id = \(id) AND reason = \(HiddenReason.deleted.rawValue))"
    }

    /// Whether the row that `name` stands for, with its `tbl` and its `id`, is hidden.
    static func isHiddenSQL(as name: String) -> String {
        "EXISTS (SELECT 1 FROM kith_hidden h WHERE h.tbl = \(name).tbl AND h.id = \(name).id)"
    }

    // MARK: One row

    /// Whether a row of the table is hidden.
    func hasAny(of table: Int) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_hidden WHERE tbl = ? LIMIT 1")
        select.bind(1, table)
        defer { select.reset() }
        return try select.step()
    }

    /// Selects a row.
    func selecting(_ table: Int, _ id: RowID) throws -> PreparedStatement {
        let select = try connection.statement("SELECT number, state, context, reason FROM kith_hidden WHERE tbl = ? AND id = ?")
        select.bind(1, table)
        select.bind(2, id)
        return select
    }

    /// Stores a row, new or not, and returns its number; `nil` if SQLite gives none.
    ///
    /// - Parameter since: counts if the row was not hidden for this reason before.
    func save(_ table: Int, _ id: RowID, state: [UInt8], context: Int64?, _ reason: HiddenReason, since: Int64) throws -> Int64? {
        let insert = try connection.statement(
            """
            INSERT INTO kith_hidden (tbl, id, state, context, reason, since) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (tbl, id) DO UPDATE SET state = ?3, context = ?4, reason = ?5,
                since = CASE reason WHEN ?5 THEN since ELSE ?6 END RETURNING number
            """)
        insert.bind(1, table)
        insert.bind(2, id)
        insert.bind(3, blob: state)
        if let context { insert.bind(4, context) } else { insert.bindNull(4) }
        insert.bind(5, reason.rawValue)
        insert.bind(6, since)
        guard try insert.step() else { return nil }
        let number = insert.integer(0)
        try insert.run()
        return number
    }

    func remove(_ number: Int64) throws {
        let delete = try connection.statement("DELETE FROM kith_hidden WHERE number = ?")
        delete.bind(1, number)
        try delete.run()
    }

    // MARK: Many rows

    package func count() throws -> Int {
        let select = try connection.statement("SELECT count(*) FROM kith_hidden")
        defer { select.reset() }
        return try select.step() ? select.int(0) : 0
    }

    /// Selects the id, and what is known, of a table's rows after one of them, by id.
    package func selecting(of table: Int, after id: RowID?) throws -> PreparedStatement {
        let select = try connection.statement(id == nil ? Self.allSQL : Self.laterSQL)
        select.bind(1, table)
        if let id { select.bind(2, blob: id.bytes) }
        return select
    }

    private static let allSQL = """
        SELECT id, number, state, context, reason FROM kith_hidden
        WHERE tbl = ? ORDER BY id
        """
    private static let laterSQL = """
        SELECT id, number, state, context, reason FROM kith_hidden
        WHERE tbl = ? AND id > ? ORDER BY id
        """

    /// Selects the id, and what is known, of a table's rows, and since when they are hidden.
    package func selectingWithTimes(of table: Int) throws -> PreparedStatement {
        let select = try connection.statement("SELECT id, number, state, context, reason, since FROM kith_hidden WHERE tbl = ?")
        select.bind(1, table)
        return select
    }

    /// The rows of a table that were deleted.
    package func deleted(of table: Int) throws -> [RowID] {
        let select = try connection.statement("SELECT id FROM kith_hidden WHERE tbl = ? AND reason = \(HiddenReason.deleted.rawValue)")
        select.bind(1, table)
        var rows: [RowID] = []
        while try select.step() { rows.append(try select.rowID(0)) }
        return rows
    }

    /// The rows of a table that it could not show, or a rule of it did not let in, but for those that end every transaction.
    package func toBeTriedAgain(of table: Int) throws -> [RowID] {
        let select = try connection.statement(Self.triedAgainSQL)
        select.bind(1, table)
        var rows: [RowID] = []
        while try select.step() { rows.append(try select.rowID(0)) }
        return rows
    }

    private static let triedAgainSQL = """
        SELECT id FROM kith_hidden h WHERE tbl = ? AND reason IN (\(HiddenReason.unknownTable.rawValue), \(HiddenReason.refused.rawValue))
            AND NOT EXISTS (SELECT 1 FROM \(RefusedRows.table) r WHERE r.tbl = h.tbl AND r.id = h.id AND ends)
        """

    /// Removes rows of which nothing is left but what a vector says that is not kept any more.
    func removeWithoutContext() throws {
        try connection.statement(Self.removeWithoutContextSQL).run()
    }

    private static let removeWithoutContextSQL = """
        DELETE FROM kith_hidden WHERE reason = \(HiddenReason.contextOnly.rawValue) AND context NOT IN (\(ContextRecords.numbersSQL))
        """

    // MARK: The trash: `since` is when a row was deleted, 0 once the trash was emptied

    /// Selects the id, and what is known, of deleted rows, the table and the time, the latest first.
    package func selectingTrash(after end: Int64) throws -> PreparedStatement {
        let select = try connection.statement(Self.trashSQL)
        select.bind(1, max(0, end))
        return select
    }

    private static let trashSQL = """
        SELECT id, number, state, context, reason, tbl, since FROM kith_hidden
        WHERE reason = \(HiddenReason.deleted.rawValue) AND since > ? ORDER BY since DESC, id
        """

    /// Takes a row out of the trash.
    package func empty(_ table: Int, _ id: RowID) throws {
        let update = try connection.statement("UPDATE kith_hidden SET since = 0 WHERE tbl = ? AND id = ?")
        update.bind(1, table)
        update.bind(2, id)
        try update.run()
    }

    /// Since when a row is hidden.
    package func since(_ number: Int64) throws -> Int64? {
        let select = try connection.statement("SELECT since FROM kith_hidden WHERE number = ?")
        select.bind(1, number)
        defer { select.reset() }
        return try select.step() ? select.integer(0) : nil
    }

    /// Selects the id, and what is known, of up to `limit` rows that may be removed, and the table, by number after `number`.
    package func selectingDue(until end: Int64, after number: Int64, max limit: Int) throws -> PreparedStatement {
        let select = try connection.statement(Self.dueRowsSQL)
        select.bind(1, number)
        select.bind(2, max(0, end))
        select.bind(3, limit)
        return select
    }

    /// Whether a row may be removed.
    package func isDue(_ number: Int64, until end: Int64) throws -> Bool {
        let select = try connection.statement(Self.isDueSQL)
        select.bind(1, number)
        select.bind(2, max(0, end))
        defer { select.reset() }
        return try select.step()
    }

    private static let dueRowsSQL = """
        SELECT id, number, state, context, reason, tbl FROM kith_hidden
        WHERE number > ?1 AND \(isDue) ORDER BY number LIMIT ?3
        """
    private static let isDueSQL = "SELECT 1 FROM kith_hidden WHERE number = ?1 AND \(isDue)"

    /// Whether a hidden row is old enough to be removed: how old is the second parameter.
    private static let isDue = """
        reason = \(HiddenReason.deleted.rawValue) AND since <= ?2 AND (context IS NULL OR context NOT IN (\(ContextRecords.numbersSQL)))
        """

    /// Selects by replica, by its number here, the bytes of the rows whose commits are its, as far as no replica that was met later has any there.
    package static let bytesByReplicaSQL = """
        SELECT d.replica, sum(length(h.state))
        FROM (SELECT row, max(replica) AS replica FROM \(DotIndex.table) WHERE row < 0 GROUP BY row) d
        JOIN kith_hidden h ON h.number = -d.row GROUP BY d.replica
        """

    /// How many rows are in the trash, and the bytes of their contents.
    package func trashSize() throws -> (rows: Int, bytes: Int) {
        let select = try connection.statement(Self.trashSizeSQL)
        defer { select.reset() }
        return try select.step() ? (select.int(0), select.int(1)) : (0, 0)
    }

    private static let trashSizeSQL = """
        SELECT count(*), coalesce(sum(length(state)), 0) FROM kith_hidden WHERE reason = \(HiddenReason.deleted.rawValue) AND since > 0
        """
}
