import GRDBSQLite
import KithCausality
import KithLedger
import KithSQLite
import KithSync
import KithTexts

extension Functions {
    /// For the triggers of tables whose ids are not BLOBs: their 16 bytes, or NULL for what is no id.
    static func installFormFunctions(_ capture: Capture, on connection: OpaquePointer) throws {
        try register(KeyForm.textFunction, capture, connection) { context, count, values in
            guard count == 1, let values else { return }
            Functions.answer(context, Functions.id(inText: values[0], isUpperCase: false))
        }
        try register(KeyForm.upperCaseFunction, capture, connection) { context, count, values in
            guard count == 1, let values else { return }
            Functions.answer(context, Functions.id(inText: values[0], isUpperCase: true))
        }
        try register(KeyForm.anyFunction, capture, connection) { context, count, values in
            guard count == 1, let values else { return }
            Functions.answer(context, KeyForm.anyID(of: ColumnValue(values[0])))
        }
    }

    private static func id(inText value: OpaquePointer?, isUpperCase: Bool) -> RowID? {
        guard sqlite3_value_type(value) == SQLITE_TEXT, let text = sqlite3_value_text(value) else { return nil }
        return RowID(text: UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))), isUpperCase: isUpperCase)
    }

    private static func answer(_ context: OpaquePointer?, _ id: RowID?) {
        guard let id else { return sqlite3_result_null(context) }
        var bytes = (id.high.bigEndian, id.low.bigEndian)
        withUnsafeBytes(of: &bytes) { sqlite3_result_blob(context, $0.baseAddress, Int32($0.count), transientDestructor) }
    }

    private static func result(_ context: OpaquePointer, _ value: ColumnValue) {
        switch value {
        case .blob(let bytes):
            bytes.withUnsafeBytes { sqlite3_result_blob(context, $0.baseAddress, Int32($0.count), transientDestructor) }
        case .text(let bytes):
            bytes.withUnsafeBufferPointer { buffer in
                buffer.withMemoryRebound(to: CChar.self) {
                    sqlite3_result_text64(context, $0.baseAddress, UInt64($0.count), transientDestructor, UInt8(SQLITE_UTF8))
                }
            }
        case .integer, .real, .null: sqlite3_result_null(context)
        }
    }

    /// `kith_key(table, value…)`: the id of the row with this key.
    static func installKeyFunction(_ capture: Capture, on connection: OpaquePointer) throws {
        try register("kith_key", capture, connection) { context, count, values in
            guard let context, let pointer = sqlite3_user_data(context) else { return }
            do {
                let capture = Unmanaged<Capture>.fromOpaque(pointer).takeUnretainedValue()
                let arguments = (0..<Int(count)).map { ColumnValue(values?[$0]) }
                let (key, form) = try capture.naturalKey(arguments.first)
                Functions.result(context, form.value(try key.id(of: Array(arguments.dropFirst()))))
            } catch {
                sqlite3_result_error(context, String(describing: error), -1)
            }
        }
    }
}

extension Capture {
    /// The key of the table that `name` names, and how its ids are written.
    fileprivate func naturalKey(_ name: ColumnValue?) throws -> (NaturalKey, KeyForm) {
        guard case .text(let bytes)? = name else {
            throw StoreError(.valueRejected, "kith_key takes the name of a table, and then the values of its key.")
        }
        let table = String(decoding: bytes, as: UTF8.self)
        guard let tracked = ledger.tracked(table)?.tracked, let key = tracked.naturalKey else {
            throw StoreError(.notFound, "\(table) is not a tracked table that was declared with a key.")
        }
        return (key, tracked.form)
    }
}
