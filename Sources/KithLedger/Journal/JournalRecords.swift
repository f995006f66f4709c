import KithCausality
import KithSQLite
import KithSync

/// What transactions have made of rows with a journal. The only owner of `kith_journal`, `kith_journal_row` and
/// `kith_journal_of`, which are made where a table has a journal.
///
/// A transaction that changes one row writes one page for that: the row stands with the transaction. By rows, such changes are listed
/// block by block, since each would take a page of its own: changes of the last block are looked through.
package struct JournalRecords {
    package static let sql = """
        -- A transaction that has changed rows with a journal, and what it has made of the first of them; tbl: NULL for none.
        -- brought: the replica whose commits a merge brought, if one alone. process: NULL for a merge.
        CREATE TABLE IF NOT EXISTS kith_journal (
            number INTEGER PRIMARY KEY, tbl INTEGER, id BLOB, kind INTEGER, brought INTEGER, replica INTEGER NOT NULL,
            time INTEGER NOT NULL, process TEXT, author TEXT, scope TEXT, title TEXT, undoes INTEGER, redoes INTEGER, columns BLOB);
        CREATE INDEX IF NOT EXISTS kith_journal_scope ON kith_journal (scope, number) WHERE scope IS NOT NULL;
        -- What it has made of the other rows.
        CREATE TABLE IF NOT EXISTS kith_journal_row (
            number INTEGER NOT NULL, tbl INTEGER NOT NULL, id BLOB NOT NULL, kind INTEGER NOT NULL, brought INTEGER, columns BLOB,
            PRIMARY KEY (number, tbl, id)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS kith_journal_row_of ON kith_journal_row (tbl, id);
        -- By rows, what kith_journal has of them, but for its last block.
        CREATE TABLE IF NOT EXISTS kith_journal_of (
            tbl INTEGER NOT NULL, id BLOB NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (tbl, id, number)) WITHOUT ROWID;
        """

    /// How many transactions a block has: their numbers are equal but for the rest of a division by this.
    package static let blockLength: Int64 = 512

    package let ledger: RowLedger
    private var connection: DatabaseConnection { ledger.connection }

    package init(ledger: RowLedger) {
        self.ledger = ledger
    }

    // MARK: Writing

    /// Writes down what the open transaction has made of rows; again, if it goes on after a commit that failed.
    ///
    /// - Parameters:
    ///   - process: who writes, unless it is a merge.
    ///   - own: the number of the replica that the store is; looked up if it is not at hand.
    package func store(_ notes: JournalNotes, process: String, own: Int? = nil, nowMilliseconds now: Int64) throws {
        let process = notes.isMerge ? nil : process
        try dropRolledBack(notes)
        if let number = notes.number { try forget(number) }
        notes.number = nil
        // An undo is written down even if it has found nothing to change.
        if notes.label.isReversion { notes.number = try begin(notes, nil, process, own, now) }
        var images = notes.images
        // Rows that stand beside each other in the file are written one after the other.
        if images.count > Self.rowsOfStatement { images.sort { $0.row.isBefore($1.row) } }
        var source: JournalSource?
        var changes: [JournalSource.Change] = []
        for image in images {
            if source?.number != image.row.table { source = try JournalSource(image.row.table, ledger) }
            guard let source, let change = try source.change(image) else { continue }
            guard let number = notes.number else {
                notes.number = try begin(notes, change, process, own, now)
                continue
            }
            changes.append(change)
            if changes.count == Self.rowsOfStatement {
                try insert(changes, number)
                changes.removeAll(keepingCapacity: true)
            }
        }
        if let number = notes.number { for change in changes { try insert([change], number) } }
    }

    /// How many of `rows` are not as they were when the open transaction began.
    package func changedCount(of rows: Set<RowKey>, in notes: JournalNotes) throws -> Int {
        var sources: [Int: JournalSource] = [:]
        return try notes.images.count { image in
            let table = image.row.table
            guard rows.contains(image.row), let source = try sources[table] ?? JournalSource(table, ledger) else { return false }
            sources[table] = source
            return try source.change(image) != nil
        }
    }

    /// Writes down at once that the open transaction takes another one back, as its label says, even if it finds nothing to change.
    ///
    /// So a `ROLLBACK TO` takes that along; see ``dropRolledBack(_:)``.
    package func beginReversion(_ notes: JournalNotes, process: String, nowMilliseconds now: Int64) throws {
        // What a commit has left that failed.
        if let number = notes.number { try forget(number) }
        notes.number = try begin(notes, nil, process, nil, now)
    }

    /// Forgets what was written down of the open transaction and rolled back since, and that it takes another one back, if it does no more.
    package func dropRolledBack(_ notes: JournalNotes) throws {
        if let number = notes.number, try entry(number) != nil { return }
        notes.number = nil
        guard notes.label.isReversion else { return }
        let author = notes.label.author
        notes.label = JournalNotes.Label()
        notes.label.author = author
    }

    /// How many rows a statement writes of a large transaction: it takes as long to begin and end a statement as to write a row.
    private static let rowsOfStatement = 16

    private func insert(_ changes: [JournalSource.Change], _ number: Int64) throws {
        let insert = try connection.statement(changes.count == 1 ? Self.insertSQL : Self.insertManySQL)
        for (index, change) in changes.enumerated() {
            let first = Int32(6 * index)
            insert.bind(first + 1, number)
            insert.bind(first + 2, change.row.table)
            insert.bind(first + 3, change.row.id)
            insert.bind(first + 4, change.kind.rawValue)
            try bind(change, insert, brought: first + 5, columns: first + 6)
        }
        try insert.run()
    }

    private func bind(_ change: JournalSource.Change, _ insert: PreparedStatement, brought: Int32, columns: Int32) throws {
        if let replica = change.replica {
            insert.bind(brought, try ledger.number(of: replica))
        } else {
            insert.bindNull(brought)
        }
        if change.columns.isEmpty {
            insert.bindNull(columns)
        } else {
            insert.bind(columns, blob: JournalChange.bytes(of: change.columns))
        }
    }

    private static let insertSQL = "INSERT INTO kith_journal_row (number, tbl, id, kind, brought, columns) VALUES (?, ?, ?, ?, ?, ?)"
    private static let insertManySQL = insertSQL + String(repeating: ", (?, ?, ?, ?, ?, ?)", count: rowsOfStatement - 1)

    private func forget(_ number: Int64) throws {
        for sql in ["DELETE FROM kith_journal_row WHERE number = ?", "DELETE FROM kith_journal WHERE number = ?"] {
            let delete = try connection.statement(sql)
            delete.bind(1, number)
            try delete.run()
        }
    }

    private static let beginSQL = """
        INSERT INTO kith_journal (tbl, id, kind, brought, replica, time, process, author, scope, title, undoes, redoes, columns)
        VALUES (?, ?, ?, ?, coalesce(?, \(MetaRecords.valueSQL("self"))), ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// - Parameter change: of the first row, if there is one.
    private func begin(_ notes: JournalNotes, _ change: JournalSource.Change?, _ process: String?, _ own: Int?, _ now: Int64) throws
        -> Int64
    {
        let insert = try connection.statement(Self.beginSQL)
        if let change {
            insert.bind(1, change.row.table)
            insert.bind(2, change.row.id)
            insert.bind(3, change.kind.rawValue)
            try bind(change, insert, brought: 4, columns: 13)
        } else {
            for place: Int32 in [1, 2, 3, 4, 13] { insert.bindNull(place) }
        }
        if let own { insert.bind(5, own) } else { insert.bindNull(5) }
        insert.bind(6, now)
        let label = notes.label
        for (place, text) in [(7, process), (8, label.author), (9, label.scope), (10, label.title)] {
            if let text { insert.bind(Int32(place), .text(text)) } else { insert.bindNull(Int32(place)) }
        }
        for (place, number) in [(11, label.undoes), (12, label.redoes)] {
            if let number { insert.bind(Int32(place), number) } else { insert.bindNull(Int32(place)) }
        }
        try insert.run()
        // SQLite gives the number after the largest.
        let number = connection.lastInsertedRow
        if number % Self.blockLength == 0 { try list(from: number - Self.blockLength, to: number) }
        return number
    }

    /// Lists the changes of a block by their rows, when the next one begins. No number is passed over: the newest transaction stays.
    private func list(from first: Int64, to end: Int64) throws {
        let list = try connection.statement(Self.listSQL)
        list.bind(1, first)
        list.bind(2, end)
        try list.run()
    }

    private static let listSQL = """
        INSERT OR IGNORE INTO kith_journal_of (tbl, id, number)
            SELECT tbl, id, number FROM kith_journal WHERE number >= ? AND number < ? AND tbl IS NOT NULL ORDER BY tbl, id, number
        """

    // MARK: Reading

    /// A statement on the journal; `nil` in a file where no table ever had a journal.
    func ifThere(_ sql: String) throws -> PreparedStatement? {
        let exists = try connection.statement("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'kith_journal'")
        defer { exists.reset() }
        return try exists.step() ? try connection.statement(sql) : nil
    }

    private static let entryColumns = "number, replica, time, process, author, scope, title, undoes, redoes"

    private func entry(_ select: PreparedStatement) -> Entry {
        func text(_ place: Int32) -> String? {
            guard case .text(let bytes) = select.value(place) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        var label = JournalNotes.Label()
        label.author = text(4)
        label.scope = text(5)
        label.title = text(6)
        label.undoes = select.isNull(7) ? nil : select.integer(7)
        label.redoes = select.isNull(8) ? nil : select.integer(8)
        return Entry(
            number: select.integer(0), replica: select.int(1), milliseconds: select.integer(2), process: text(3), label: label)
    }

    /// The transactions after `number`, the oldest first.
    package func entries(after number: Int64, max limit: Int) throws -> [Entry] {
        guard
            let select = try ifThere(
                "SELECT \(Self.entryColumns) FROM kith_journal WHERE number > ? ORDER BY number LIMIT ?")
        else { return [] }
        select.bind(1, number)
        select.bind(2, limit)
        var entries: [Entry] = []
        while try select.step() { entries.append(entry(select)) }
        return entries
    }

    /// The transactions of a list of steps, the newest first, without those of which every change is forgotten.
    package func entries(scope: String, max limit: Int) throws -> [Entry] {
        guard
            let select = try ifThere(
                """
                SELECT \(Self.entryColumns) FROM kith_journal j WHERE scope = ? AND (undoes IS NOT NULL OR redoes IS NOT NULL
                    OR tbl IS NOT NULL OR EXISTS (SELECT 1 FROM kith_journal_row r WHERE r.number = j.number))
                ORDER BY number DESC LIMIT ?
                """)
        else { return [] }
        select.bind(1, .text(scope))
        select.bind(2, limit)
        var entries: [Entry] = []
        while try select.step() { entries.append(entry(select)) }
        return entries
    }

    /// The transactions since a moment and before one of them, the newest first.
    package func entries(sinceMilliseconds milliseconds: Int64, before number: Int64, max limit: Int) throws -> [Entry] {
        guard
            let select = try ifThere(
                "SELECT \(Self.entryColumns) FROM kith_journal WHERE time >= ? AND number < ? ORDER BY number DESC LIMIT ?")
        else { return [] }
        select.bind(1, milliseconds)
        select.bind(2, number)
        select.bind(3, limit)
        var entries: [Entry] = []
        while try select.step() { entries.append(entry(select)) }
        return entries
    }

    package func entry(_ number: Int64) throws -> Entry? {
        guard let select = try ifThere("SELECT \(Self.entryColumns) FROM kith_journal WHERE number = ?") else { return nil }
        select.bind(1, number)
        guard try select.step() else { return nil }
        defer { select.reset() }
        return entry(select)
    }

    /// The oldest and the newest number that are kept; `nil` if there is none.
    package func bounds() throws -> ClosedRange<Int64>? {
        guard let select = try ifThere(Self.boundsSQL) else { return nil }
        guard try select.step(), !select.isNull(0) else { return nil }
        defer { select.reset() }
        return select.integer(0)...select.integer(1)
    }

    // Of both in one SELECT, SQLite would look through the whole table.
    package static let boundsSQL = "SELECT (SELECT min(number) FROM kith_journal), (SELECT max(number) FROM kith_journal)"

    /// What a transaction has changed, by table and id.
    package func changes(of number: Int64) throws -> [JournalChange] {
        let select = try connection.statement(Self.changesSQL)
        select.bind(1, number)
        return try changes(select).map(\.change)
    }

    private static let changeColumns = "tbl, id, kind, brought, columns, number"
    private static let changesSQL = """
        SELECT \(changeColumns) FROM kith_journal WHERE number = ?1 AND tbl IS NOT NULL
        UNION ALL SELECT \(changeColumns) FROM kith_journal_row WHERE number = ?1 ORDER BY tbl, id
        """

    /// What became of a row after `number`, and before `end`, the newest first.
    package func changes(
        of row: RowKey, after number: Int64, before end: Int64 = .max, max limit: Int = .max
    ) throws -> [(number: Int64, change: JournalChange)] {
        guard let select = try ifThere(Self.changesOfRowSQL) else { return [] }
        select.bind(1, row.table)
        select.bind(2, row.id)
        select.bind(3, number)
        select.bind(4, limit)
        select.bind(5, end)
        return try changes(select)
    }

    /// The last block is not listed by rows, or not for good.
    package static let changesOfRowSQL = """
        SELECT \(changeColumns) FROM kith_journal WHERE number > ?3 AND number < ?5 AND number >= \(lastBlockSQL) AND tbl = ?1 AND id = ?2
        UNION ALL SELECT \(columns(of: "j")) FROM kith_journal_of o JOIN kith_journal j ON j.number = o.number
            WHERE o.tbl = ?1 AND o.id = ?2 AND o.number > ?3 AND o.number < ?5 AND o.number < \(lastBlockSQL)
        UNION ALL SELECT \(changeColumns) FROM kith_journal_row WHERE tbl = ?1 AND id = ?2 AND number > ?3 AND number < ?5
        ORDER BY number DESC LIMIT ?4
        """

    private static let lastBlockSQL = "(SELECT max(number) / \(blockLength) * \(blockLength) FROM kith_journal)"

    private static func columns(of table: String) -> String {
        changeColumns.split(separator: ", ").map { "\(table).\($0)" }.joined(separator: ", ")
    }

    private func changes(_ select: PreparedStatement) throws -> [(number: Int64, change: JournalChange)] {
        var changes: [(number: Int64, change: JournalChange)] = []
        while try select.step() {
            guard let kind = JournalChange.Kind(rawValue: select.int(2)),
                let columns = select.isNull(4) ? [] : JournalChange.columns(select.blob(4))
            else { throw StoreError(.corrupt, "The journal is damaged. Verify the store.") }
            let row = RowKey(table: select.int(0), id: try select.rowID(1))
            let replica = select.isNull(3) ? nil : select.int(3)
            changes.append((select.integer(5), JournalChange(row: row, kind: kind, columns: columns, replica: replica)))
        }
        return changes
    }

    // MARK: The end

    /// Forgets changes that are older than their table keeps them, but what named readers have not read: for these, four times as long.
    /// The newest transaction stays, so that no number is given twice. What is known by half is no step any more.
    ///
    /// - Parameter tables: for how many days each is kept.
    package func purge(_ tables: [Int: Int], nowMilliseconds now: Int64, max limit: Int) throws {
        let unread = try JournalCursors(journal: self).least() ?? Int64.max
        let old = "j.time < ?2 AND (j.number <= ?3 OR j.time < ?4)"
        for (table, days) in tables.sorted(by: { $0.key < $1.key }) {
            func bind(_ statement: PreparedStatement) {
                statement.bind(1, table)
                statement.bind(2, now - Int64(days) * Self.dayMilliseconds)
                statement.bind(3, unread)
                statement.bind(4, now - 4 * Int64(days) * Self.dayMilliseconds)
            }
            let last = try connection.statement(
                """
                SELECT max(number) FROM (SELECT max(j.number) AS number FROM kith_journal j WHERE j.tbl = ?1 AND \(old)
                UNION ALL SELECT max(j.number) FROM kith_journal j JOIN kith_journal_row r ON r.number = j.number
                    WHERE r.tbl = ?1 AND \(old))
                """)
            bind(last)
            let number = try last.step() && !last.isNull(0) ? last.integer(0) : nil
            last.reset()
            guard let number else { continue }
            try ForgottenChanges(connection).note(number, of: table)
            for sql in [
                """
                UPDATE kith_journal SET scope = NULL WHERE scope IS NOT NULL AND undoes IS NULL AND redoes IS NULL AND number IN (
                    SELECT r.number FROM kith_journal j JOIN kith_journal_row r ON r.number = j.number WHERE r.tbl = ?1 AND \(old) LIMIT ?5)
                """,
                """
                DELETE FROM kith_journal_row WHERE (tbl, id, number) IN (
                    SELECT r.tbl, r.id, r.number FROM kith_journal j JOIN kith_journal_row r ON r.number = j.number
                    WHERE r.tbl = ?1 AND \(old) LIMIT ?5)
                """,
                """
                DELETE FROM kith_journal_of WHERE (tbl, id, number) IN (
                    SELECT tbl, id, number FROM kith_journal j WHERE tbl = ?1 AND \(old) ORDER BY number LIMIT ?5)
                """,
                """
                UPDATE kith_journal SET tbl = NULL, id = NULL, kind = NULL, brought = NULL, columns = NULL,
                    scope = CASE WHEN undoes IS NULL AND redoes IS NULL THEN NULL ELSE scope END WHERE number IN (
                    SELECT number FROM kith_journal j WHERE tbl = ?1 AND \(old) ORDER BY number LIMIT ?5)
                """,
            ] {
                let delete = try connection.statement(sql)
                bind(delete)
                delete.bind(5, limit)
                try delete.run()
            }
        }
        let empty = try connection.statement(
            """
            DELETE FROM kith_journal WHERE number IN (
                SELECT number FROM kith_journal j WHERE tbl IS NULL AND number < (SELECT max(number) FROM kith_journal)
                AND (undoes IS NULL AND redoes IS NULL OR number < (SELECT min(number) FROM (
                    SELECT min(number) AS number FROM kith_journal WHERE tbl IS NOT NULL
                    UNION ALL SELECT min(number) FROM kith_journal_row)))
                AND NOT EXISTS (SELECT 1 FROM kith_journal_row r WHERE r.number = j.number) ORDER BY number LIMIT ?)
            """)
        empty.bind(1, limit)
        try empty.run()
    }

    private static let dayMilliseconds: Int64 = 86_400_000
}
