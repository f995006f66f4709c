import KithLedger
import KithSQLite
import KithSync

/// What each row adds to the digest, as far as it has been brought up to date. The only owner of `kith_digest`.
package struct DigestRows {
    package static let table = "kith_digest"

    package static let sql = """
        -- What each row adds to the digest, as far as it has been brought up to date.
        CREATE TABLE IF NOT EXISTS kith_digest (
            tbl INTEGER NOT NULL, id BLOB NOT NULL, hash INTEGER NOT NULL, PRIMARY KEY (tbl, id)) WITHOUT ROWID;
        """

    private let connection: DatabaseConnection

    package init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    /// How many rows are noted, without those of the tables whose numbers are given.
    package func count(besides tables: [Int]) throws -> Int {
        let select = try connection.passingStatement(
            "SELECT count(*) FROM kith_digest WHERE tbl NOT IN (\(tables.map(String.init).joined(separator: ", ")))")
        defer { select.reset() }
        return try select.step() ? select.int(0) : 0
    }

    /// What is noted of a row; `nil` if it does not count.
    func of(_ table: Int, _ id: RowID) throws -> UInt64? {
        let select = try connection.statement("SELECT hash FROM kith_digest WHERE tbl = ? AND id = ?")
        select.bind(1, table)
        select.bind(2, id)
        defer { select.reset() }
        return try select.step() ? UInt64(bitPattern: select.integer(0)) : nil
    }

    func set(_ table: Int, _ id: RowID, _ digest: UInt64?) throws {
        let change = try connection.statement(
            digest == nil
                ? "DELETE FROM kith_digest WHERE tbl = ?1 AND id = ?2"
                : "INSERT OR REPLACE INTO kith_digest (tbl, id, hash) VALUES (?1, ?2, ?3)")
        change.bind(1, table)
        change.bind(2, id)
        if let digest { change.bind(3, Int64(bitPattern: digest)) }
        try change.run()
    }

    /// Hands what is noted of a table's rows after `first`, up to `last`, to `body`, in order.
    package func read(of table: Int, after first: RowID?, through last: RowID?, _ body: (RowID, UInt64) throws -> Void) throws {
        let select = try connection.statement(
            """
            SELECT id, hash FROM kith_digest
            WHERE tbl = ?1 \(first == nil ? "" : "AND id > ?2") \(last == nil ? "" : "AND id <= ?3") ORDER BY id
            """)
        select.bind(1, table)
        if let first { select.bind(2, first) }
        if let last { select.bind(3, last) }
        defer { select.reset() }
        while try select.step() { try body(try select.rowID(0), UInt64(bitPattern: select.integer(1))) }
    }
}
