import KithSQLite

/// Vectors that rows of unfinished catch-ups refer to. The only owner of `kith_context`.
///
/// ``RowLedger`` encodes and decodes the vectors.
package struct ContextRecords {
    package static let sql = """
        -- Vectors that rows of unfinished catch-ups refer to.
        CREATE TABLE IF NOT EXISTS kith_context (number INTEGER PRIMARY KEY AUTOINCREMENT, vector BLOB NOT NULL UNIQUE);
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

    func all() throws -> [(number: Int64, vector: [UInt8])] {
        let select = try connection.statement("SELECT number, vector FROM kith_context")
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

    /// The number of a vector, new if it is; `nil` if SQLite gives none.
    func number(of vector: [UInt8]) throws -> Int64? {
        let insert = try connection.statement(
            "INSERT INTO kith_context (vector) VALUES (?1) ON CONFLICT (vector) DO UPDATE SET vector = vector RETURNING number")
        insert.bind(1, blob: vector)
        guard try insert.step() else { return nil }
        let number = insert.integer(0)
        try insert.run()
        return number
    }

    func remove(_ numbers: [Int64]) throws {
        let delete = try connection.statement("DELETE FROM kith_context WHERE number = ?")
        for number in numbers {
            delete.bind(1, number)
            try delete.run()
        }
    }
}
