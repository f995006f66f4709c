import GRDBSQLite
import KithCausality
import KithSync

/// A prepared statement that reads and binds values bit for bit.
///
/// GRDB's own conversions go through Swift strings, which repair invalid UTF-8 and stop at NUL; a sync engine must not.
/// Used only on the thread that owns its connection.
package final class PreparedStatement {
    /// `nil` once it is finalized; SQLite then answers every use with "misuse".
    private var handle: OpaquePointer?
    /// Who finalizes the statement; `nil` if it is this object.
    private let owner: AnyObject?

    /// Prepares `sql` for many uses.
    init(_ connection: OpaquePointer, _ sql: String) throws(SQLiteError) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else { throw SQLiteError(connection, code: code, sql: sql) }
        self.handle = handle
        owner = nil
    }

    /// Runs a statement that `owner` has prepared and keeps.
    init(borrowing handle: OpaquePointer, from owner: AnyObject) {
        self.handle = handle
        self.owner = owner
    }

    deinit {
        finalize()
    }

    /// Lets go of the statement, as must happen before its connection is closed.
    func finalize() {
        if owner == nil { sqlite3_finalize(handle) }
        handle = nil
    }

    // MARK: Running

    /// Moves to the next row; `false` at the end, where the statement is ready to be bound again.
    package func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW:
            return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        default:
            let sql = sqlite3_sql(handle).map { String(cString: $0) }
            let error = SQLiteError(sqlite3_db_handle(handle), code: code, sql: sql)
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs to the end.
    package func run() throws(SQLiteError) {
        while try step() {}
    }

    /// Ends a run early.
    package func reset() {
        sqlite3_reset(handle)
    }

    // MARK: Binding, from 1

    package func bind(_ index: Int32, _ value: Int64) {
        sqlite3_bind_int64(handle, index, value)
    }

    package func bind(_ index: Int32, _ value: Int) {
        sqlite3_bind_int64(handle, index, Int64(value))
    }

    package func bindNull(_ index: Int32) {
        sqlite3_bind_null(handle, index)
    }

    package func bind(_ index: Int32, _ id: RowID) {
        var bytes = (id.high.bigEndian, id.low.bigEndian)
        _ = withUnsafeBytes(of: &bytes) {
            sqlite3_bind_blob(handle, index, $0.baseAddress, Int32($0.count), transientDestructor)
        }
    }

    package func bind(_ index: Int32, blob bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { buffer in
            buffer.isEmpty
                ? sqlite3_bind_zeroblob(handle, index, 0)
                : sqlite3_bind_blob64(handle, index, buffer.baseAddress, UInt64(buffer.count), transientDestructor)
        }
    }

    package func bind(_ index: Int32, _ value: ColumnValue) {
        switch value {
        case .null:
            bindNull(index)
        case .integer(let number):
            bind(index, number)
        case .real(let bitPattern):
            sqlite3_bind_double(handle, index, Double(bitPattern: bitPattern))
        case .text(let bytes):
            bytes.withUnsafeBufferPointer { buffer in
                buffer.withMemoryRebound(to: CChar.self) { text in
                    var empty: CChar = 0
                    _ = withUnsafePointer(to: &empty) { nothing in
                        sqlite3_bind_text64(
                            handle, index, text.baseAddress ?? nothing, UInt64(text.count), transientDestructor, UInt8(SQLITE_UTF8))
                    }
                }
            }
        case .blob(let bytes):
            bind(index, blob: bytes)
        }
    }

    /// Binds bytes as they are for the time of the statement's next run; `bytes` must outlive it.
    package func bind(_ index: Int32, borrowing bytes: UnsafeRawBufferPointer) {
        sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil)
    }

    // MARK: Reading, from 0

    package func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    package func int(_ column: Int32) -> Int {
        Int(sqlite3_column_int64(handle, column))
    }

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    package func blob(_ column: Int32) -> [UInt8] {
        let pointer = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return Array(UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : count))
    }

    package func rowID(_ column: Int32) throws(SQLiteError) -> RowID {
        guard let pointer = sqlite3_column_blob(handle, column), sqlite3_column_bytes(handle, column) == RowID.byteCount
        else { throw SQLiteError(code: SQLITE_CORRUPT, message: "a row id is not 16 bytes long") }
        return RowID(reading: pointer)
    }

    package func value(_ column: Int32) -> ColumnValue {
        ColumnValue(sqlite3_column_value(handle, column))
    }
}

extension RowID {
    /// The id whose bytes stand at `pointer`.
    package init(reading pointer: UnsafeRawPointer) {
        self.init(
            high: UInt64(bigEndian: pointer.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: pointer.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}

extension ColumnValue {
    /// What SQLite holds, bit for bit, but for minus zero, which is zero: SQLite keeps it in some columns and takes it for equal in
    /// all, so that a change from one to the other would go unnoticed. `nil` reads as NULL.
    package init(_ value: OpaquePointer?) {
        func bytes(_ pointer: UnsafeRawPointer?) -> [UInt8] {
            let count = Int(sqlite3_value_bytes(value))
            return Array(UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : count))
        }
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(value) + 0)
        case SQLITE_TEXT: self = .text(bytes(UnsafeRawPointer(sqlite3_value_text(value))))
        case SQLITE_BLOB: self = .blob(bytes(sqlite3_value_blob(value)))
        default: self = .null
        }
    }
}

/// Tells SQLite to copy what it is given.
package let transientDestructor = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
