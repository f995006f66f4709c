import KithSQLite
import KithSync

/// Vectors that rows of unfinished catch-ups refer to. The only owner of `kith_context`.
///
/// ``RowLedger`` encodes and decodes the vectors.
package struct ContextRecords {
    package static let sql = """
        -- Vectors that rows of unfinished catch-ups refer to.
        CREATE TABLE IF NOT EXISTS kith_context (number INTEGER PRIMARY KEY, vector BLOB NOT NULL UNIQUE);
        """

    /// Selects the numbers of all.
    static let numbersSQL = "SELECT number FROM kith_context"

    private let connection: DatabaseConnection

    package init(_ connection: DatabaseConnection) {
        self.connection = connection
    }

    package func isEmpty() throws -> Bool {
        let select = try connection.statement("SELECT 1 FROM kith_context LIMIT 1")
        defer { select.reset() }
        return try !select.step()
    }

    /// Those whose number is above `last`.
    func all(after last: Int64 = 0) throws -> [(number: Int64, vector: [UInt8])] {
        let select = try connection.statement("SELECT number, vector FROM kith_context WHERE number > ?")
        select.bind(1, last)
        var all: [(number: Int64, vector: [UInt8])] = []
        while try select.step() { all.append((select.integer(0), select.blob(1))) }
        return all
    }

    /// A vector by its number; `nil` once it was dropped.
    func vector(_ number: Int64) throws -> [UInt8]? {
        let select = try connection.statement("SELECT vector FROM kith_context WHERE number = ?")
        select.bind(1, number)
        defer { select.reset() }
        return try select.step() ? select.blob(0) : nil
    }

    /// The number of a vector, new if it is. No number is given twice: rows keep it when its vector is dropped. The count is in
    /// `kith_meta` and not in SQLite's own, which the app may set back.
    func number(of vector: [UInt8]) throws -> Int64 {
        let select = try connection.statement("SELECT number FROM kith_context WHERE vector = ?")
        select.bind(1, blob: vector)
        defer { select.reset() }
        if try select.step() { return select.integer(0) }
        let number = try lastNumber() + 1
        try MetaRecords(connection).set(Self.last, .integer(number))
        let insert = try connection.statement("INSERT INTO kith_context (number, vector) VALUES (?, ?)")
        insert.bind(1, number)
        insert.bind(2, blob: vector)
        try insert.run()
        return number
    }

    /// The number that was given last; 0 before the first.
    package func lastNumber() throws -> Int64 {
        guard case .integer(let last)? = try MetaRecords(connection).value(Self.last) else { return 0 }
        return last
    }

    private static let last = "context"

    func remove(_ numbers: [Int64]) throws {
        let delete = try connection.statement("DELETE FROM kith_context WHERE number = ?")
        for number in numbers {
            delete.bind(1, number)
            try delete.run()
        }
    }
}
