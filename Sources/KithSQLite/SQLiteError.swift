import GRDBSQLite

/// What SQLite answered, with the statement it was asked.
package struct SQLiteError: Error, Sendable, CustomStringConvertible {
    package let code: Int32
    package let message: String
    package let sql: String?

    package init(code: Int32, message: String, sql: String? = nil) {
        self.code = code
        self.message = message
        self.sql = sql
    }

    package init(_ connection: OpaquePointer?, code: Int32, sql: String? = nil) {
        self.init(code: code, message: connection.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory", sql: sql)
    }

    /// Whether the file is damaged.
    package var isDamage: Bool {
        code & 0xff == SQLITE_CORRUPT || code & 0xff == SQLITE_NOTADB || code == SQLITE_ERROR && message == Self.unknownFormat
    }

    /// What SQLite says, without a code of its own, of a file whose beginning names a format that no version has
    /// (sqlite.org/fileformat.html, 1.3.9).
    package static let unknownFormat = "unsupported file format"

    /// Whether the row broke a constraint of the user's table.
    package var isConstraint: Bool { code & 0xff == SQLITE_CONSTRAINT || code & 0xff == SQLITE_MISMATCH }

    /// The same of a statement that runs and writes one row: where an expression of the app's (of an index, a generated column, a CHECK, a
    /// trigger) cannot be evaluated, that counts as a constraint, for no other row has to do with it.
    package var asRefusalOfRow: SQLiteError {
        code == SQLITE_ERROR ? SQLiteError(code: SQLITE_CONSTRAINT | 7 << 8, message: message, sql: sql) : self
    }

    /// What SQLite says where a rule for foreign keys is against a statement.
    package static let foreignKey = SQLiteError(code: SQLITE_CONSTRAINT | 3 << 8, message: "FOREIGN KEY constraint failed")

    /// What SQLite says of a NULL that a column may not have.
    package static func null(in column: String) -> SQLiteError {
        SQLiteError(code: SQLITE_CONSTRAINT | 5 << 8, message: "NOT NULL constraint failed: \(column)")
    }

    /// Whether SQLite's own rule for foreign keys stood against it, at once (a code of its own) or as what a RESTRICT raises.
    package var isForeignKey: Bool { code == SQLITE_CONSTRAINT | 3 << 8 || isConstraint && message == "FOREIGN KEY constraint failed" }

    /// In one line, without the statement.
    package var brief: String { Self.brief(code, message) }

    package static func brief(_ code: Int32, _ message: String?) -> String {
        let line = (message ?? "").split(whereSeparator: \.isNewline).first.map(String.init) ?? "no reason given"
        return "SQLite error \(code): \(line.prefix(briefMax))"
    }

    /// Most characters of SQLite's own words in a message for people.
    private static let briefMax = 200

    package var description: String { "SQLite error \(code): \(message)" + (sql.map { " - while executing `\($0)`" } ?? "") }
}
