import KithSQLite
import KithSync

/// How far named readers have read the journal. The only owner of `kith_journal_cursor`, which is made with the journal.
package struct JournalCursors {
    package static let sql = """
        -- Up to where a named reader has read.
        CREATE TABLE IF NOT EXISTS kith_journal_cursor (
            name TEXT PRIMARY KEY NOT NULL, number INTEGER NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID;
        """

    private let journal: JournalRecords

    package init(journal: JournalRecords) {
        self.journal = journal
    }

    /// A named reader has read up to `number`.
    package func set(_ name: String, _ number: Int64, nowMilliseconds now: Int64) throws {
        let insert = try journal.ledger.connection.statement(
            "INSERT OR REPLACE INTO kith_journal_cursor (name, number, time) VALUES (?, ?, ?)")
        insert.bind(1, .text(name))
        insert.bind(2, number)
        insert.bind(3, now)
        try insert.run()
    }

    /// Up to where a named reader has read; `nil` for one that has not said.
    package func number(_ name: String) throws -> Int64? {
        guard let select = try journal.ifThere("SELECT number FROM kith_journal_cursor WHERE name = ?") else { return nil }
        select.bind(1, .text(name))
        guard try select.step() else { return nil }
        defer { select.reset() }
        return select.integer(0)
    }

    package func remove(_ name: String) throws {
        guard let delete = try journal.ifThere("DELETE FROM kith_journal_cursor WHERE name = ?") else { return }
        delete.bind(1, .text(name))
        try delete.run()
    }

    /// Up to where all named readers have read; `nil` if there are none.
    func least() throws -> Int64? {
        let select = try journal.ledger.connection.statement("SELECT min(number) FROM kith_journal_cursor")
        defer { select.reset() }
        return try select.step() && !select.isNull(0) ? select.integer(0) : nil
    }
}
