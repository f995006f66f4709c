import KithCausality
import KithSQLite
import KithSync

/// The index of commits: in which rows each commit lives. The only owner of `kith_dot`.
///
/// Replicas and tables stand in it by their numbers in the catalog.
package struct DotIndex {
    package static let table = "kith_dot"

    package static let sql = """
        -- Which rows each commit lives in; `row` is a row of kith_clock_N, or minus a row of kith_hidden.
        CREATE TABLE IF NOT EXISTS kith_dot (
            replica INTEGER NOT NULL, sequence INTEGER NOT NULL, tbl INTEGER NOT NULL, row INTEGER NOT NULL,
            PRIMARY KEY (replica, sequence, tbl, row)) WITHOUT ROWID;
        """

    /// An entry of one replica.
    package struct Entry {
        package let sequence: Int64
        package let table: Int
        package let row: RowReference

        package init(sequence: Int64, table: Int, row: RowReference) {
            self.sequence = sequence
            self.table = table
            self.row = row
        }
    }

    private let connection: DatabaseConnection

    package init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    // MARK: Writing

    /// What adds an entry and what removes one, for a replica, a sequence number, a table and a row.
    struct Statements {
        let insert: PreparedStatement
        let remove: PreparedStatement

        init(_ connection: DatabaseConnection) throws {
            insert = try DotIndex(connection).inserting()
            remove = try connection.statement("DELETE FROM kith_dot WHERE replica = ? AND sequence = ? AND tbl = ? AND row = ?")
        }
    }

    /// Adds an entry for a replica, a sequence number, a table and a row.
    func inserting() throws -> PreparedStatement {
        try connection.statement("INSERT OR IGNORE INTO kith_dot (replica, sequence, tbl, row) VALUES (?, ?, ?, ?)")
    }

    /// Adds entries of one commit for many rows of a table.
    ///
    /// - Parameter found: what stands behind FROM, with the rows of the app's table as `n`.
    package func add(_ dot: Dot, replica: Int, rowsOf table: Int, from found: String) throws {
        let index = try connection.statement(
            "INSERT OR IGNORE INTO kith_dot (replica, sequence, tbl, row) SELECT ?, ?, ?, n.rowid FROM \(found)")
        index.bind(1, replica)
        index.bind(2, Int64(bitPattern: dot.sequence))
        index.bind(3, table)
        try index.run()
    }

    /// Removes the entries of a table's visible rows.
    package func removeVisible(of table: Int) throws {
        try connection.statement("DELETE FROM kith_dot WHERE tbl = \(table) AND row > 0").run()
    }

    /// Removes the entries of a table's visible rows that have no clocks.
    package func removeWithoutClocks(of table: Int) throws {
        try connection.statement(
            "DELETE FROM kith_dot WHERE tbl = \(table) AND row > 0 AND row NOT IN (SELECT row FROM \(ClockTable.name(table)))"
        ).run()
    }

    /// Gives the entries of a table's visible rows to where these rows are now, by way of the numbers of a table that does not exist.
    ///
    /// - Parameter moved: the table that says so, in its columns `row` and `now`.
    func move(of table: Int, by moved: String) throws {
        let aside = -1 - table
        try connection.statement(
            """
            INSERT INTO kith_dot (replica, sequence, tbl, row)
                SELECT d.replica, d.sequence, \(aside), m.now FROM kith_dot d JOIN \(moved) m ON m.row = d.row WHERE d.tbl = \(table)
            """
        ).run()
        try removeVisible(of: table)
        try connection.statement("UPDATE kith_dot SET tbl = \(table) WHERE tbl = \(aside)").run()
    }

    // MARK: Reading

    /// Hands each entry that `vector` does not cover to `body`, in no order that means anything.
    package func read(
        uncoveredBy vector: VersionVector, _ replicas: ReplicaTable, _ body: (_ table: Int, _ row: RowReference) throws -> Void
    ) throws {
        // A replica that only rows of an unfinished catch-up name has no head yet, and counts from the start.
        let select = try connection.statement("SELECT tbl, row FROM kith_dot WHERE replica = ? AND sequence > ?")
        for (number, replica) in replicas.ids.enumerated() {
            select.bind(1, number)
            select.bind(2, Int64(bitPattern: vector[replica]))
            while try select.step() { try body(select.int(0), select.integer(1)) }
        }
    }

    /// Up to `limit` rows of a table in which commits of a replica live after one of them.
    func rows(of table: Int, replica: Int, after sequence: UInt64, max limit: Int) throws -> [RowReference] {
        let select = try connection.statement("SELECT row FROM kith_dot WHERE replica = ? AND sequence > ? AND tbl = ? LIMIT ?")
        select.bind(1, replica)
        select.bind(2, Int64(bitPattern: sequence))
        select.bind(3, table)
        select.bind(4, limit)
        var rows: [RowReference] = []
        while try select.step() { rows.append(select.integer(0)) }
        return rows
    }

    /// Whether there are more than `limit` entries that `vector` does not cover.
    package func exceeds(_ limit: Int, uncoveredBy vector: VersionVector, _ replicas: ReplicaTable) throws -> Bool {
        let count = try connection.statement("SELECT count(*) FROM (SELECT 1 FROM kith_dot WHERE replica = ? AND sequence > ? LIMIT ?)")
        var left = limit
        for (number, replica) in replicas.ids.enumerated() {
            count.bind(1, number)
            count.bind(2, Int64(bitPattern: vector[replica]))
            count.bind(3, left + 1)
            if try count.step() { left -= count.int(0) }
            count.reset()
            if left < 0 { return true }
        }
        return false
    }

    /// The rows that one commit lives in.
    package func rows(of dot: Dot, replica: Int) throws -> [(table: Int, row: RowReference)] {
        let select = try connection.statement("SELECT tbl, row FROM kith_dot WHERE replica = ? AND sequence = ?")
        select.bind(1, replica)
        select.bind(2, Int64(bitPattern: dot.sequence))
        var rows: [(table: Int, row: RowReference)] = []
        while try select.step() { rows.append((select.int(0), select.integer(1))) }
        return rows
    }

    /// Up to `limit` entries of a replica after one of them, of commits up to `last`, in order.
    package func entries(of replica: Int, after entry: Entry, through last: UInt64, max limit: Int) throws -> [Entry] {
        let select = try connection.statement(
            """
            SELECT sequence, tbl, row FROM kith_dot
            WHERE replica = ?1 AND (sequence, tbl, row) > (?2, ?3, ?4) AND sequence <= ?5 ORDER BY sequence, tbl, row LIMIT ?6
            """)
        select.bind(1, replica)
        select.bind(2, entry.sequence)
        select.bind(3, Int64(entry.table))
        select.bind(4, entry.row)
        select.bind(5, Int64(bitPattern: last))
        select.bind(6, limit)
        var entries: [Entry] = []
        while try select.step() { entries.append(Entry(sequence: select.integer(0), table: select.int(1), row: select.integer(2))) }
        return entries
    }

    package func contains(_ dot: Dot, replica: Int, _ table: Int, _ row: RowReference) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_dot WHERE replica = ?1 AND sequence = ?2 AND tbl = ?3 AND row = ?4")
        select.bind(1, replica)
        select.bind(2, Int64(bitPattern: dot.sequence))
        select.bind(3, table)
        select.bind(4, row)
        defer { select.reset() }
        return try select.step()
    }

    /// How many entries there are, without those of the tables whose numbers are given.
    package func count(besides tables: [Int]) throws -> Int {
        let select = try connection.passingStatement(
            "SELECT count(*) FROM kith_dot WHERE tbl NOT IN (\(tables.map(String.init).joined(separator: ", ")))")
        defer { select.reset() }
        return try select.step() ? select.int(0) : 0
    }
}
