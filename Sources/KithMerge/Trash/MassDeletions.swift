import KithLedger
import KithSQLite
import KithSync

/// How much other devices have deleted lately, and what of that is so much that people are to look at it. The only owner of `kith_loss`
/// and `kith_alarm`.
package struct MassDeletions {
    package static let sql = """
        -- Rows that went from a table by another device's deletion, by the hour; for a day.
        CREATE TABLE IF NOT EXISTS kith_loss (
            device BLOB NOT NULL, tbl INTEGER NOT NULL, hour INTEGER NOT NULL, rows INTEGER NOT NULL,
            PRIMARY KEY (device, tbl, hour)) WITHOUT ROWID;
        -- What is too much of that, until somebody has said that it was meant.
        CREATE TABLE IF NOT EXISTS kith_alarm (
            device BLOB NOT NULL, tbl INTEGER NOT NULL, rows INTEGER NOT NULL, total INTEGER NOT NULL, since INTEGER NOT NULL,
            PRIMARY KEY (device, tbl)) WITHOUT ROWID;
        """

    /// Fewer rows are no alarm, however small the table.
    package static let rowsMin = 50
    /// More than one in so many rows of the table are one.
    private static let share = 3
    private static let hourMilliseconds: Int64 = 60 * 60 * 1_000
    private static let dayHours: Int64 = 24

    package let ledger: RowLedger

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    private var connection: DatabaseConnection { ledger.connection }

    /// Rows of a table went by a device's deletion, as a part of the transaction that is open.
    func note(_ count: Int, of table: Int, by device: [UInt8], nowMilliseconds now: Int64) throws {
        let hour = now / Self.hourMilliseconds
        let insert = try connection.statement(
            """
            INSERT INTO kith_loss (device, tbl, hour, rows) VALUES (?, ?, ?, ?)
            ON CONFLICT (device, tbl, hour) DO UPDATE SET rows = rows + excluded.rows
            """)
        bind(device, table, to: insert)
        insert.bind(3, hour)
        insert.bind(4, count)
        try insert.run()
        // A clock that was ahead has left hours that are to come.
        let delete = try connection.statement("DELETE FROM kith_loss WHERE device = ? AND tbl = ? AND (hour <= ? OR hour > ?)")
        bind(device, table, to: delete)
        delete.bind(3, hour - Self.dayHours)
        delete.bind(4, hour)
        try delete.run()
        let select = try connection.statement("SELECT sum(rows), min(hour) FROM kith_loss WHERE device = ? AND tbl = ?")
        bind(device, table, to: select)
        defer { select.reset() }
        guard try select.step() else { return }
        let rows = select.int(0)
        if try isRaised(device, table) {
            try add(count, to: device, table)
        } else if rows >= Self.rowsMin, let shown = try shownRows(of: table), rows > (shown + rows) / Self.share {
            try raise(device, table, rows: rows, total: shown + rows, since: select.integer(1) * Self.hourMilliseconds)
        }
    }

    private func isRaised(_ device: [UInt8], _ table: Int) throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_alarm WHERE device = ? AND tbl = ?")
        bind(device, table, to: select)
        defer { select.reset() }
        return try select.step()
    }

    private func add(_ count: Int, to device: [UInt8], _ table: Int) throws {
        let update = try connection.statement(
            "UPDATE kith_alarm SET rows = rows + ?3, total = max(total, rows + ?3) WHERE device = ?1 AND tbl = ?2")
        bind(device, table, to: update)
        update.bind(3, count)
        try update.run()
    }

    private func raise(_ device: [UInt8], _ table: Int, rows: Int, total: Int, since: Int64) throws {
        let insert = try connection.statement("INSERT INTO kith_alarm (device, tbl, rows, total, since) VALUES (?, ?, ?, ?, ?)")
        bind(device, table, to: insert)
        insert.bind(3, rows)
        insert.bind(4, total)
        insert.bind(5, since)
        try insert.run()
    }

    /// How many rows the app's table has; `nil` if this process has not declared it.
    private func shownRows(of table: Int) throws -> Int? {
        guard let tracked = ledger.catalog[table]?.tracked else { return nil }
        let select = try connection.statement("SELECT count(*) FROM \(tracked.mainName)")
        defer { select.reset() }
        return try select.step() ? select.int(0) : nil
    }

    /// Those of tables that this process has declared.
    package func all() throws -> [MassDeletion] {
        let select = try connection.statement("SELECT device, tbl, rows, total, since FROM kith_alarm ORDER BY since, device, tbl")
        defer { select.reset() }
        var found: [MassDeletion] = []
        while try select.step() {
            guard let tracked = ledger.catalog[select.int(1)]?.tracked else { continue }
            let device = select.blob(0)
            found.append(
                MassDeletion(
                    table: tracked.sqlName, author: device.isEmpty ? .unknown : .device(device), rows: select.int(2), total: select.int(3),
                    sinceMilliseconds: select.integer(4)))
        }
        return found
    }

    /// It was meant, or is undone.
    package func dismiss(_ deletion: MassDeletion) throws {
        guard let (table, _) = ledger.tracked(deletion.table) else { return }
        var device: [UInt8] = []
        if case .device(let bytes) = deletion.author { device = bytes }
        for records in ["kith_alarm", "kith_loss"] {
            let delete = try connection.statement("DELETE FROM \(records) WHERE device = ? AND tbl = ?")
            bind(device, table, to: delete)
            try delete.run()
        }
    }

    /// Somebody has looked at those of a table, or of all that this process has declared.
    package func dismissAll(table: String?) throws {
        for deletion in try all() where table == nil || deletion.table == table { try dismiss(deletion) }
    }

    /// What went before this has left the trash: after ``Trash/milliseconds``, but for what people are still to look at, and all since.
    package func trashEnd(nowMilliseconds now: Int64) throws -> Int64 {
        let select = try connection.statement("SELECT min(since) FROM kith_alarm")
        defer { select.reset() }
        let end = now - Trash.milliseconds
        return try select.step() && !select.isNull(0) ? min(end, select.integer(0) - 1) : end
    }

    private func bind(_ device: [UInt8], _ table: Int, to statement: PreparedStatement) {
        statement.bind(1, blob: device)
        statement.bind(2, table)
    }
}
