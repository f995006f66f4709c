import GRDBSQLite
import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

/// The SQL functions that the triggers call, registered on one connection.
package enum Functions {
    /// Registers them; they keep `capture` alive as long as the connection lives.
    package static func install(_ capture: Capture, on connection: OpaquePointer) throws {
        try register("kith_before_insert", capture, connection) { context, count, values in
            Functions.guarded(context, count, values) { capture, arguments in
                let table = try arguments.table(in: capture)
                // What is no id is refused when the row is inserted.
                guard let id = arguments.id(1) else { return sqlite3_result_int(context, capture.connection.isMerging ? 1 : 0) }
                if capture.connection.isEcho(.new(table: table, id: id)) { return sqlite3_result_int(context, 1) }
                try capture.beforeInsert(table, id: id, row: try arguments.row(2))
            }
        }
        try register("kith_before_move", capture, connection) { context, count, values in
            Functions.guarded(context, count, values) { capture, arguments in
                guard let id = arguments.id(1) else { return }
                try capture.beforeMove(try arguments.table(in: capture), id: id, row: try arguments.row(2))
            }
        }
        try register("kith_replace", capture, connection) { context, count, values in
            Functions.guarded(context, count, values) { capture, arguments in try capture.stands(inTheWay: try arguments.row(0)) }
        }
        try register("kith_size", capture, connection) { context, count, values in
            Functions.guarded(context, count, values) { capture, arguments in try capture.check(size: arguments.byteCount(from: 0)) }
        }
        try register("kith_is_echo", capture, connection) { context, count, values in
            Functions.guarded(context, count, values) { capture, arguments in
                let (table, row) = (try arguments.table(in: capture), try arguments.row(1))
                if capture.connection.isEcho(.shown(table: table, row: row)) { return sqlite3_result_int(context, 1) }
                try capture.beforeWrite(table, row: row)
                sqlite3_result_int(context, 0)
            }
        }
        try register("kith_before_delete", capture, connection) { context, count, values in
            Functions.guarded(context, count, values) { capture, arguments in
                guard let id = arguments.id(2) else { return }
                try capture.beforeDelete(try arguments.table(in: capture), row: try arguments.row(1), id: id)
            }
        }
        try register("kith_is_applying", capture, connection) { context, _, _ in
            guard let pointer = sqlite3_user_data(context) else { return }
            sqlite3_result_int(context, Unmanaged<Capture>.fromOpaque(pointer).takeUnretainedValue().connection.isMerging ? 1 : 0)
        }
        try register("kith_is_text", capture, connection) { context, count, values in
            guard count == 1, let values else { return }
            sqlite3_result_int(context, CheckedColumn.isText(values[0]) ? 1 : 0)
        }
        try register("kith_text", capture, connection) { context, count, values in
            guard let pointer = sqlite3_user_data(context) else { return }
            TextValue.merge(context, count, values) { merge in
                Unmanaged<Capture>.fromOpaque(pointer).takeUnretainedValue().staleSaves.note(merge)
            }
        }
        try register("kith_insert", capture, connection) { context, count, values in
            Functions.guarded(context, count, values) { capture, arguments in
                try capture.check(size: arguments.byteCount(from: 3))
                try capture.insert(
                    try arguments.table(in: capture), row: try arguments.row(1), id: try arguments.id(2, for: capture),
                    values: arguments.columns(from: 3))
            }
        }
        try register("kith_update", capture, connection) { context, count, values in
            Functions.guarded(context, count, values) { capture, arguments in
                let id = try arguments.id(4, for: capture)
                guard try arguments.id(3, for: capture) == id else {
                    throw StoreError(.valueRejected, "The primary key of a tracked row is final. Insert a new row and delete this one.")
                }
                try capture.update(
                    try arguments.table(in: capture), oldRow: try arguments.row(1), newRow: try arguments.row(2), id: id,
                    changed: UInt64(bitPattern: try arguments.row(5)), values: arguments.columns(from: 6))
            }
        }
        try register("kith_delete", capture, connection) { context, count, values in
            Functions.guarded(context, count, values) { capture, arguments in
                try capture.delete(
                    try arguments.table(in: capture), row: try arguments.row(1), id: try arguments.id(2, for: capture),
                    values: arguments.values(from: 3))
            }
        }
        try installKeyFunction(capture, on: connection)
        try installFormFunctions(capture, on: connection)
        try TransactionTable.install(capture, on: connection)
    }

    /// Takes them away again, so that a write that nobody notes fails.
    package static func remove(from connection: OpaquePointer) {
        for name in [
            "kith_before_insert", "kith_before_move", "kith_before_delete", "kith_replace", "kith_size", "kith_is_echo",
            "kith_is_applying", "kith_is_text", "kith_text", "kith_insert", "kith_update", "kith_delete", "kith_key",
        ] + KeyForm.functions {
            sqlite3_create_function_v2(connection, name, -1, SQLITE_UTF8, nil, nil, nil, nil, nil)
        }
        TransactionTable.remove(from: connection)
    }

    package typealias Body = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// All are innocuous in SQLite's sense (sqlite.org/c3ref/c_deterministic.html): they reach nothing but this database, whose
    /// file says the same to whoever can write a trigger into it. So `PRAGMA trusted_schema = OFF` lets triggers call them.
    package static func register(_ name: String, _ capture: Capture, _ connection: OpaquePointer, _ body: Body) throws {
        // SQLite lets go of the reference when the connection is closed or the function replaced.
        let reference = Unmanaged.passRetained(capture).toOpaque()
        let code = sqlite3_create_function_v2(
            connection, name, -1, SQLITE_UTF8 | SQLITE_INNOCUOUS, reference, body, nil, nil,
            { pointer in if let pointer { Unmanaged<Capture>.fromOpaque(pointer).release() } })
        if code != SQLITE_OK { throw SQLiteError(connection, code: code) }
    }

    /// Runs `body`, whose result is NULL unless it says otherwise; what it throws becomes the error of the statement that fired
    /// the trigger.
    private static func guarded(
        _ context: OpaquePointer?, _ count: Int32 = 0, _ values: UnsafeMutablePointer<OpaquePointer?>? = nil,
        _ body: (Capture, Arguments) throws -> Void
    ) {
        guard let pointer = sqlite3_user_data(context) else { return }
        let capture = Unmanaged<Capture>.fromOpaque(pointer).takeUnretainedValue()
        // A deleted row with its clocks is longer than the row was.
        do {
            sqlite3_result_null(context)
            try capture.connection.withoutLengthLimit { try body(capture, Arguments(count: Int(count), values: values)) }
        } catch let error as StoreError {
            sqlite3_result_error(context, error.message, -1)
        } catch let error as SQLiteError {
            sqlite3_result_error(context, error.message, -1)
            sqlite3_result_error_code(context, error.code)
        } catch {
            sqlite3_result_error(context, String(describing: error), -1)
        }
    }
}

/// What a trigger passed of the columns. Of an insertion the value of each, in order; of an update old and new value of each that is
/// not a register, in order, then the old value of each register. Valid as long as the trigger runs; a value is read when it is asked for.
package struct ColumnValues {
    package let count: Int
    fileprivate let values: UnsafeMutablePointer<OpaquePointer?>?
    /// In place of what a trigger passed.
    private let known: [ColumnValue]?

    fileprivate init(count: Int, values: UnsafeMutablePointer<OpaquePointer?>?) {
        (self.count, self.values, known) = (count, values, nil)
    }

    init(_ known: [ColumnValue]) {
        (count, values, self.known) = (known.count, nil, known)
    }

    package subscript(index: Int) -> ColumnValue {
        if let known { return index < count ? known[index] : .null }
        return pointer(index).map { ColumnValue($0) } ?? .null
    }
    package func pointer(_ index: Int) -> OpaquePointer? { index < count ? values?[index] : nil }
}

/// What a trigger passed.
private struct Arguments {
    let count: Int
    let values: UnsafeMutablePointer<OpaquePointer?>?

    /// The number of the table whose trigger calls.
    func table(in capture: Capture) throws -> Int {
        let given = TriggeredTable(rawValue: try row(0))
        try capture.checkFile(of: given)
        return given.number
    }

    func row(_ index: Int) throws -> Int64 {
        guard index < count, let values, sqlite3_value_type(values[index]) == SQLITE_INTEGER else { throw Self.wrong }
        return sqlite3_value_int64(values[index])
    }

    func id(_ index: Int, for capture: Capture) throws -> RowID {
        if let id = id(index) { return id }
        let tracked = capture.ledger.catalog.tracked(try table(in: capture))
        throw StoreError(.valueRejected, (tracked?.form ?? .blob).refusal(of: tracked?.sqlName ?? "a tracked table"))
    }

    func id(_ index: Int) -> RowID? {
        guard index < count, let values, sqlite3_value_type(values[index]) == SQLITE_BLOB,
            sqlite3_value_bytes(values[index]) == RowID.byteCount, let pointer = sqlite3_value_blob(values[index])
        else { return nil }
        return RowID(reading: pointer)
    }

    func columns(from first: Int) -> ColumnValues {
        guard let values, first < count else { return ColumnValues(count: 0, values: nil) }
        return ColumnValues(count: count - first, values: values + first)
    }

    /// Bytes of the texts and blobs.
    func byteCount(from first: Int) -> Int {
        guard let values, first < count else { return 0 }
        var bytes = 0
        for index in first..<count {
            let type = sqlite3_value_type(values[index])
            if type == SQLITE_TEXT || type == SQLITE_BLOB { bytes += Int(sqlite3_value_bytes(values[index])) }
        }
        return bytes
    }

    func values(from first: Int) -> [ColumnValue] {
        guard let values, first < count else { return [] }
        return (first..<count).map { ColumnValue(values[$0]) }
    }

    static let wrong = StoreError(.failed, "A function of Kith was called with arguments that its triggers never pass.")
}
