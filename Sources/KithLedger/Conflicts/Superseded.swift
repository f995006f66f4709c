import KithCausality
import KithSQLite
import KithSync

/// An alternative that somebody has resolved, or that made room for newer ones.
public struct SupersededValue: Hashable, Sendable {
    /// The app's column.
    public let column: String
    /// What the column held.
    public let value: ColumnValue
    /// Who wrote it, and when.
    public let stamp: Stamp
    /// When this store learned that it is gone, in milliseconds since 1970 by its own clock.
    public let goneMilliseconds: Int64
}

/// What `kith_superseded` keeps, whose only owner this is.
package struct SupersededValues {
    package static let table = "kith_superseded"

    package static let sql = """
        -- Alternatives that were resolved or made room for newer ones, for a while.
        CREATE TABLE IF NOT EXISTS kith_superseded (
            number INTEGER PRIMARY KEY, tbl INTEGER NOT NULL, id BLOB NOT NULL, col INTEGER NOT NULL, value,
            replica INTEGER NOT NULL, sequence INTEGER NOT NULL, timestamp INTEGER NOT NULL, since INTEGER NOT NULL);
        CREATE INDEX IF NOT EXISTS kith_superseded_row ON kith_superseded (tbl, id);
        """

    /// More alternatives than this, equal ones counted once, make a cell's oldest move to the history.
    package static let alternativesMax = RowLimits.alternativesMax

    package let ledger: RowLedger

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    package func of(_ table: CatalogTable, _ id: RowID, after end: Int64) throws -> [SupersededValue] {
        let select = try ledger.connection.statement(
            """
            SELECT col, value, replica, sequence, timestamp, since FROM kith_superseded
            WHERE tbl = ? AND id = ? AND since > ? ORDER BY since DESC, timestamp DESC, number DESC
            """)
        select.bind(1, table.number)
        select.bind(2, id)
        select.bind(3, end)
        var values: [SupersededValue] = []
        while try select.step() {
            let (column, replica) = (select.int(0), select.int(2))
            guard column >= 0, column < table.columns.count, let name = table.columns[column].sqlName,
                replica >= 0, replica < ledger.catalog.replicas.ids.count
            else { continue }
            let dot = Dot(replica: ledger.catalog.replicas.ids[replica], sequence: UInt64(bitPattern: select.integer(3)))
            let stamp = Stamp(dot: dot, timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: select.integer(4))))
            values.append(SupersededValue(column: name, value: select.value(1), stamp: stamp, goneMilliseconds: select.integer(5)))
        }
        return values
    }

    /// Hands on each text of so many bytes that is kept, with who wrote it.
    package func readTexts(ofBytes count: Int, _ body: (ColumnValue, ReplicaID) -> Void) throws {
        let select = try ledger.connection.statement(
            "SELECT value, replica FROM kith_superseded WHERE typeof(value) = 'text' AND length(CAST(value AS BLOB)) = ?")
        select.bind(1, count)
        defer { select.reset() }
        let replicas = ledger.catalog.replicas.ids
        while try select.step() {
            if replicas.indices.contains(select.int(1)) { body(select.value(0), replicas[select.int(1)]) }
        }
    }

    /// Notes the alternatives of `before` that are gone in `after`.
    package func note(_ before: RowState, _ after: RowState, _ table: Int, _ id: RowID, nowMilliseconds now: Int64) throws {
        if before.hasAlternatives, !after.hasAlternatives { try ConflictRecords(ledger: ledger).forget(table, id) }
        for entry in before.cells {
            guard case .register(let register) = entry.cell, register.writes.count > 1 else { continue }
            var kept: [Write] = []
            if case .register(let left)? = after[entry.column] { kept = left.writes }
            for write in register.alternatives where !kept.contains(where: { $0.stamp.dot == write.stamp.dot || $0.value == write.value }) {
                try insert(write, table, id, column: entry.column, nowMilliseconds: now)
            }
        }
    }

    /// Forgets what is gone since before `end`, up to `limit` values.
    package func expire(until end: Int64, max limit: Int) throws {
        let delete = try ledger.connection.statement(
            "DELETE FROM kith_superseded WHERE number IN (SELECT number FROM kith_superseded WHERE since <= ? LIMIT ?)")
        delete.bind(1, end)
        delete.bind(2, limit)
        try delete.run()
    }

    /// Notes a value that is gone.
    package func insert(_ write: Write, _ table: Int, _ id: RowID, column: Int, nowMilliseconds now: Int64) throws {
        let insert = try ledger.connection.statement(
            """
            INSERT INTO kith_superseded (tbl, id, col, value, replica, sequence, timestamp, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insert.bind(1, table)
        insert.bind(2, id)
        insert.bind(3, column)
        insert.bind(4, write.value)
        insert.bind(5, try ledger.number(of: write.stamp.dot.replica))
        insert.bind(6, Int64(bitPattern: write.stamp.dot.sequence))
        insert.bind(7, Int64(bitPattern: write.stamp.timestamp.rawValue))
        insert.bind(8, now)
        try insert.run()
    }
}

extension RegisterState {
    /// Whether the store of `replica` is to make room: the author of what is shown, so that one store does it and not all at
    /// once; any store when that one seems to be gone.
    package func isToBeFolded(by replica: ReplicaID) -> Bool {
        let count = alternatives.count
        return count > SupersededValues.alternativesMax
            && (shown?.stamp.dot.replica == replica || count > 2 * SupersededValues.alternativesMax)
    }

    /// Writes the value that is shown anew, and supersedes with it the oldest alternatives beyond ``SupersededValues/alternativesMax``.
    package mutating func fold(_ stamp: Stamp) {
        guard let value = shown?.value else { return }
        set(value, stamp: stamp)
        keepAlternatives(SupersededValues.alternativesMax)
    }
}
