import KithCausality
import KithSQLite
import KithSync

/// The clocks of many rows that one commit has inserted one after the other, in one record.
///
/// Storing the clocks of each inserted row and its entry in the index of commits costs half as much as the row. A bulk insert
/// leaves it for later: whoever reads clocks first expands the runs, in pieces, and the touch of a row expands the one it is in.
/// A run names the ids of its rows, so that they are found even when VACUUM has renumbered them.
///
/// A damaged run costs its rows their clocks and nothing else: they are what ``takeLostRows(of:)`` tells, and become a commit of
/// their own when the store is opened next.
///
/// The only owner of `kith_run`.
package struct ClockRuns {
    /// Rows of one run: as many ids as fit on a page of the database.
    package static let rowsMax = 240
    /// Fewer rows are stored one by one.
    static let rowsMin = 16
    /// Rows that are expanded in one transaction of their own, little enough that a local save does not notice.
    package static let expandedRowsMax = 2_000

    package static let table = "kith_run"

    package static let sql = """
        -- Clocks of rows that one commit has inserted under successive rowids, until somebody asks for them.
        CREATE TABLE IF NOT EXISTS kith_run (
            number INTEGER PRIMARY KEY, tbl INTEGER NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL,
            replica INTEGER NOT NULL, sequence INTEGER NOT NULL, timestamp INTEGER NOT NULL, columns INTEGER NOT NULL,
            ids BLOB NOT NULL);
        CREATE INDEX IF NOT EXISTS kith_run_first ON kith_run (tbl, first);
        CREATE INDEX IF NOT EXISTS kith_run_commit ON kith_run (tbl, replica, sequence);
        """

    private let connection: DatabaseConnection

    package init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    package func areExpanded() throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_run LIMIT 1")
        defer { select.reset() }
        return try !select.step()
    }

    /// Whether there are runs.
    static let existsSQL = "EXISTS (SELECT 1 FROM kith_run)"

    /// Selects the clocks of the rows of the last run that begins at a row or before it, as ``RowLedger`` reads those of one row, and
    /// where that run ends.
    func selecting(around row: Int64, of table: Int) throws -> PreparedStatement {
        let select = try connection.statement(
            """
            SELECT replica, sequence, timestamp, columns, NULL, NULL, first + count FROM kith_run
            WHERE tbl = ? AND first <= ? ORDER BY first DESC LIMIT 1
            """)
        select.bind(1, table)
        select.bind(2, row)
        return select
    }

    /// The rows of a table that a replica has inserted after one of its commits, and that stand in runs.
    func ids(of table: Int, replica: Int, after sequence: UInt64) throws -> [RowID] {
        let select = try connection.statement("SELECT ids FROM kith_run WHERE tbl = ? AND replica = ? AND sequence > ?")
        select.bind(1, table)
        select.bind(2, replica)
        select.bind(3, Int64(bitPattern: sequence))
        var ids: [RowID] = []
        while try select.step() {
            var reader = ByteReader(select.blob(0))
            while !reader.isAtEnd { ids.append(try reader.identifier(RowID.self)) }
        }
        return ids
    }

    // MARK: Storing

    package func store(_ rows: [PendingRows.Row], _ stamp: Stamp, replica: Int) throws {
        var rest = rows[...]
        while let first = rest.first {
            var end = rest.startIndex + 1
            while end < rest.endIndex, end - rest.startIndex < Self.rowsMax, rest[end].follows(rest[end - 1]) { end += 1 }
            let run = rest[..<end]
            rest = rest[end...]
            if run.count < Self.rowsMin {
                let writer = try RowWriter(
                    connection, table: Int(first.table), replica: Int64(replica), sequence: Int64(bitPattern: stamp.dot.sequence),
                    timestamp: Int64(bitPattern: stamp.timestamp.rawValue), columns: Int64(first.columns), conflict: "")
                for row in run { try writer.insert(row.row, row.id) }
            } else {
                var writer = ByteWriter(reservingCapacity: run.count * RowID.byteCount)
                for row in run { writer.identifier(row.id) }
                try store(first, count: run.count, writer.bytes, stamp, replica: replica)
            }
        }
    }

    private func store(_ first: PendingRows.Row, count: Int, _ ids: [UInt8], _ stamp: Stamp, replica: Int) throws {
        let insert = try connection.statement(
            """
            INSERT INTO kith_run (tbl, first, count, replica, sequence, timestamp, columns, ids) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insert.bind(1, Int64(first.table))
        insert.bind(2, first.row)
        insert.bind(3, count)
        insert.bind(4, replica)
        insert.bind(5, Int64(bitPattern: stamp.dot.sequence))
        insert.bind(6, Int64(bitPattern: stamp.timestamp.rawValue))
        insert.bind(7, Int64(first.columns))
        insert.bind(8, blob: ids)
        try insert.run()
    }

    // MARK: One by one

    /// Stores the clocks of rows that one commit has written whole, and their entries in the index of commits.
    private struct RowWriter {
        private let clocks: PreparedStatement
        /// `nil` for a table without columns: a commit lives in cells.
        private let dot: PreparedStatement?

        init(
            _ connection: DatabaseConnection, table: Int, replica: Int64, sequence: Int64, timestamp: Int64, columns: Int64,
            conflict: String
        ) throws {
            clocks = try ClockTable(connection, table).inserting(conflict)
            clocks.bind(3, replica)
            clocks.bind(4, sequence)
            clocks.bind(5, timestamp)
            clocks.bind(6, columns)
            guard columns > 0 else {
                dot = nil
                return
            }
            let dot = try DotIndex(connection).inserting()
            dot.bind(1, replica)
            dot.bind(2, sequence)
            dot.bind(3, table)
            self.dot = dot
        }

        func insert(_ row: Int64, _ id: RowID) throws {
            clocks.bind(1, row)
            clocks.bind(2, id)
            try clocks.run()
            guard let dot else { return }
            dot.bind(4, row)
            try dot.run()
        }
    }

    // MARK: Expanding

    /// Expands the run in which a row is. Returns whether there was one.
    package func expand(around row: Int64, of table: Int) throws -> Bool {
        let select = try connection.statement(
            "SELECT number, first + count FROM kith_run WHERE tbl = ? AND first <= ? ORDER BY first DESC LIMIT 1")
        select.bind(1, table)
        select.bind(2, row)
        guard try select.step() else { return false }
        let (number, end) = (select.integer(0), select.integer(1))
        select.reset()
        guard row < end else { return false }
        try expand(number)
        return true
    }

    /// Expands runs of at least `rowsMax` rows together, or all. Returns whether that was all.
    package func expand(rowsMax: Int = .max) throws -> Bool {
        var rows = 0
        while rows < rowsMax {
            let select = try connection.statement("SELECT number, count FROM kith_run ORDER BY number LIMIT 1")
            guard try select.step() else { return true }
            let number = select.integer(0)
            rows += min(max(1, select.int(1)), Self.rowsMax)
            select.reset()
            try expand(number)
        }
        return try areExpanded()
    }

    private func expand(_ number: Int64) throws {
        let select = try connection.statement(Self.runSQL)
        select.bind(1, number)
        defer { select.reset() }
        guard try select.step() else { return }
        try expand(select)
        let delete = try connection.statement("DELETE FROM kith_run WHERE number = ?")
        delete.bind(1, number)
        try delete.run()
    }

    private static let runSQL = """
        SELECT tbl, first, count, replica, sequence, timestamp, columns, ids,
            EXISTS (SELECT 1 FROM sqlite_master WHERE name = '\(ClockTable.prefix)' || tbl)
            AND \(VectorRecords.coversSQL(replica: "r.replica", sequence: "r.sequence"))
        FROM kith_run r WHERE number = ?
        """

    private func expand(_ run: PreparedStatement) throws {
        let (table, first, count, columns) = (run.int(0), run.integer(1), run.int(2), run.integer(6))
        let isKnown = run.int(8) == 1
        var ids = ByteReader(run.blob(7))
        guard isKnown, (1...Self.rowsMax).contains(count), first > 0, first <= Int64.max - Int64(count - 1),
            ids.remaining == count * RowID.byteCount, (0...Int64(WireLimits.columnsMax)).contains(columns)
        else { return try noteLostRows() }
        let writer = try RowWriter(
            connection, table: table, replica: run.integer(3), sequence: run.integer(4), timestamp: run.integer(5),
            columns: columns, conflict: Self.givingWay)
        for row in first...first + Int64(count - 1) { try writer.insert(row, try ids.identifier(RowID.self)) }
    }

    /// The clocks of a row that is gone give way to those of a run; those of the row itself are newer.
    private static let givingWay = """
        ON CONFLICT (row) DO UPDATE SET id = excluded.id, replica = excluded.replica, sequence = excluded.sequence,
        timestamp = excluded.timestamp, columns = excluded.columns, exceptions = NULL, context = NULL WHERE id <> excluded.id
        """

    // MARK: Rows that a damaged run was of

    /// The table is in doubt, too.
    private func noteLostRows() throws {
        try MetaRecords(connection).noteLostRows()
    }

    /// Whether rows of the table may have no clocks; says so once.
    package func takeLostRows(of table: Int) throws -> Bool {
        try MetaRecords(connection).takeLostRows(of: table)
    }
}

extension PendingRows.Row {
    fileprivate func follows(_ other: PendingRows.Row) -> Bool {
        table == other.table && columns == other.columns && row - 1 == other.row
    }
}
