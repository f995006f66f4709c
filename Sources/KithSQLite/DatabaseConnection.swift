import CSQLiteConfig
import GRDB
import GRDBSQLite

/// One SQLite connection with the statements prepared on it, each kept for its next use.
///
/// Belongs to the thread that currently holds the connection (a GRDB database access), like the connection itself.
package final class DatabaseConnection {
    package let handle: OpaquePointer
    private let database: Database?
    private var statements: [String: PreparedStatement] = [:]
    private var passingStatements: [String: PreparedStatement] = [:]
    /// The texts of these, oldest first.
    private var passingTexts: [String] = []
    private var keepsStatements = true
    /// Statements of which there are as many as combinations of columns, which peers choose.
    static let passingStatementsMax = 64
    /// Changed by ``writing(as:_:)`` and what belongs to it only. Not looked at for overlaps, as in ``Capture``.
    @exclusivity(unchecked) package var writer = Writer.app
    /// Whether the app has a callback of its own that waits for others. It cannot be asked for, and so not be put back.
    package var waitsByCallback = false
    /// Whether a rule of the app may refuse a row otherwise than by undoing the statement.
    package var rulesMayRaise = false
    /// Whether writes fire triggers.
    package private(set) var firesTriggers = true
    /// Whose connection it is, if this keeps its own statements.
    private weak var owner: Database?

    /// The connection of `owner`, with statements of its own, which it keeps until ``finalizeStatements()``.
    package init(_ handle: OpaquePointer, of owner: Database) {
        self.handle = handle
        self.owner = owner
        database = nil
    }

    /// A connection for the time of one database access, with the statements that GRDB keeps.
    package init(borrowing database: Database) throws(SQLiteError) {
        guard let handle = database.sqliteConnection else {
            throw SQLiteError(code: SQLITE_MISUSE, message: "the database is closed")
        }
        self.handle = handle
        self.database = database
    }

    /// The statement for `sql`, at rest. Nothing that still runs may use the same text. A caller may keep it for as long as
    /// it keeps the connection.
    package func statement(_ sql: String) throws(SQLiteError) -> PreparedStatement {
        if let known = statements[sql] {
            known.reset()
            return known
        }
        let statement = try prepare(sql)
        if keepsStatements { statements[sql] = statement }
        return statement
    }

    /// The same for one of many texts: it is kept until others have taken its place, or for as long as the caller keeps it.
    package func passingStatement(_ sql: String) throws(SQLiteError) -> PreparedStatement {
        if let known = passingStatements[sql] {
            known.reset()
            return known
        }
        let statement = try prepare(sql)
        guard keepsStatements else { return statement }
        if passingTexts.count >= Self.passingStatementsMax { passingStatements[passingTexts.removeFirst()] = nil }
        passingTexts.append(sql)
        passingStatements[sql] = statement
        return statement
    }

    /// Runs `sql`, which may be several statements.
    package func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw SQLiteError(handle, code: code, sql: sql) }
    }

    /// Runs `body` in one transaction that only reads.
    ///
    /// GRDB's own way switches `PRAGMA query_only` on the one connection of a database queue, and with every switch SQLite
    /// has to prepare all statements of that connection again, which takes most of the time of a small read.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try statement("BEGIN DEFERRED").run()
        defer { try? statement("COMMIT").run() }
        return try body()
    }

    /// To be called before SQLite prepares statements of this class.
    ///
    /// For each column that a statement reads, GRDB's authorizer copies the region of all that was read since GRDB prepared a statement
    /// itself. One of its own keeps that region small, which halves the time in which a store opens.
    private func forgetRegion() {
        _ = try? owner?.makeStatement(sql: "SELECT 1")
    }

    /// Runs `body` with a page cache of 64 MiB at least, and puts back the app's.
    package func withLargeCache<Result>(_ body: () throws -> Result) throws -> Result {
        func pragma(_ sql: String) throws(SQLiteError) -> Int64 {
            let statement = try PreparedStatement(handle, sql)
            return try statement.step() ? statement.integer(0) : 0
        }
        let size = try pragma("PRAGMA cache_size")
        // Negative: in KiB.
        let bytes = size < 0 ? -1_024 * size : size * (try pragma("PRAGMA page_size"))
        if bytes >= Self.largeCacheBytes { return try body() }
        try execute("PRAGMA cache_size = \(-Self.largeCacheBytes / 1_024)")
        defer { try? execute("PRAGMA cache_size = \(size)") }
        return try body()
    }

    private static let largeCacheBytes: Int64 = 64 << 20

    /// Whether the open transaction has written something, or is about to.
    package var isWriting: Bool { sqlite3_txn_state(handle, "main") == SQLITE_TXN_WRITE }

    /// Lets go of all statements, as must happen before the connection is closed.
    ///
    /// - Parameter isLast: whether none is kept from now on: a transaction that is still open may need some.
    package func finalizeStatements(isLast: Bool = false) {
        if isLast { keepsStatements = false }
        for statement in statements.values { statement.finalize() }
        for statement in passingStatements.values { statement.finalize() }
        statements.removeAll()
        passingStatements.removeAll()
        passingTexts.removeAll()
    }

    /// Runs `body`, whose writes fire no triggers. SQLite prepares all statements of the connection again, before and after.
    package func withoutTriggers<Result>(_ body: () throws -> Result) throws -> Result {
        if !firesTriggers { return try body() }
        try fireTriggers(false)
        // Fails only on a connection that is misused.
        defer { try? fireTriggers(true) }
        return try body()
    }

    private func fireTriggers(_ fires: Bool) throws(SQLiteError) {
        let code = kith_enable_triggers(handle, fires ? 1 : 0)
        if code != SQLITE_OK { throw SQLiteError(handle, code: code) }
        firesTriggers = fires
        forgetRegion()
    }

    /// Whether no transaction is open, perhaps because SQLite has rolled it back.
    package var isOutsideTransaction: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// The rowid of the row that was inserted last, and how many rows the last statement has changed, those of triggers aside.
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }
    package var changedRowCount: Int { Int(sqlite3_changes(handle)) }

    /// Bytes that a value, or all values of a row together, may have. Returns what it was before.
    @discardableResult
    func limitLength(to bytes: Int32) -> Int32 {
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, bytes)
    }

    /// Runs `body`, after which `last_insert_rowid()` answers what it did before: the app asks for its own rows.
    package func keepingLastInsertedRowID<Result>(_ body: () throws -> Result) rethrows -> Result {
        let row = sqlite3_last_insert_rowid(handle)
        defer { sqlite3_set_last_insert_rowid(handle, row) }
        return try body()
    }

    /// Whether SQLite brings anything to the disk at all (`PRAGMA synchronous` is not `OFF`).
    package func isSynchronizing() throws(SQLiteError) -> Bool {
        let pragma = try statement("PRAGMA synchronous")
        defer { pragma.reset() }
        return try pragma.step() && pragma.int(0) > 0
    }

    /// Runs `body`, during which a statement may leave a reference to a row that is not there. Look at ``hasOpenReferences`` within it:
    /// nothing else does afterwards.
    package func deferringForeignKeys<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("PRAGMA defer_foreign_keys = ON")
        defer { try? execute("PRAGMA defer_foreign_keys = OFF") }
        return try body()
    }

    /// Whether the open transaction has left a reference to a row that is not there.
    package var hasOpenReferences: Bool {
        var (count, highest): (Int32, Int32) = (0, 0)
        return sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0) != SQLITE_OK || count != 0
    }

    /// Lets SQLite act on foreign keys or not, outside of transactions. Returns whether it did before. SQLite prepares all statements
    /// of the connection again when that changes.
    package func obeyForeignKeys(_ obeys: Bool) throws(SQLiteError) -> Bool {
        let before = obeysForeignKeys
        if before != obeys { try execute("PRAGMA foreign_keys = \(obeys ? "ON" : "OFF")") }
        return before
    }

    /// Whether SQLite acts on foreign keys.
    package var obeysForeignKeys: Bool { kith_obeys_foreign_keys(handle) == 1 }

    /// Whether rows of this transaction refer to rows that are not there yet, by references that are looked at when it ends.
    package var hasBrokenReferences: Bool {
        var (count, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
        return count > 0
    }

    /// Changes whenever a transaction, of this connection or another, has committed.
    package var dataVersion: UInt32 {
        var version: UInt32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }

    /// Changes whenever a transaction of another connection has committed. Outside of a transaction the file is looked at.
    package func versionByOthers() throws(SQLiteError) -> Int64 {
        let pragma = try statement("PRAGMA data_version")
        defer { pragma.reset() }
        return try pragma.step() ? pragma.integer(0) : 0
    }

    /// Lets go of the pages of the file that are in memory and not in use.
    package func releaseMemory() {
        sqlite3_db_release_memory(handle)
    }

    private func prepare(_ sql: String) throws(SQLiteError) -> PreparedStatement {
        guard let database else {
            forgetRegion()
            return try PreparedStatement(handle, sql)
        }
        do {
            let cached = try database.cachedStatement(sql: sql)
            sqlite3_reset(cached.sqliteStatement)
            return PreparedStatement(borrowing: cached.sqliteStatement, from: cached)
        } catch {
            throw SQLiteError(code: sqlite3_errcode(handle), message: String(describing: error), sql: sql)
        }
    }
}
